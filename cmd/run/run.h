#pragma once

#include "cmd/run/run_options.h"

namespace rlock {

/// Takes the lock, runs the command, releases; answers the exit status.
int run(const RunOptions& options);

}  // namespace rlock
