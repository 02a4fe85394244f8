#pragma once

#include <cstdint>

#include "cmd/server/session.h"
#include "sync/records/history.h"
#include "sync/watch/inspection.h"

namespace rlock {

/// The last holds of a key, the newest first, at most `most`. With several servers, merges their histories.
/// Throws Error like Session::ask().
History history_of(Session& session, const LockName& name, std::int64_t most);

/// Adds the last holder to the inspection of a free key, if a server knows it.
void look_back(Session& session, Inspection& seen);

}  // namespace rlock
