#pragma once

#include <optional>

#include "cmd/server/session.h"
#include "redis/redis.h"
#include "sync/kinds/pool.h"

namespace rlock {

/// Redisson keeps a latch in a bare number too, and taking permits would count it down. rlock writes down
/// that it has set a latch, and that is how one is known here; a latch of another client cannot be told from
/// a pool. Throws Error{wrong_type} when there is a latch that is not open. Returns why no server could be
/// asked: the call that follows will fail by the same.
std::optional<Failure> refuse_latch(Redis& redis, const LockName& name, PoolKind wanted,
                                    const Patience& patience);

/// The same check before a wait. If the wait would retry anyway, an unreachable server is not reported
/// here; otherwise returns why it is unreachable.
[[nodiscard]] std::optional<Failure> refuse_latch(Session& session, const LockName& name, PoolKind wanted,
                                                  TimePoint started, const WaitOptions& wait);

}  // namespace rlock
