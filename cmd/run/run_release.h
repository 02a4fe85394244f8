#pragma once

namespace rlock {

struct RunContext;
struct RunRequest;
struct CommandOutcome;
class RunHold;
enum class Lost;

/// The last step of a run: releases its keys, then prints and records how it ended.
Lost release_keys(RunContext& run, RunHold& hold, const CommandOutcome& ended);

void say_why_it_did_not_start(const RunRequest& request, const CommandOutcome& ended);

/// The exit status of the run: see exit_status() and RunRequest::not_executed.
int exit_of(const RunRequest& request, const CommandOutcome& ended, Lost lost);

/// Ends like the command: dies of the same signal, and passes a stroke such as ^C on to the rest of our group.
/// REQUIRES: nothing is left to do.
int end_like(const RunRequest& request, const CommandOutcome& ended, Lost lost);

}  // namespace rlock
