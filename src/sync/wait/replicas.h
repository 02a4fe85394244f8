#pragma once

#include <optional>
#include <vector>

#include "redis/redis.h"
#include "sync/wait/ballot.h"

namespace rlock {

/// WAIT on the very connection of an answer: only there does it speak of that answer's write.
Call await_replicas_call(int replicas, Milliseconds timeout);
Delivery await_replicas_delivery(Milliseconds timeout, std::uint64_t connection);

/// What a vote on that call is short of; nothing when enough replicas have it.
std::optional<Failure> replicas_missing(const Vote& vote, int replicas);

/// Asks each node that has granted to confirm that `replicas`
/// replicas have what it last answered. Nothing: a quorum has.
/// `timeout` is what the server waits, `patience` what we do:
/// a connection whose server still waits then is abandoned.
std::optional<Failure> await_replicas(Redis& redis, const Votes& votes, const std::vector<Answer>& answers,
                                      int replicas, Milliseconds timeout, const Patience& patience);

}  // namespace rlock
