#include "cmd/app/unknown_verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "cmd/app/verb_table.h"
#include "cmd/cli/suggest.h"

namespace rlock {
namespace {

/// A word that other tools use, and our verb for it.
struct Synonym {
  std::string_view word;
  std::string_view verb;
};

constexpr std::array kSynonyms{
    Synonym{"ls", "list"},
    Synonym{"ps", "list"},
    Synonym{"show", "inspect"},
    Synonym{"exec", "run"},
    Synonym{"acquire", "lock acquire"},
    Synonym{"release", "lock release"},
    Synonym{"renew", "lock renew"},
    Synonym{"status", "lock status"},
    Synonym{"check", "doctor"},
    Synonym{"ping", "doctor"},
    Synonym{"semaphore", "sem"},
    Synonym{"kill", "stop"},
    Synonym{"del", "unlock"},
    Synonym{"rm", "unlock"},
    Synonym{"delete", "unlock"},
    Synonym{"wait", "lock wait"},
    Synonym{"set", "latch set"},
    Synonym{"watch", "top"},
    Synonym{"monitor", "top"},
    Synonym{"events", "top, or rlock run --events FILE"},
    Synonym{"log", "history"},
    Synonym{"logs", "history"},
    Synonym{"cancel", "stop"},
    Synonym{"steal", "unlock"},
    Synonym{"describe", "inspect"},
    Synonym{"health", "doctor"},
    Synonym{"redlock", "run --url URL --url URL --url URL"},
};

/// The first words of all verbs; with a noun, the second words of its verbs.
std::vector<std::string_view> names_after(std::string_view noun) {
  std::vector<std::string_view> names;
  for (const VerbEntry* entry : verbs()) {
    const std::size_t blank = entry->name.find(' ');
    if (noun.empty()) names.push_back(entry->name.substr(0, blank));
    if (!noun.empty() && entry->name.substr(0, blank) == noun) names.push_back(entry->name.substr(blank + 1));
  }
  return names;
}

std::optional<std::string_view> verb_meant(std::string_view noun, std::string_view word) {
  const auto synonym = std::ranges::find(kSynonyms, word, &Synonym::word);
  if (noun.empty() && synonym != kSynonyms.end()) return synonym->verb;
  return nearest(word, names_after(noun));
}

/// "init, acquire and delete"
std::string enumerated(const std::vector<std::string_view>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace

void refuse_verb(std::string_view noun, std::string_view word, std::string_view before,
                 std::span<const std::string> behind_it) {
  const std::string behind = fmt::format("{}{}{}", before, noun, noun.empty() ? "" : " ");
  if (const auto meant = verb_meant(noun, word))
    throw Error{Error::usage,
                fmt::format("unknown verb {}; did you mean: rlock {}{}", in_quotes(word), behind, *meant)};
  // `consul lock KEY COMMAND`, `etcdctl lock KEY COMMAND`
  const bool as_peer =
      (word == "consul" || word == "etcdctl") && behind_it.size() > 1 && behind_it.front() == "lock";
  if (noun.empty() && before.empty() && as_peer && !behind_it[1].starts_with('-')) {
    const auto command = behind_it.subspan(2);
    throw Error{Error::usage,
                fmt::format("unknown verb {}; did you mean: rlock run -k {} --{}", in_quotes(word),
                            shell_quoted(behind_it[1]), command.empty() ? " COMMAND" : pasted(command))};
  }
  // The words look like a key and a command.
  if (noun.empty() && before.empty() && !behind_it.empty() && !behind_it.front().starts_with('-') &&
      !word.starts_with('-'))
    throw Error{Error::usage, fmt::format("unknown verb {}; did you mean: rlock run -k {} --{}",
                                          in_quotes(word), shell_quoted(word), pasted(behind_it))};
  if (noun.empty())
    throw Error{Error::usage, fmt::format("unknown verb {}; see rlock --help", in_quotes(word))};
  const std::string none = fmt::format("rlock {} has no verb {}; ", noun, in_quotes(word));
  // `rlock lock KEY`: the user probably wants to lock KEY.
  if (noun == "lock" && before.empty() && !word.starts_with('-'))
    throw Error{
        Error::usage,
        fmt::format("{0}did you mean: rlock run -k {1} -- COMMAND, or rlock lock acquire {1} --lease DUR?",
                    none, shell_quoted(word))};
  throw Error{Error::usage, fmt::format("{}it has {}", none, enumerated(names_after(noun)))};
}

}  // namespace rlock
