#pragma once

#include <vector>

#include "redis/redis.h"
#include "sync/wait/acquire_options.h"
#include "sync/wait/acquire_request.h"

namespace rlock {

/// The only wait loop of the program. It asks; if the lock is busy, it undoes what was granted, subscribes
/// and sleeps. A message, the holder's TTL, poll_every() with jitter, the deadline or an interruption ends
/// the sleep (pacing.h); then it asks again. If a wait fails for any reason, it undoes everything that may
/// have been granted (undo.h), also on nodes that are silent now.
///
/// A waiter holds nothing while it sleeps, so waiters never wait for each other.
[[nodiscard]] Acquired acquire(Redis& redis, const AcquireRequest& request, const AcquireOptions& options);

/// The same for something without an owner: permits of a semaphore, or a latch. `followers`: calls written
/// behind the asking call.
/// REQUIRES: `wanted` outlives the call.
[[nodiscard]] Acquired acquire(Redis& redis, const Waitable& wanted, const AcquireOptions& options,
                               const std::vector<Call>& followers = {});

/// The time that one of several servers may delay a round. It is short, so that a frozen server does not use
/// up the lease.
Milliseconds node_timeout(Milliseconds lease, Milliseconds command_timeout);

/// The time for cleaning up after we decided to stop waiting. It is long enough for a slow round trip, and
/// short enough for a user who pressed Ctrl-C.
constexpr Milliseconds kCleanupTime{1000};

/// The same for `keys` keys: a busy server needs time for a thousand releases.
constexpr Milliseconds cleanup_time(std::size_t keys) {
  constexpr Milliseconds kPerKey{5};
  return kCleanupTime + kPerKey * static_cast<Milliseconds::rep>(keys);
}

}  // namespace rlock
