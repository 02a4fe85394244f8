#pragma once

#include <optional>

#include "cmd/server/session.h"
#include "sync/kinds/pool.h"

namespace rlock {

/// Why no server could be asked. Empty: one has answered, or the next call decides. For example, a wait asks again, and
/// a signal ends the wait.
using CouldNotAsk = std::optional<Failure>;

/// Throws Error{wrong_type} if the key is a closed latch. A latch is a bare number like a pool, so an acquire
/// of permits would count it down. rlock recognizes a latch by its own record; another client's latch looks
/// like a pool. If no server could be asked, the next call will probably fail for the same reason.
[[nodiscard]] CouldNotAsk refuse_latch(Session& session, const LockName& name, PoolKind wanted,
                                       TimePoint started, const WaitOptions& wait);

/// Throws Error{wrong_type} if permits of the key are taken, because then it is a pool. A latch is a bare number, too,
/// so a latch verb would count the pool down. A pool without a taken permit looks like a latch. If the server does not
/// tell, nothing is thrown.
void refuse_pool(Session& session, const LockName& name);

}  // namespace rlock
