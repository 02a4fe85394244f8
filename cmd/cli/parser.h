#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/cli/options.h"

namespace rlock {

/// The next word of a command line. Parser and completions go from one to the next, so they cannot differ.
struct [[nodiscard]] NextWord {
  enum class Kind {
    option,
    mark,     ///< "--", which ends the options
    operand,  ///< "-" is one, too
  } kind = Kind::operand;
  NamedOptions named = {};  ///< what an option says
  /// The value of named.valued. Empty: it needs one, but there are no more words.
  std::optional<std::string_view> value = {};
  std::size_t words = 1;  ///< 2: the value is the word behind the option
};

/// REQUIRES: there is a word.
NextWord next_word(const VerbSpec& spec, std::span<const std::string> words);

/// The result of parsing a command line, whose options have been set.
struct [[nodiscard]] Parsed {
  enum class Action { act, help, version } action = Action::act;
  std::vector<std::string> command;  ///< with VerbSpec::command_follows: the words of the command, unchanged
  std::vector<const Option*> typed;  ///< the options, once for each occurrence
};

/// Parses `words` (those behind the verb) by POSIX and GNU rules: `--opt=value`, `--opt value`, `-w10`,
/// bundles (-nqE0); `--` ends the options; there are no abbreviations. With command_follows, the first word
/// that is neither an option nor an option's value ends the options, and starts the command. A value in a
/// separate word must not be "--" or an option of this verb: then the value was forgotten, or a variable was
/// empty. `--opt=value` takes such a value, too.
///
/// Throws Error{usage}: one line that names the first refused option and what it accepts. All other options
/// are set.
Parsed parse(const VerbSpec& spec, const std::vector<std::string>& words);

/// How many words at the front are options of `spec` (including --help and --version) or values of such
/// options.
std::size_t options_at_front(const VerbSpec& spec, const std::vector<std::string>& words);

}  // namespace rlock
