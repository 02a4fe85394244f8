#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "redis/connection_number.h"
#include "redis/redis.h"
#include "sync/wait/ballot.h"

namespace rlock {

/// An acquire or a renewal counts only if this many replicas have it.
struct SyncReplicas {
  std::int64_t count = 0;
  Milliseconds timeout{1000};  ///< how long a server waits for them
};

/// The command WAIT. It goes over the connection that carried a write, because it covers only the writes of
/// its own connection.
Call await_replicas_call(const SyncReplicas& replicas);
Delivery await_replicas_delivery(const SyncReplicas& replicas, ConnectionNumber connection);

/// Why a vote on that call is not enough; empty: enough replicas have the write.
std::optional<Failure> replicas_missing(const Vote& vote, const SyncReplicas& replicas);

/// Asks each node that granted whether enough replicas have its last write. Empty: a quorum confirmed it.
/// Each server waits for SyncReplicas::timeout at most; we wait no longer than `patience`. If a server still
/// waits after that, its connection is abandoned.
std::optional<Failure> await_replicas(Redis& redis, const Votes& votes, const std::vector<Answer>& answers,
                                      const SyncReplicas& replicas, const Patience& patience);

}  // namespace rlock
