#pragma once

#include <cstddef>
#include <vector>

#include "redis/redis.h"
#include "sync/wait/acquire_options.h"
#include "sync/wait/acquire_request.h"

namespace rlock {

/// Waits for a lock; this loop serves all verbs that wait. It asks. If the lock is busy, it undoes what was
/// granted, subscribes and sleeps. It asks again after a message, when the holder's TTL is over, or when
/// Sleep says (sleep.h). If a wait fails for any reason, it undoes everything that may have
/// been granted (undo.h), also on nodes that are silent now.
///
/// A waiter holds none of the wanted keys while it sleeps, so two waiters for the same keys do not block each
/// other.
[[nodiscard]] AcquireResult acquire(Redis& redis, const AcquireRequest& request,
                                    const AcquireOptions& options);

/// Waits in the same way for something that is no lock, such as permits of a semaphore or a latch.
/// `followers`: calls written behind each call that asks. REQUIRES: `wanted` lives until this function returns.
[[nodiscard]] AcquireResult acquire(Redis& redis, const Waitable& wanted, const AcquireOptions& options,
                                    const std::vector<Call>& followers = {});

/// The time that one of several servers may delay a round. It is short, so that a frozen server does not use
/// up the lease.
Milliseconds node_timeout(Milliseconds lease, Milliseconds command_timeout);

/// The time for cleaning up after we decided to stop waiting. It is long enough for a slow round trip, and
/// short enough for a user who pressed Ctrl-C.
constexpr Milliseconds kCleanupTime{1000};

/// kCleanupTime, and more for each key, because a busy server needs time for a thousand releases.
constexpr Milliseconds cleanup_time(std::size_t keys) {
  constexpr Milliseconds kPerKey{5};
  return kCleanupTime + kPerKey * static_cast<Milliseconds::rep>(keys);
}

}  // namespace rlock
