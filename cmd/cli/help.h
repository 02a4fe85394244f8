#pragma once

#include <string>

#include "cmd/cli/options.h"

namespace rlock {

/// The --help of a verb, 80 columns wide: usage, purpose, options in groups, notes, examples. If that takes
/// more than 24 lines, only the common options are explained, and the others are only named.
std::string help_screen(const VerbSpec& spec);

/// The line of one option in help_screen().
std::string help_line(const Option& option);

}  // namespace rlock
