#pragma once

#include <vector>

#include "redis/redis.h"
#include "sync/wait/acquire_options.h"
#include "sync/wait/wish.h"

namespace rlock {

/// The only wait loop of the program: ask; where it is busy undo what was granted, subscribe, and sleep until
/// a message, the holder's TTL, poll_every() with jitter, the deadline or an interruption; then ask again
/// (pacing.h). Whatever ends a wait that failed, all that may have been granted is undone (undo.h), also at
/// nodes that are silent now and wake up later.
///
/// Nothing is held while we wait for something else, so waiters never wait for each other.
[[nodiscard]] Acquired acquire(Redis& redis, const Wish& wish, const AcquireOptions& options);

/// The same for what has no owner: permits of a semaphore, a latch that is to open. `followers`: of the call that asks.
/// REQUIRES: `wanted` outlives the call
[[nodiscard]] Acquired acquire(Redis& redis, const Waitable& wanted, const AcquireOptions& options,
                               const std::vector<Call>& followers = {});

/// How long one of several servers may hold up a round, so that a frozen one costs no validity.
Milliseconds node_timeout(Milliseconds lease, Milliseconds command_timeout);

/// How long cleaning up may take once we have decided to stop waiting. Long enough for a round trip on a bad
/// day, short enough not to annoy whoever pressed Ctrl-C.
constexpr Milliseconds kCleanupTime{1000};

/// The same for `keys` keys: a busy server takes its time for a thousand releases.
constexpr Milliseconds cleanup_time(std::size_t keys) {
  constexpr Milliseconds kPerKey{5};
  return kCleanupTime + kPerKey * static_cast<Milliseconds::rep>(keys);
}

}  // namespace rlock
