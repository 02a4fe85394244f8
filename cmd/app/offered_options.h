#pragma once

#include <string>
#include <vector>

#include "cmd/cli/options.h"

namespace rlock {

/// The options to offer to users, including --help and --version.
std::vector<Option> offered_options(const VerbSpec& spec);

/// All names of an option with their dashes: "-w", "--wait".
std::vector<std::string> spelled_names(const Option& option);

}  // namespace rlock
