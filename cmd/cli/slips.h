#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/cli/options.h"

// What is typed by habit or pasted from a text, and what we say about it: by the rules of getopt it would mean something
// that was not meant, or nothing.

namespace rlock {

/// Does the word consist of options of this verb, or end them?
bool names_options(const VerbSpec& spec, std::string_view word);

/// What is wrong with the word at `at`, which stands where an option or an operand may: `-wait 5s`,
/// `-k=deploy`, `-h HOST`, a dash of typography.
std::optional<std::string> slip(const VerbSpec& spec, const std::vector<std::string>& words, std::size_t at);

/// What is said of an option that this verb does not have: what may have been meant.
std::string unknown_option(const VerbSpec& spec, const std::string& word,
                           const std::vector<const Option*>& seen);

/// What `-h HOST` is told, which redis-cli takes: a screen of help and a 0 would hide that nothing was run.
std::string not_a_host(std::string_view host);

}  // namespace rlock
