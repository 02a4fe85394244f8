#pragma once

#include <string>

#include "cmd/cli/options.h"

namespace rlock {

/// The --help of a verb: usage, what it is for, its options in their groups, notes, examples last; 80 columns wide.
/// If that takes more than a screen of 24 lines, only the common options are explained, and the others are named.
std::string help_screen(const VerbSpec& spec);

/// The lines of one group of options, as help_screen() shows them.
std::string help_group(const VerbSpec::Group& group);

/// "rlock 1.0", and with -v what it was built with: each library and its version, a line each.
std::string version_text();

}  // namespace rlock
