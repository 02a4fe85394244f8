#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cmd/app/verb_table.h"
#include "cmd/cli/options.h"

namespace rlock {

/// Calls `visit` for each verb of the table, with its declaration.
void for_each_verb(const std::function<void(const VerbEntry& entry, const VerbSpec& spec)>& visit);

/// The options to offer to users, including --help and --version.
std::vector<Option> offered_options(const VerbSpec& spec);

/// All names of an option with their dashes: "-w", "--wait".
std::vector<std::string> spelled_names(const Option& option);

}  // namespace rlock
