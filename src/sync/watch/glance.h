#pragma once

#include "redis/call.h"
#include "redis/reply.h"
#include "sync/watch/inspection.h"

namespace rlock {

/// For a wait line one call is enough, and its cost does not depend on the number of waiters. It returns a
/// few holders with their facts, and the place of `asker` (which may be empty) among the waiters.
Call glance_at(const LockName& name, const Owner& asker);
Inspection read_glance(const LockName& name, const Reply& reply);

}  // namespace rlock
