#include "cmd/cli/parser.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "cmd/cli/suggest.h"

namespace rlock {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view kHelp = "-h,--help";
constexpr std::string_view kVersion = "-V,--version";

/// Where in the words options stand (not their values), and where they end.
struct Layout {
  std::vector<std::size_t> options;
  std::vector<std::size_t> operands;  ///< the first word of a command is the last of them
  std::size_t end = 0;

  /// Of each option that takes a value, once per occurrence: does that value have a word of its own?
  std::map<const Option*, std::vector<bool>> own_words;
};

bool is_dashed(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

/// Options end at "--", and where a command follows at the first word that is neither an option nor an
/// option's value. CLI11 must not see what comes then: it would take options out of it.
Layout layout_of(const VerbSpec& spec, const Words& words) {
  Layout layout;
  std::size_t at = 0;
  for (; at < words.size() && words[at] != "--"; ++at) {
    if (!is_dashed(words[at])) {
      layout.operands.push_back(at);
      if (spec.command_follows) break;
      continue;
    }
    layout.options.push_back(at);
    bool joined = false;
    const Option* option = valued_option(spec, words[at], joined);
    if (option == nullptr) continue;
    layout.own_words[option].push_back(!joined);
    if (!joined) ++at;
  }
  layout.end = std::min(at, words.size());
  return layout;
}

/// Does the word consist of options of this verb, or end them?
bool names_options(const VerbSpec& spec, std::string_view word) {
  if (!is_dashed(word)) return false;
  if (word.starts_with("--")) {
    const std::string_view name = word.substr(2, word.find('=') - 2);
    return name.empty() || name == "help" || name == "version" || (name.size() > 1 && spec.find(name));
  }
  for (std::size_t letter = 1; letter < word.size(); ++letter) {
    if (word[letter] == 'h' || word[letter] == 'V') continue;
    const Option* option = spec.find(word.substr(letter, 1));
    if (option == nullptr) return false;
    if (!option->value.empty()) return true;
  }
  return true;
}

/// "-w, --wait" as CLI11 takes it.
std::string without_blanks(std::string_view names) {
  std::string text{names};
  std::erase(text, ' ');
  return text;
}

/// Lets CLI11 take the words apart, and replays what it found, in the order typed, into the setters.
class Parser {
 public:
  Parser(const VerbSpec& spec, const Words& words) : spec_(spec), words_(words) {
    app_.set_help_flag();  // ours wins over what follows it
    app_.allow_extras();
  }

  Parsed parse() {
    const Layout layout = layout_of(spec_, words_);
    const std::size_t end = layout.end;
    refuse_host(end);
    refuse_typeset_dashes(layout);
    for (const std::size_t at : layout.options) refuse_single_dash(words_[at]);
    for (const std::size_t at : layout.options) refuse_equals(words_[at]);
    for (std::size_t at = 0; at < end; ++at) declare_named_in(words_[at]);
    take_apart(layout);
    replay(layout);
    if (parsed_.wish != Parsed::Wish::act) return std::move(parsed_);

    Words operands = app_.remaining();
    for (const std::string& word : operands) {
      if (word.size() > 1 && word.front() == '-') unknown(word);
    }
    const bool marked = end < words_.size() && words_[end] == "--";
    const auto rest = words_.begin() + static_cast<std::ptrdiff_t>(end + (marked ? 1 : 0));
    if (spec_.command_follows) {
      if (spec_.marked != nullptr) *spec_.marked = marked;
      parsed_.command.assign(rest, words_.end());
    } else {
      operands.insert(operands.end(), rest, words_.end());
      give_operands(operands);
    }
    return std::move(parsed_);
  }

 private:
  /// CLI11 compares each option with each other one, which takes it longer than a server takes for a lock: it
  /// is told of those only that the words can name.
  void declare_named_in(std::string_view word) {
    if (!word.starts_with('-')) return;
    declare_flag(help_, kHelp, word, "--help", 'h');
    declare_flag(version_, kVersion, word, "--version", 'V');
    if (word.starts_with("--")) return declare(spec_.find(word.substr(2, word.find('=') - 2)));
    for (std::size_t letter = 1; letter < word.size(); ++letter) declare(spec_.find(word.substr(letter, 1)));
  }

  void declare_flag(CLI::Option*& flag, std::string_view names, std::string_view word, std::string_view name,
                    char letter) {
    const bool named = word.starts_with("--") ? word.starts_with(name) : word.find(letter) != word.npos;
    if (named && flag == nullptr) flag = app_.add_flag(std::string{names})->disable_flag_override();
  }

  void declare(const Option* declared) {
    if (declared == nullptr || !declared_.insert(declared).second) return;
    const Option& option = *declared;
    const std::string names = without_blanks(option.names);
    CLI::Option* known = nullptr;
    if (option.value.empty()) {
      known = app_.add_flag(names)->disable_flag_override();
    } else {
      known = app_.add_option(names, CLI::callback_t{[](const CLI::results_t&) { return true; }});
      known->type_size(1)->expected(1)->allow_extra_args(false);
    }
    known->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    options_[known] = &option;
  }

  void take_apart(const Layout& layout) {
    Words typed(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(layout.end));
    for (auto at = layout.options.rbegin(); at != layout.options.rend(); ++at) {
      std::string& word = typed[*at];
      if (word.starts_with("--") && word.find('=') == word.npos) {
        const Option* option = spec_.find(std::string_view{word}.substr(2));
        if (option != nullptr && !option->alone.empty()) word += "=" + std::string{option->alone};
      }
      if (!word.starts_with("--") || word.find('=') + 1 != word.size()) continue;
      word.pop_back();  // CLI11 takes "--wait=" for a value that is missing; it is one that is empty
      typed.insert(typed.begin() + static_cast<std::ptrdiff_t>(*at) + 1, "");
    }
    std::ranges::reverse(typed);  // it takes them from the end
    try {
      app_.parse(typed);
    } catch (const CLI::ArgumentMismatch& error) {  // CLI11's failures become ours
      std::string_view name = error.what();         // "--wait: 1 required ... missing": the name stands first
      name = name.substr(0, name.find_first_of(": "));
      name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
      const Option* option = spec_.find(name);
      if (option == nullptr) throw Error{Error::usage, sanitized(error.what())};
      const std::string shown = as_typed(*option);
      if (option->value.empty()) throw Error{Error::usage, shown + " takes no value"};
      throw Error{Error::usage, fmt::format("{} needs {}", shown, option->value)};
    } catch (const CLI::ParseError& error) {
      throw Error{Error::usage, sanitized(error.what())};
    }
  }

  /// An option by the name that was typed: its long one, or its letter.
  std::string as_typed(const Option& option) const {
    const std::string letter = letters(option);
    for (const std::string_view name : long_names(option)) {
      const std::string shown = "--" + std::string{name};
      const auto is_it = [&](const std::string& word) {
        return word == shown || word.starts_with(shown + "=");
      };
      if (letter.empty() || std::ranges::any_of(words_, is_it)) return shown;
    }
    return "-" + letter.substr(0, 1);
  }

  void replay(const Layout& layout) {
    std::map<const CLI::Option*, std::size_t> used;
    for (CLI::Option* found : app_.parse_order()) {
      if (found == help_ && parsed_.wish == Parsed::Wish::act) parsed_.wish = Parsed::Wish::help;
      if (found == version_) parsed_.wish = Parsed::Wish::version;
      if (parsed_.wish == Parsed::Wish::help) break;
      if (found == help_ || found == version_) continue;
      const Option& option = *options_.at(found);
      if (parsed_.wish == Parsed::Wish::version && !is_verbose(option)) continue;
      if (option.value.empty()) {
        set(option, "", false);
        continue;
      }
      const std::size_t time = used[found]++;
      set(option, found->results()[time], layout.own_words.at(&option)[time]);
    }
    if (refused_) throw Error{*refused_};
  }

  /// The only option that says more of a version: `--version -v`.
  static bool is_verbose(const Option& option) {
    return std::ranges::count(long_names(option), "verbose") > 0;
  }

  void set(const Option& option, std::string_view value, bool own_word) {
    seen_.push_back(&option);
    if (own_word && is_next_option(option, value))
      return refuse(Error::usage, value_is_missing(option, value));
    try {
      option.set(value);
    } catch (const Error& error) {  // told when all options have been read
      refuse(error.kind(), fmt::format("{}: {}", as_typed(option), error.what()));
    }
  }

  /// The first refusal is told, but an option behind it may say where to: --status-file.
  void refuse(Error::Kind kind, const std::string& text) {
    if (!refused_) refused_.emplace(kind, text);
  }

  /// `-k $UNSET -n`: by the rules of getopt it locks "-n".
  bool is_next_option(const Option& option, std::string_view value) const {
    return option.no_dash ? value.starts_with('-') : names_options(spec_, value);
  }

  std::string value_is_missing(const Option& option, std::string_view next) const {
    const std::string text =
        fmt::format("{} needs {}, but {} follows", as_typed(option), option.value, in_quotes(next));
    if (!option.no_dash) return text;
    return fmt::format("{}; a key that begins with '-' is written --{}={}", text, long_names(option).front(),
                       shell_quoted(next));
  }

  /// `–k`, copied from a text: it would be taken for a command or a key.
  void refuse_typeset_dashes(const Layout& layout) const {
    for (const std::size_t at : layout.operands) {
      const auto rest = behind_typeset_dash(words_[at]);
      if (!rest) continue;
      if (rest->empty() && spec_.command_follows)
        throw Error{Error::usage,
                    fmt::format("{}: this dash is not '-' (was it copied from a text?); did you mean --?",
                                in_quotes(words_[at]))};
      for (const std::string_view dashes : {"--", "-"}) {
        const std::string meant = std::string{dashes} + std::string{*rest};
        if (!names_options(spec_, meant)) continue;
        throw Error{Error::usage,
                    fmt::format("{}: this dash is not '-' (was it copied from a text?); did you mean {}?",
                                in_quotes(words_[at]), sanitized(meant, 80))};
      }
    }
  }

  /// `-h HOST`, as redis-cli has it: a screen of help would hide that the host was not understood.
  void refuse_host(std::size_t end) const {
    if (spec_.find("url") == nullptr) return;
    for (std::size_t i = 0; i < end && i + 1 < words_.size(); ++i) {
      if (words_[i] != "-h" || words_[i + 1].starts_with("-")) continue;
      rlock::refuse_host(words_[i + 1]);
    }
  }

  /// `-wait 5s`, as tools have it that know no letters: by the rules it is -w with the value "ait".
  void refuse_single_dash(std::string_view word) const {
    if (word.starts_with("--") || word.size() <= 2) return;
    const std::string name{word.substr(0, word.find('='))};
    for (const Foreign& foreign : spec_.foreign)
      if (foreign.name == name) throw Error{Error::usage, fmt::format("{}: {}", name, foreign.sentence)};
    const Option* option = name.size() > 2 ? spec_.find(name.substr(1)) : nullptr;
    if (option != nullptr && !option->hidden)
      throw Error{Error::usage, fmt::format("{0}: did you mean -{0}?", name)};
  }

  /// `-k=deploy`: by the rules it locks "=deploy", and whoever typed it meets nobody there.
  void refuse_equals(std::string_view word) const {
    if (word.starts_with("--")) return;
    for (std::size_t letter = 1; letter + 1 < word.size(); ++letter) {
      const Option* option = spec_.find(word.substr(letter, 1));
      if (option == nullptr || option->value.empty()) continue;
      if (word[letter + 1] != '=') return;
      throw Error{Error::usage, fmt::format("-{0} takes its value without '=': -{0} {1}, or --{2}={1}",
                                            word[letter], option->value, long_names(*option).front())};
    }
  }

  [[noreturn]] void unknown(const std::string& word) const {
    const std::string shown = as_option(word);
    for (const Foreign& foreign : spec_.foreign) {
      if (foreign.name == shown) throw Error{Error::usage, fmt::format("{}: {}", shown, foreign.sentence)};
    }
    if (shown == "-o" || shown == "--output" || shown == "--format") {
      if (spec_.find("json")) throw Error{Error::usage, shown + ": did you mean --json?"};
    }
    std::vector<std::string_view> known{"help", "version"};
    for (const auto& group : spec_.groups) {
      for (const Option& option : group.options) {
        if (option.hidden) continue;
        for (const std::string_view name : long_names(option)) known.push_back(name);
      }
    }
    const auto meant = shown.starts_with("--") ? nearest(shown.substr(2), known) : std::nullopt;
    const std::string what = fmt::format("unknown option {}; ", sanitized(shown, 80));
    if (meant) throw Error{Error::usage, fmt::format("{}did you mean --{}?", what, *meant)};
    if (!spec_.unknown.empty()) throw Error{Error::usage, what + std::string{spec_.unknown}};
    throw Error{Error::usage, fmt::format("{}see rlock {} --help{}", what, spec_.verb, if_it_is_a_key(word))};
  }

  /// A KEY that begins with a dash looks like an option.
  std::string if_it_is_a_key(std::string_view word) const {
    for (const Operand& operand : spec_.operands) {
      if (operand.no_dash && (operand.many || !std::ranges::count(seen_, spec_.find(operand.instead))))
        return fmt::format("; a key that begins with '-': --{}={}", operand.instead, shell_quoted(word));
    }
    return "";
  }

  /// The option in a word: without its value, and of a bundle the letter that nobody knows.
  std::string as_option(const std::string& word) const {
    if (word.starts_with("--")) return word.substr(0, word.find('='));
    return word.substr(0, 2);
  }

  void give_operands(const Words& operands) const {
    std::size_t taken = 0;
    for (const Operand& operand : spec_.operands) {
      const bool given =
          !operand.instead.empty() && std::ranges::count(seen_, spec_.find(operand.instead)) > 0;
      if (given && !operand.many) continue;
      do {
        if (taken == operands.size()) {
          if (!operand.optional && !given)
            throw Error{Error::usage,
                        fmt::format("{} is missing: rlock {}", operand.name, spec_.usage.front())};
          break;
        }
        give(operand, operands[taken++]);
      } while (operand.many && taken < operands.size());
    }
    if (taken < operands.size()) {
      throw Error{Error::usage, fmt::format("{} is one word too many{}", in_quotes(operands[taken]),
                                            instead_of(operands[taken]))};
    }
  }

  /// `lock release db "$owner"`, `sem acquire slots 2`.
  std::string instead_of(const std::string& word) const {
    const std::string_view name = parse_count(word) && spec_.find("count") ? "count" : "owner";
    const Option* option = spec_.find(name);
    if (option == nullptr || std::ranges::count(seen_, option))
      return fmt::format(": rlock {}", spec_.usage.front());
    return fmt::format("; did you mean --{} {}?", name, shell_quoted(word));
  }

  static void give(const Operand& operand, std::string_view word) {
    if (operand.no_dash && word.starts_with('-'))
      throw Error{Error::usage,
                  fmt::format("{}: {} begins with '-'; if it is the key, write --{}={}", operand.name,
                              in_quotes(word), operand.instead, shell_quoted(word))};
    try {
      operand.set(word);
    } catch (const Error& error) {  // says which operand it is
      throw Error{error.kind(), fmt::format("{}: {}", operand.name, error.what())};
    }
  }

  const VerbSpec& spec_;
  const Words& words_;
  CLI::App app_;
  CLI::Option* help_ = nullptr;  ///< where the words can name it
  CLI::Option* version_ = nullptr;
  std::map<CLI::Option*, const Option*> options_;
  std::set<const Option*> declared_;
  std::vector<const Option*> seen_;
  std::optional<Error> refused_;  ///< the first value that was
  Parsed parsed_;
};

}  // namespace

const Option* valued_option(const VerbSpec& spec, std::string_view word, bool& joined) {
  if (word.starts_with("--")) {
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(2, equals - 2);
    const Option* option = name.size() > 1 ? spec.find(name) : nullptr;
    joined = equals != std::string_view::npos || (option != nullptr && !option->alone.empty());
    return option != nullptr && !option->value.empty() ? option : nullptr;
  }
  for (std::size_t letter = 1; letter < word.size(); ++letter) {
    const Option* option = spec.find(word.substr(letter, 1));
    joined = letter + 1 < word.size();
    if (option == nullptr && word[letter] != 'h' && word[letter] != 'V')
      return nullptr;  // CLI11 takes none of the rest
    if (option != nullptr && !option->value.empty()) return option;
  }
  return nullptr;
}

std::size_t options_at_front(const VerbSpec& spec, const Words& words) {
  std::size_t at = 0;
  while (at < words.size() && words[at] != "--" && names_options(spec, words[at])) {
    bool joined = false;
    at += valued_option(spec, words[at], joined) == nullptr || joined ? 1 : 2;
  }
  return std::min(at, words.size());
}

Parsed parse(const VerbSpec& spec, const Words& words) { return Parser{spec, words}.parse(); }

void refuse_host(std::string_view host) {
  throw Error{Error::usage,
              fmt::format("-h is --help; for a server say --url redis://{}", sanitized(host, 80))};
}

}  // namespace rlock
