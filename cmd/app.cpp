#include "cmd/app.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cmd/exit_code.h"
#include "cmd/help.h"
#include "cmd/output.h"
#include "cmd/parser.h"
#include "cmd/suggest.h"
#include "cmd/verb.h"

namespace rlock {
namespace {

/// The first words of all verbs; or, behind a noun, the second ones.
std::vector<std::string_view> names_after(std::string_view noun) {
  std::vector<std::string_view> names;
  for (const VerbEntry& entry : verbs()) {
    const std::size_t blank = entry.name.find(' ');
    if (noun.empty()) names.push_back(entry.name.substr(0, blank));
    if (!noun.empty() && entry.name.substr(0, blank) == noun) names.push_back(entry.name.substr(blank + 1));
  }
  return names;
}

int usage_on_stderr(const std::string& screen) {
  print_on_stderr(screen);
  return exit_code::usage;
}

[[noreturn]] void unknown_verb(const std::string& noun, std::string_view word) {
  const std::string before = noun.empty() ? "" : noun + " ";
  if (word == "help") throw Error{Error::usage, fmt::format("did you mean: rlock {}--help", before)};
  if (const auto meant = nearest(word, {"--help", "--version"}))
    throw Error{Error::usage,
                fmt::format("unknown option {}; did you mean {}?", sanitized(word, 80), *meant)};
  if (word.starts_with("-"))
    throw Error{Error::usage, fmt::format("{} stands before the verb; say rlock {}VERB [OPTIONS]",
                                          sanitized(word, 80), before)};
  if (const auto meant = nearest(word, names_after(noun)))
    throw Error{Error::usage,
                fmt::format("unknown verb {}; did you mean: rlock {}{}", in_quotes(word), before, *meant)};
  throw Error{Error::usage, fmt::format("unknown verb {}; see rlock {}--help", in_quotes(word), before)};
}

/// `rlock -h HOST run ...`, but not `rlock -h run`.
bool names_host(const std::vector<std::string>& words) {
  if (words[0] != "-h" || words.size() == 1 || words[1].starts_with("-")) return false;
  return std::ranges::count(names_after(""), words[1]) == 0;
}

bool is_help(std::string_view word) { return word == "-h" || word == "--help"; }
bool is_version(std::string_view word) { return word == "-V" || word == "--version"; }

int print_version() {
  print_line(fmt::format("rlock {}", RLOCK_VERSION));
  return exit_code::ok;
}

/// As parse(), whose failures the verb may want to write down.
Parsed understand(Verb& verb, const Declaration& declaration, const std::vector<std::string>& words) {
  try {
    return parse(declaration, words);
  } catch (const Error&) {
    verb.misunderstood();
    throw;
  }
}

int act(const VerbEntry& entry, TimePoint started, const std::vector<std::string>& words) {
  const auto verb = entry.make();
  const Declaration declaration = verb->declare();
  const Parsed parsed = understand(*verb, declaration, words);
  switch (parsed.wish) {
    case Parsed::Wish::help: print(help_screen(declaration)); return exit_code::ok;
    case Parsed::Wish::version: return print_version();
    case Parsed::Wish::act: break;
  }
  return verb->act(started, parsed.command);
}

}  // namespace

int app(TimePoint started, const std::vector<std::string>& words) {
  if (words.empty()) return usage_on_stderr(main_screen());
  if (is_version(words[0])) return print_version();
  if (is_help(words[0])) {
    if (names_host(words)) refuse_host(words[1]);
    print(main_screen());
    return exit_code::ok;
  }
  const std::string& first = words[0];
  if (const VerbEntry* entry = find_verb(first))
    return act(*entry, started, {words.begin() + 1, words.end()});

  const std::string screen = noun_screen(first);
  if (screen.empty()) unknown_verb("", first);
  if (words.size() == 1) return usage_on_stderr(screen);
  if (is_version(words[1])) return print_version();
  if (is_help(words[1])) {
    print(screen);
    return exit_code::ok;
  }
  if (const VerbEntry* entry = find_verb(first + " " + words[1]))
    return act(*entry, started, {words.begin() + 2, words.end()});
  unknown_verb(first, words[1]);
}

}  // namespace rlock
