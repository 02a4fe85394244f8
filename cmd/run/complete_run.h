#pragma once

#include <string>
#include <vector>

#include "cmd/run/run_options.h"

namespace rlock {

/// Checks combinations of options, resolves the deployment and plans the budget. `command`: the words after
/// the options. Throws Error{usage} and Error{config}. It sends nothing.
void complete_run(RunOptions& options, const TypedRun& typed, std::vector<std::string> command);

}  // namespace rlock
