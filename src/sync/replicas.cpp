#include "sync/replicas.h"

#include <fmt/format.h>

namespace rlock {

Call await_replicas_call(int replicas, Milliseconds timeout, std::uint64_t connection) {
  Call call = command({"WAIT", std::to_string(replicas), std::to_string(timeout.count())});
  call.only_on = connection;
  call.takes = timeout;
  return call;
}

std::optional<Failure> replicas_missing(const Vote& vote, int replicas) {
  if (vote.failure) return vote.failure;
  if (!vote.reply) return Failure{Error::unreachable, "no answer to WAIT"};
  if (vote.reply->is_error()) return failure_of(*vote.reply);
  const std::int64_t have = vote.reply->integer();
  if (have >= replicas) return std::nullopt;
  return Failure{Error::unreachable,
                 fmt::format("only {} of {} replicas have it (--sync-replicas)", have, replicas)};
}

std::optional<Failure> await_replicas(Redis& redis, const Votes& votes, const std::vector<std::size_t>& voted,
                                      int replicas, Milliseconds timeout) {
  for (const std::size_t node : voted) {
    const Call call = await_replicas_call(replicas, timeout, votes[node].connection);
    const Votes answers = redis.run(call, within(timeout + Milliseconds{2000}), Redis::Insist::once);
    if (auto missing = replicas_missing(answers[node], replicas)) return missing;
  }
  return std::nullopt;
}

}  // namespace rlock
