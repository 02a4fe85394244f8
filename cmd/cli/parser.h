#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cmd/cli/options.h"

namespace rlock {

/// What a command line came to, once every option has found its setter.
struct [[nodiscard]] Parsed {
  enum class Wish { act, help, version } wish = Wish::act;
  std::vector<std::string> command;  ///< VerbSpec::command_follows: untouched, byte for byte
  std::vector<const Option*> typed;  ///< the options that were found, once for each time
};

/// Reads `words` (what follows the verb) by POSIX and GNU rules: `--opt=value`, `--opt value`,
/// `-w10`, bundles (-nqE0), `--` ends the options; no abbreviations. Where a command follows,
/// options end at the first word that is neither an option nor an option's value: what comes
/// then is the command's, options included. A value in a word of its own is neither "--" nor
/// an option of this verb: it was forgotten, or a variable was empty. `--opt=value` takes any.
/// Throws Error{usage}, one line that names the first option
/// that is refused and what it takes; all others are set.
Parsed parse(const VerbSpec& spec, const std::vector<std::string>& words);

/// How many words at the front are options of `spec`,
/// --help and --version among them, or the values of such options.
std::size_t options_at_front(const VerbSpec& spec, const std::vector<std::string>& words);

}  // namespace rlock
