#pragma once

#include "cmd/run/events.h"
#include "cmd/run/run_options.h"
#include "cmd/run/status_record.h"

namespace rlock {

/// Opens what --events and --syslog say, and connects `events` with the wait and with the end of the run. All three
/// outlive the run.
void listen(RunOptions& options, StatusRecord& status, Events& events);

/// Takes the lock, runs the command, releases; answers the exit status, and writes into `status` how it
/// ended. Throws Error, and has written nothing then. `events` are told of the hold; of the wait and of the end
/// they hear by listen().
int run(const RunOptions& options, StatusRecord& status, Events& events);

}  // namespace rlock
