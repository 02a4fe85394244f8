// Parser goes through the words once. It decides what is an option, a value, an operand or the command; a CLI11
// parser gets each option with its value, and calls the setter of the row. Errors wait until all options are set,
// because one of them may say where to report the error. Typical slips are found before (slips.h).

#include "cmd/cli/parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cmd/cli/cli11.h"
#include "cmd/cli/slips.h"

namespace rlock {
namespace {

using Words = std::vector<std::string>;

/// CLI11 without its own --help, which takes as long to declare as three options.
struct Bare : CLI::App {
  Bare() : CLI::App("", "", nullptr) { allow_extras(); }
};

/// CLI11 gets one word with options at a time, and the value that belongs to it. It splits --name=value and -abc, calls
/// the setters, and returns what it does not know. next_word() has looked at the word before, because CLI11 does not tell
/// which values were separate words, or where the options ended.
class Parser {
 public:
  Parser(const VerbSpec& spec, const Words& words) : spec_(spec), words_(words) {}

  Parsed parse() {
    Words operands;
    std::span<const std::string> rest = words_;
    bool marked = false;
    while (!rest.empty() && !marked && parsed_.action != Parsed::Action::help) {
      if (const auto text = slip(spec_, rest)) {
        refuse(Error::usage, *text);
        rest = rest.subspan(1);
        continue;
      }
      const NextWord next = next_word(spec_, rest);
      marked = next.kind == NextWord::Kind::mark;
      if (next.kind == NextWord::Kind::option) {
        take(rest.front(), next);
      } else if (!marked) {
        if (spec_.command_follows) break;
        operands.push_back(rest.front());
      }
      rest = rest.subspan(next.words);
    }
    if (refused_) throw Error{*refused_};
    if (parsed_.action != Parsed::Action::act) return std::move(parsed_);
    if (!unknown_.empty()) throw Error{Error::usage, unknown_option(spec_, unknown_, seen_)};

    if (spec_.command_follows) {
      if (spec_.marked != nullptr) *spec_.marked = marked;
      parsed_.command.assign(rest.begin(), rest.end());
    } else {
      operands.insert(operands.end(), rest.begin(), rest.end());
      give_operands(operands);
    }
    parsed_.typed = seen_;
    return std::move(parsed_);
  }

 private:
  /// Passes CLI11 an option.
  void take(const std::string& word, const NextWord& next) {
    const NamedOptions& named = next.named;
    const std::string name = word.substr(0, word.find('='));
    for (std::size_t i = 0; i < named.options.size(); ++i)
      declare(*named.options[i], word.starts_with("--") ? name : std::string{'-', word[i + 1]});
    word_ = word;
    value_apart_ = next.words == 2;
    Words typed{word};  // in reverse order, as CLI11 takes them
    // In one word with the option, CLI11 would call an empty value missing.
    if (next.value)
      typed = {std::string{*next.value},
               word.starts_with("--") ? name : word.substr(0, named.options.size() + 1)};
    try {
      app_.parse(typed);
    } catch (const CLI::ParseError&) {  // CLI11's failure becomes ours
      const Option& option = *named.options.back();
      refuse(Error::usage,
             as_typed(option) + (option.value.empty() ? std::string{" takes no value"}
                                                      : fmt::format(" needs {}", option.value)));
    }
    // CLI11 removes from `typed` what it knows.
    if (unknown_.empty() && !typed.empty()) unknown_ = typed.back();
  }

  /// CLI11 compares each name with all others, which takes longer than a server needs to grant a lock. So
  /// only typed names are declared.
  void declare(const Option& option, const std::string& name) {
    if (std::ranges::count(declared_, name)) return;
    declared_.push_back(name);
    const auto found = [this, &option](const CLI::results_t& values) {
      set(option, option.value.empty() ? "" : values.back());
      return true;
    };
    const int values = option.value.empty() ? 0 : 1;
    app_.add_option(name, CLI::callback_t{found})
        ->type_size(values)
        ->expected(values)
        ->allow_extra_args(false)
        ->disable_flag_override()
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
        ->trigger_on_parse();
  }

  /// The option under the name that was typed: the long one, or the letter.
  std::string as_typed(const Option& option) const {
    if (word_.starts_with("--")) return word_.substr(0, word_.find('='));
    return std::string{"-"} + word_[word_.find_first_of(letters(option), 1)];
  }

  void set(const Option& option, std::string_view value) {
    if (parsed_.action == Parsed::Action::help) return;
    if (&option == &version_option()) parsed_.action = Parsed::Action::version;
    if (parsed_.action == Parsed::Action::version && !is_verbose(option)) return;
    if (&option == &help_option()) {
      parsed_.action = Parsed::Action::help;
      return;
    }
    seen_.push_back(&option);
    if (value_apart_ && !option.value.empty() && is_next_option(option, value))
      return refuse(Error::usage, value_is_missing(option, value));
    try {
      option.set(value);
    } catch (const Error& error) {  // reported after all options were read
      refuse(error.kind(), fmt::format("{}: {}", as_typed(option), error.what()));
    }
  }

  /// The only option that changes the output of a version: `--version -v`.
  static bool is_verbose(const Option& option) {
    return std::ranges::count(long_names(option), "verbose") > 0;
  }

  /// Notes the first error. It is reported after all options were read, because a later one (--status-file)
  /// may say where.
  void refuse(Error::Kind kind, const std::string& text) {
    if (!refused_) refused_.emplace(kind, text);
  }

  /// Is the value really the next option, as in `-k $UNSET -n`? By getopt's rules this would lock "-n".
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

  /// The advice for one word too many. The word may be the value of an option: the owner in
  /// `lock release db "$owner"`, or the count in `sem acquire slots 2`.
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
    } catch (const Error& error) {  // adds the name of the operand
      throw Error{error.kind(), fmt::format("{}: {}", operand.name, error.what())};
    }
  }

  const VerbSpec& spec_;
  const Words& words_;
  Bare app_;
  Words declared_;  ///< the names that CLI11 knows
  std::vector<const Option*> seen_;
  std::string word_;              ///< the word that CLI11 parses
  bool value_apart_ = false;      ///< the value is the next word
  std::string unknown_;           ///< the first word that is no option of this verb
  std::optional<Error> refused_;  ///< the first error about a value
  Parsed parsed_;
};

}  // namespace

NextWord next_word(const VerbSpec& spec, std::span<const std::string> words) {
  const std::string_view word = words.front();
  if (word == "--") return {.kind = NextWord::Kind::mark};
  if (word.size() < 2 || word.front() != '-') return {};
  NextWord next{.kind = NextWord::Kind::option, .named = named_in(spec, word)};
  if (next.named.valued == nullptr) return next;
  if (next.named.joined) {
    next.value = next.named.before > 0 ? word.substr(next.named.before) : next.named.valued->alone;
  } else if (words.size() > 1) {
    next.value = words[1];
    next.words = 2;
  }
  return next;
}

std::size_t options_at_front(const VerbSpec& spec, const Words& words) {
  std::size_t count = 0;
  while (count < words.size()) {
    const NextWord next = next_word(spec, std::span{words}.subspan(count));
    if (!next.named.known) break;
    count += next.words;
  }
  return count;
}

Parsed parse(const VerbSpec& spec, const Words& words) { return Parser{spec, words}.parse(); }

}  // namespace rlock
