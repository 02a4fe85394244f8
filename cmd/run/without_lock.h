#pragma once

#include <optional>

#include "base/names.h"
#include "cmd/run/run_context.h"

namespace rlock {

/// A key of ours that exists, as a server says which cannot grant a lock but can still answer (one without
/// memory, a replica, a minority of a quorum). Somebody may hold it. Asked once, for at most a second.
std::optional<LockName> existing_key(Session& session, const RunOptions& options);

/// Runs the command without a lock (--if-unreachable run): it gets the terminal, signals and --max-hold as under
/// one, and nobody else can stop it. It lives on if we are killed. Records how it ended and answers the exit
/// status; the record says already why there is no lock.
int run_without_lock(RunContext& run);

}  // namespace rlock
