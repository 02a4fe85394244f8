#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cmd/app/verb_table.h"
#include "cmd/cli/options.h"

namespace rlock {

/// Calls `visit` with each verb of the table and all that is said about it.
void for_each_verb(const std::function<void(const VerbEntry& entry, const VerbSpec& spec)>& visit);

/// The options that people may be offered, --help and --version among them.
std::vector<Option> offered_options(const VerbSpec& spec);

/// All names of an option with their dashes: "-w", "--wait".
std::vector<std::string> spelled_names(const Option& option);

}  // namespace rlock
