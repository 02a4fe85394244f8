#pragma once

#include <optional>

#include "cmd/server/session.h"
#include "redis/redis.h"
#include "sync/pool.h"

namespace rlock {

/// Redisson keeps a latch in a bare number too, and taking permits would count it
/// down. What rlock has written down when it was set tells; a latch of another client
/// nobody can tell. Throws Error{wrong_type} when a latch stands there that is not
/// open. Answers why nobody could be asked: the question proper will meet it too.
std::optional<Failure> refuse_latch(Redis& redis, const LockName& name, PoolKind wanted,
                                    const Patience& patience);

/// The same ahead of a wait, during which a server that does not answer is asked again. Throws Error as
/// Session::ask() does where nobody waits.
void refuse_latch(Session& session, const LockName& name, PoolKind wanted, TimePoint started,
                  const WaitOptions& wait);

}  // namespace rlock
