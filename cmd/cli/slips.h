#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/cli/options.h"

// Words that users type by habit or paste from a text, and our advice. By getopt's rules, these words would
// mean something else, or nothing.

namespace rlock {

/// Does the word consist of options of this verb, or end the options?
bool names_options(const VerbSpec& spec, std::string_view word);

/// The error about a slip in the first word, where an option or an operand is expected: `-wait 5s`, `-k=deploy`,
/// `-h HOST`, a dash of typography. Empty: the word is no slip.
std::optional<std::string> slip(const VerbSpec& spec, std::span<const std::string> words);

/// The error about an option that this verb does not have, with a suggestion.
std::string unknown_option(const VerbSpec& spec, const std::string& word,
                           const std::vector<const Option*>& seen);

/// The error about `-h HOST`, which redis-cli accepts. If rlock printed its help and exited with 0, users
/// would not notice that nothing was run.
std::string not_a_host(std::string_view host);

}  // namespace rlock
