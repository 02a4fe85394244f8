#pragma once

#include <optional>

#include "cmd/server/session.h"
#include "redis/redis.h"
#include "sync/kinds/pool.h"

namespace rlock {

/// Throws Error{wrong_type} if the key is a closed latch. A latch is a bare number like a pool, so an acquire
/// of permits would count it down. rlock recognizes a latch by its own record; another client's latch looks
/// like a pool. If the server cannot be asked, returns why: then the next call will probably fail for the
/// same reason.
std::optional<Failure> refuse_latch(Redis& redis, const LockName& name, PoolKind wanted,
                                    const Patience& patience);

/// refuse_latch() before a wait. If the wait retries anyway, an unreachable server is not reported here.
/// Otherwise returns why it is unreachable.
[[nodiscard]] std::optional<Failure> refuse_latch(Session& session, const LockName& name, PoolKind wanted,
                                                  TimePoint started, const WaitOptions& wait);

}  // namespace rlock
