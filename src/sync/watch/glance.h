#pragma once

#include "redis/call.h"
#include "redis/reply.h"
#include "sync/watch/inspection.h"

namespace rlock {

/// Asks by one call what a wait line needs: a few holders with their facts, and the place of `asker` among
/// the waiters. `asker` may be empty. The call is cheap even if there are many holders and waiters.
Call glance_at(const LockName& name, const Owner& asker);
Inspection read_glance(const LockName& name, const Reply& reply);

}  // namespace rlock
