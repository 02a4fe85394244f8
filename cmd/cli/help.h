#pragma once

#include <string>

#include "cmd/cli/options.h"

namespace rlock {

/// The --help of a verb: usage, what it is for, its options in their groups, notes, examples last; 80 columns wide.
/// If that takes more than a screen of 24 lines, only the common options are explained, and the others are named.
std::string help_screen(const VerbSpec& spec);

/// The line of one option, as help_screen() shows it.
std::string help_line(const Option& option);

/// "rlock 1.0", and with -v what it was built with: each library and its version, a line each.
std::string version_text();

}  // namespace rlock
