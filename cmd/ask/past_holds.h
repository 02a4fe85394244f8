#pragma once

#include "cmd/server/session.h"
#include "sync/watch/history.h"
#include "sync/watch/inspect.h"

namespace rlock {

/// How the last holds of a key ended, at most `most`: the newest first, of several servers what any of them
/// tells. Throws Error as Session::ask() does.
History history_of(Session& session, const LockName& name, std::int64_t most);

/// Adds to what was seen of a free key who had it last, where a server tells.
void look_back(Session& session, Inspection& seen);

}  // namespace rlock
