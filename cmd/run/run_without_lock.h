#pragma once

#include <optional>

#include "base/names.h"

namespace rlock {

class Session;
struct RunContext;
struct RunRequest;

/// Asks servers that cannot grant a lock but may still answer: one without memory, a replica, a minority of a
/// quorum. Returns one of our keys that exists there, because another client may hold it. It asks once and
/// waits for at most a second.
std::optional<LockName> existing_key(Session& session, const RunRequest& request);

/// Runs the command without a lock (--if-unreachable run). The command gets the terminal, signals and
/// --max-hold as with a lock. But `rlock stop` cannot reach it, and it goes on if rlock is killed. Records how
/// it ended and returns the exit status. The record already has the reason why there is no lock.
int run_without_lock(RunContext& run);

}  // namespace rlock
