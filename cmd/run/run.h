#pragma once

#include "cmd/run/events.h"
#include "cmd/run/run_options.h"
#include "cmd/run/status_output.h"

namespace rlock {

/// Finds the command, acquires the lock, runs the command and releases. Returns the exit status, and writes the
/// outcome into `status`. If it throws Error, it has written nothing. Opens `events` (--events, --syslog), and reports
/// to it. REQUIRES: all three outlive the run.
int run(RunOptions& options, StatusOutput& status, Events& events);

}  // namespace rlock
