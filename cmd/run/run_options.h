#pragma once

#include "cmd/cli/options.h"
#include "cmd/run/run_request.h"

namespace rlock {

/// --if-unreachable.
void declare_if_unreachable(VerbSpec& spec, RunRequest& request);

/// Declares the options of `run`, which write into `request` and `typed`.
void declare_run(VerbSpec& spec, RunRequest& request, TypedRun& typed);

}  // namespace rlock
