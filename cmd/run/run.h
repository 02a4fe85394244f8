#pragma once

#include "cmd/run/run_options.h"
#include "cmd/run/status_record.h"

namespace rlock {

/// Takes the lock, runs the command, releases; answers the exit status, and writes into `status` how it
/// ended. Throws Error, and has written nothing then.
int run(const RunOptions& options, StatusRecord& status);

}  // namespace rlock
