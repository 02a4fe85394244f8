#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cmd/cli/options.h"
#include "cmd/cli/verb.h"

namespace rlock {

/// Calls `visit` with each verb of the table and all that is said about it.
void for_each_verb(const std::function<void(const VerbEntry& entry, const VerbSpec& spec)>& visit);

/// The options that people may be offered, --help and --version among them.
std::vector<Option> offered_options(const VerbSpec& spec);

/// All names of an option with their dashes: "-w", "--wait".
std::vector<std::string> spelled_names(const Option& option);

/// The options of every verb that talks to a server, which may stand before it.
struct ServerWords {
  std::vector<std::string> all;     ///< with --help and --version
  std::vector<std::string> valued;  ///< those that take a value
  std::vector<std::string>
      passed;  ///< of these, those that a completion passes on: not --url, which may hold a password
  std::vector<std::string> passed_switches;
};
ServerWords server_words();

/// The options of a verb that take a value.
std::vector<std::string> valued_words(const VerbSpec& spec);

/// The first words of all verbs, each once, in the order of the table.
std::vector<std::string> nouns();

/// One line about a noun, or about a verb without one.
std::string about_noun(std::string_view noun);

/// The nouns of those verbs that have two words.
std::vector<std::string> nouns_with_verbs();

/// The text, in which each first word of a pair has become the second one.
std::string filled(std::string text, const std::vector<std::pair<std::string_view, std::string>>& places);

/// For a shell: in single quotes, with those inside escaped.
std::string single_quoted(std::string_view text);

}  // namespace rlock
