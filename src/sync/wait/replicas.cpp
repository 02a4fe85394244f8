// --sync-replicas. WAIT answers how many replicas have what was written on its own connection. So it uses the
// connection of the acquire or the renewal (Delivery::only_connection), once for each node that granted. A
// quorum of nodes must confirm. WAIT blocks its connection for --sync-timeout, so the call gets this as extra
// time. If our patience ends first, the connection is abandoned: until WAIT returns, the server would read
// nothing else on it, not even an undo.

#include "sync/wait/replicas.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/as_given.h"
#include "base/text.h"
#include "sync/calls/arguments.h"

namespace rlock {
namespace {

/// Time for the reply to arrive, after the time that the server waits.
constexpr Milliseconds kAfterWait{2000};

std::string option() { return as_given("sync-replicas", "--sync-replicas"); }

}  // namespace

Call await_replicas_call(const SyncReplicas& replicas) {
  return command({"WAIT", std::to_string(replicas.count), in_ms(replicas.timeout)});
}

Delivery await_replicas_delivery(const SyncReplicas& replicas, ConnectionNumber connection) {
  return {.only_connection = connection, .extra_time = replicas.timeout};
}

std::optional<Failure> replicas_missing(const Vote& vote, const SyncReplicas& replicas) {
  if (auto trouble = vote.trouble()) return trouble;
  if (!vote.reply())
    return Failure{.kind = Error::unreachable,
                   .text = fmt::format("not confirmed by {} in time ({}); see INFO replication on the server",
                                       counted(replicas.count, "replica"), option()),
                   .answered = true};
  if (vote.reply()->kind() != Reply::Kind::integer)
    return Failure{Error::unreachable, "an answer to WAIT that is no number"};
  const std::int64_t have = vote.reply()->integer();
  if (have >= replicas.count) return std::nullopt;
  return Failure{
      .kind = Error::unreachable,
      .text = fmt::format("only {} of {} replicas have it ({}); see INFO replication on the server", have,
                          replicas.count, option()),
      .answered = true};
}

std::optional<Failure> await_replicas(Redis& redis, const Votes& votes, const std::vector<Answer>& answers,
                                      const SyncReplicas& replicas, const Patience& patience) {
  const TimePoint until = plus(redis.loop().now(), replicas.timeout + kAfterWait);
  // When the requests are destroyed, connections on which WAIT still blocks are abandoned.
  std::vector<std::pair<std::size_t, Redis::Request>> requests;
  for (std::size_t node = 0; node < votes.size(); ++node) {
    if (answers[node] != Answer::granted) continue;
    const Delivery delivery = await_replicas_delivery(replicas, votes[node].connection);
    requests.emplace_back(node, redis.post(await_replicas_call(replicas), delivery, until));
  }
  const auto settled = [](const auto& request) { return request.second.settled(); };
  redis.loop().wait({earliest(until, patience.until), patience.interrupted},
                    [&] { return std::ranges::all_of(requests, settled); });

  std::size_t confirmed = 0;
  std::optional<Failure> failure;
  for (const auto& [node, request] : requests) {
    const auto missing = replicas_missing(request.votes()[node], replicas);
    if (missing) failure = missing;
    if (!missing) ++confirmed;
  }
  return confirmed >= redis.quorum() ? std::nullopt : failure;
}

}  // namespace rlock
