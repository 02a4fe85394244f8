#include "cmd/app/unknown_verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "cmd/app/verb_table.h"
#include "cmd/cli/suggest.h"

namespace rlock {
namespace {

/// "\nWORD=VERB\n...": words that other tools use, and our verbs for them. One text needs no relocations at each start.
constexpr std::string_view kSynonyms =
    "\n"
    "ls=list\n"
    "ps=list\n"
    "show=inspect\n"
    "exec=run\n"
    "acquire=lock acquire\n"
    "release=lock release\n"
    "renew=lock renew\n"
    "status=lock status\n"
    "check=doctor\n"
    "ping=doctor\n"
    "semaphore=sem\n"
    "kill=stop\n"
    "del=unlock\n"
    "rm=unlock\n"
    "delete=unlock\n"
    "wait=lock wait\n"
    "set=latch set\n"
    "watch=top\n"
    "monitor=top\n"
    "events=top, or rlock run --events FILE\n"
    "log=history\n"
    "logs=history\n"
    "cancel=stop\n"
    "steal=unlock\n"
    "break=unlock\n"
    "force=unlock\n"
    "force-unlock=unlock\n"
    "describe=inspect\n"
    "health=doctor\n"
    "redlock=run --url URL --url URL --url URL\n";

std::optional<std::string_view> synonym_of(std::string_view word) {
  const std::string row = fmt::format("\n{}=", word);
  const std::size_t at = kSynonyms.find(row);
  if (at == kSynonyms.npos) return std::nullopt;
  const std::string_view behind = kSynonyms.substr(at + row.size());
  return behind.substr(0, behind.find('\n'));
}

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
  if (noun == "completion") return std::nullopt;  // zsh is no help for ksh
  const auto synonym = noun.empty() ? synonym_of(word) : std::nullopt;
  return synonym ? synonym : nearest(word, names_after(noun));
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
  const bool is_verb =
      std::ranges::any_of(verbs(), [&](const VerbEntry* entry) { return entry->name == word; });
  if (noun == "lock" && before.empty() && (is_verb || synonym_of(word) == "unlock"))
    throw Error{Error::usage, fmt::format("{}did you mean: rlock {}?", none, is_verb ? word : "unlock")};
  // `rlock lock KEY`: the user probably wants to lock KEY.
  if (noun == "lock" && before.empty() && !word.starts_with('-'))
    throw Error{
        Error::usage,
        fmt::format("{0}did you mean: rlock run -k {1} -- COMMAND, or rlock lock acquire {1} --lease DUR?",
                    none, shell_quoted(word))};
  throw Error{Error::usage, fmt::format("{}it has {}", none, enumerated(names_after(noun)))};
}

}  // namespace rlock
