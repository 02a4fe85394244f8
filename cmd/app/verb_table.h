#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cmd/server/verb.h"

namespace rlock {

/// All verbs but `complete`, in the order of the help.
std::vector<const VerbEntry*> verbs();

/// The verb with this name; null: there is none.
const VerbEntry* find_verb(std::string_view name);

/// The first words of verbs(), each once, in the order of the table.
std::vector<std::string> nouns();

/// The verbs of a noun, "acquire, release", or the summary of a verb without a noun. Empty: there is neither.
std::string about_noun(std::string_view noun);

/// `rlock --help`.
std::string main_screen();

/// `rlock lock --help`: the verbs of a noun. Empty: no verb has that noun.
std::string noun_screen(std::string_view noun);

}  // namespace rlock
