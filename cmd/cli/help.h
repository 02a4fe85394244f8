#pragma once

#include <string>

#include "cmd/cli/options.h"

namespace rlock {

/// The --help of a verb: usage, what it is for, its options
/// in their groups, notes, examples last; 80 columns wide.
std::string help_screen(const VerbSpec& spec);

/// The lines of one group of options, as help_screen() shows them.
std::string help_group(const VerbSpec::Group& group);

/// "rlock 1.0"
std::string version_line();

}  // namespace rlock
