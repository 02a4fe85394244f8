#pragma once

#include <string_view>
#include <vector>

#include "cmd/hold/command/held_command.h"
#include "cmd/run/run_context.h"

namespace rlock {

/// How a command runs and is stopped, with or without a lock. It gets `variables`, and the variables of the deployment.
/// `marks`: the names of the variables that mark its processes (see CommandFamily).
CommandOptions command_options(const RunContext& run, Variables variables,
                               const std::vector<std::string_view>& marks);

/// Prints why the command could not be started, if that is so.
void say_why_it_did_not_start(const RunRequest& request, const CommandOutcome& ended);

/// The exit status of the run: see exit_status() and RunRequest::not_executed.
int exit_of(const RunRequest& request, const CommandOutcome& ended, Lost lost);

/// Ends like the command: dies of the same signal, and passes a stroke such as ^C on to the rest of our group.
/// REQUIRES: nothing is left to do.
int end_like(const RunRequest& request, const CommandOutcome& ended, Lost lost);

}  // namespace rlock
