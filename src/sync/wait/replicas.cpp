// --sync-replicas. WAIT answers how many replicas have all that was written on its own connection, so it goes
// over the very connection that carried the acquire or the renewal (Delivery::only_connection), once for each
// node that granted. A quorum of nodes has to confirm. WAIT blocks its connection for as long as the user
// allows (--sync-timeout): the call gets that as extra time, and when our patience ends first, the connection
// is abandoned, because nothing else would be read on it meanwhile, not even an undo.

#include "sync/wait/replicas.h"

#include <fmt/format.h>

#include <algorithm>

namespace rlock {
namespace {

/// For the reply to come, beyond what the server waits.
constexpr Milliseconds kAnswer{2000};

}  // namespace

Call await_replicas_call(int replicas, Milliseconds timeout) {
  return command({"WAIT", std::to_string(replicas), std::to_string(timeout.count())});
}

Delivery await_replicas_delivery(Milliseconds timeout, std::uint64_t connection) {
  return {.only_connection = connection, .extra_time = timeout};
}

std::optional<Failure> replicas_missing(const Vote& vote, int replicas) {
  if (vote.failure) return vote.failure;
  if (!vote.reply)
    return Failure{Error::unreachable, fmt::format("not confirmed by {} {} in time (--sync-replicas)",
                                                   replicas, replicas == 1 ? "replica" : "replicas")};
  if (vote.reply->is_error()) return failure_of(*vote.reply);
  if (vote.reply->kind() != Reply::Kind::integer)
    return Failure{Error::unreachable, "an answer to WAIT that is no number"};
  const std::int64_t have = vote.reply->integer();
  if (have >= replicas) return std::nullopt;
  return Failure{Error::unreachable,
                 fmt::format("only {} of {} replicas have it (--sync-replicas)", have, replicas)};
}

std::optional<Failure> await_replicas(Redis& redis, const Votes& votes, const std::vector<Answer>& answers,
                                      int replicas, Milliseconds timeout, const Patience& patience) {
  const TimePoint until = plus(redis.loop().now(), timeout + kAnswer);
  // When they go, the connections where WAIT still waits are abandoned.
  std::vector<std::pair<std::size_t, Redis::Request>> requests;
  for (std::size_t node = 0; node < votes.size(); ++node) {
    if (answers[node] != Answer::granted) continue;
    const Delivery delivery = await_replicas_delivery(timeout, votes[node].connection);
    requests.emplace_back(node, redis.post(await_replicas_call(replicas, timeout), delivery, until));
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
