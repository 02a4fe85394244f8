#include "cmd/cli/slips.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cmd/cli/suggest.h"

namespace rlock {
namespace {

/// The error about `–k`, copied from a text. It would be taken for a command or a key.
std::optional<std::string> typeset_dash(const VerbSpec& spec, std::string_view word) {
  const auto rest = behind_typeset_dash(word);
  if (!rest) return std::nullopt;
  std::string meant = "--" + std::string{*rest};
  if (!rest->empty() && !names_options(spec, meant)) meant.erase(0, 1);
  if (!names_options(spec, meant)) return std::nullopt;
  return fmt::format("{}: this dash is not '-' (was it copied from a text?); did you mean {}?",
                     in_quotes(word), sanitized(meant, 80));
}

/// The error about `-wait 5s`, as in tools without single letters. By getopt's rules it is -w with the value
/// "ait".
std::optional<std::string> single_dash(const VerbSpec& spec, std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  if (name.size() <= 2) return std::nullopt;
  for (const OtherToolOption& other : spec.other_tools)
    if (other.name == name || (other.name.starts_with("--") && other.name.substr(1) == name))
      return fmt::format("{}: {}", name, other.sentence);
  const Option* option = spec.find(name.substr(1));
  if (option == nullptr || option->hidden) return std::nullopt;
  return fmt::format("{0}: did you mean -{0}?", name);
}

/// The error about `-http-addr=HOST`, as in consul. By getopt's rules it is -h, and rlock would print help instead of running the
/// command.
std::optional<std::string> help_in_bundle(const VerbSpec& spec, std::string_view word) {
  if (word.find('h') == word.npos || word == "-help") return std::nullopt;
  const NamedOptions named = named_in(spec, word);
  if (named.known || std::ranges::count(named.options, &help_option()) == 0) return std::nullopt;
  return fmt::format("unknown option {}; -h (--help) stands alone",
                     sanitized(word.substr(0, word.find('=')), 80));
}

/// The error about `-n=3` or `-k=deploy`. By getopt's rules the latter locks "=deploy", so it would not exclude a run that
/// locks "deploy".
std::optional<std::string> equals(const VerbSpec& spec, std::string_view word) {
  const std::size_t sign = word.find('=');
  if (sign == word.npos) return std::nullopt;
  const NamedOptions named = named_in(spec, word);
  if (named.valued == nullptr && !named.options.empty() && sign == named.options.size() + 1)
    return fmt::format("-{} takes no value", word[sign - 1]);
  const std::size_t letter = named.options.size();
  if (named.valued == nullptr || letter + 1 >= word.size() || word[letter + 1] != '=') return std::nullopt;
  return fmt::format("-{0} takes its value without '=': -{0} {1}, or --{2}={1}", word[letter],
                     named.valued->value, long_names(*named.valued).front());
}

/// A KEY that begins with a dash looks like an option.
std::string if_it_is_a_key(const VerbSpec& spec, std::string_view word,
                           const std::vector<const Option*>& seen) {
  if (word.starts_with("--")) return "";
  for (const Operand& operand : spec.operands) {
    if (operand.no_dash && (operand.many || !std::ranges::count(seen, spec.find(operand.instead))))
      return fmt::format("; a key that begins with '-': --{}={}", operand.instead, shell_quoted(word));
  }
  return "";
}

/// A negative N looks like an option, too. Not every verb accepts a negative N.
std::optional<std::string> negative_number(const VerbSpec& spec, std::string_view word) {
  const auto number = std::ranges::find(spec.operands, "N", &Operand::name);
  if (number == spec.operands.end() || !parse_count(word.substr(1))) return std::nullopt;
  try {
    number->set(word);
  } catch (const Error& error) {  // its text becomes the message about this word
    return fmt::format("N: {}", error.what());
  }
  return fmt::format("{0} looks like an option; write a negative N after '--': -- {0}", word);
}

}  // namespace

bool names_options(const VerbSpec& spec, std::string_view word) {
  return word == "--" || (word.size() > 1 && word.front() == '-' && named_in(spec, word).known);
}

std::string not_a_host(std::string_view host) {
  return fmt::format("-h is --help; for a server say --url redis://{}", sanitized(host, 80));
}

std::optional<std::string> slip(const VerbSpec& spec, std::span<const std::string> words) {
  const std::string_view word = words.front();
  if (!word.starts_with("-")) return typeset_dash(spec, word);
  if (word.starts_with("--")) return std::nullopt;
  if (word == "-h" && words.size() > 1 && !words[1].starts_with("-") && spec.find("url") != nullptr)
    return not_a_host(words[1]);
  if (auto text = single_dash(spec, word)) return text;
  if (auto text = equals(spec, word)) return text;
  return help_in_bundle(spec, word);
}

std::string unknown_option(const VerbSpec& spec, const std::string& word,
                           const std::vector<const Option*>& seen) {
  // A long option without its value; of a bundle, the first letter.
  const std::string shown = word.substr(0, word.starts_with("--") ? word.find('=') : 2);
  if (auto text = negative_number(spec, word)) return *std::move(text);
  if (shown == "-a" && spec.find("all")) return "-a: did you mean --all?";
  for (const OtherToolOption& other : spec.other_tools)
    if (other.name == shown) return fmt::format("{}: {}", shown, other.sentence);
  if ((shown == "-o" || shown == "--output" || shown == "--format") && spec.find("json"))
    return shown + ": did you mean --json?";
  std::vector<std::string_view> known{"help", "version"};
  for (const auto& group : spec.groups) {
    for (const Option& option : group.options) {
      if (option.hidden) continue;
      for (const std::string_view name : long_names(option)) known.push_back(name);
    }
  }
  const auto meant = shown.starts_with("--") ? nearest(shown.substr(2), known) : std::nullopt;
  const std::string what = fmt::format("unknown option {}; ", sanitized(shown, 80));
  if (meant) return fmt::format("{}did you mean --{}?", what, *meant);
  if (!spec.unknown.empty()) return what + std::string{spec.unknown};
  return fmt::format("{}see rlock {} --help{}", what, spec.verb, if_it_is_a_key(spec, word, seen));
}

}  // namespace rlock
