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

/// The first words of all verbs, each once, in the order of the table.
std::vector<std::string> nouns();

/// The verbs of a noun, "acquire, release", or what a verb without a noun does. Empty if there is neither.
std::string about_noun(std::string_view noun);

/// `rlock --help`.
std::string main_screen();

/// `rlock lock --help`: the verbs of a noun. Empty where no verb has that noun.
std::string noun_screen(std::string_view noun);

}  // namespace rlock
