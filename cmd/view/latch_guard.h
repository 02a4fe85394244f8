#pragma once

#include <optional>

#include "redis/redis.h"
#include "sync/pool.h"

namespace rlock {

/// Redisson keeps a latch in a bare number too, and taking permits would count it
/// down. What rlock has written down when it was set tells; a latch of another client
/// nobody can tell. Throws Error{wrong_type} when a latch stands there that is not
/// open. Answers why nobody could be asked: the question proper will meet it too.
std::optional<Failure> refuse_latch(Redis& redis, const LockName& name, PoolKind wanted, bool cluster,
                                    const Patience& patience);

}  // namespace rlock
