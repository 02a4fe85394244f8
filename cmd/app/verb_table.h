#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cmd/server/verb.h"

namespace rlock {

/// All verbs, in the order in which people look for them.
std::vector<const VerbEntry*> verbs();

/// Null if there is none of this name.
const VerbEntry* find_verb(std::string_view name);

/// `rlock --help`.
std::string main_screen();

/// `rlock lock --help`: the verbs of a noun. Empty where no verb has that noun.
std::string noun_screen(std::string_view noun);

}  // namespace rlock
