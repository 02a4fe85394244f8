#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/names.h"
#include "cmd/run/held_command.h"
#include "cmd/run/run_options.h"
#include "cmd/server/session.h"
#include "loop/environment.h"

namespace rlock {

/// A key of ours that exists, as a server says which cannot grant a lock but can still answer (one without
/// memory, a replica, a minority of a quorum). Somebody may hold it. Asked once, for at most a second.
std::optional<LockName> existing_key(Session& session, const RunOptions& options);

/// Runs the command without a lock: it gets the terminal, signals and --max-hold as under one, and nobody else
/// can stop it. It lives on if we are killed. `tell_stopping`: called when --max-hold stops it.
CommandOutcome run_without_lock(Session& session, const RunOptions& options, Variables variables,
                                std::function<void(const std::string&)> tell_stopping);

}  // namespace rlock
