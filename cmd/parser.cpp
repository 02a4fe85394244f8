#include "cmd/parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cmd/suggest.h"

namespace rlock {
namespace {

/// One walk over the words. Operands wait until every option has been read, since --key may take the place of the first.
class Parser {
 public:
  Parser(const Declaration& declaration, const std::vector<std::string>& words)
      : told_(declaration), words_(words) {}

  Parsed parse() {
    while (at_ < words_.size() && parsed_.wish == Parsed::Wish::act) {
      const std::string_view word = words_[at_];
      if (word == "--") {
        ++at_;
        break;
      }
      if (word.starts_with("--")) {
        long_option(word.substr(2));
      } else if (word.size() > 1 && word[0] == '-') {
        bundle(word.substr(1));
      } else if (told_.command_follows) {
        break;
      } else {
        operands_.push_back(word);
        ++at_;
      }
    }
    if (parsed_.wish != Parsed::Wish::act) return std::move(parsed_);
    const auto rest = words_.begin() + static_cast<std::ptrdiff_t>(at_);
    if (told_.command_follows) {
      parsed_.command.assign(rest, words_.end());
    } else {
      operands_.insert(operands_.end(), rest, words_.end());
      give_operands();
    }
    return std::move(parsed_);
  }

 private:
  void long_option(std::string_view text) {
    ++at_;
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    if (wishes(name)) return;
    const std::string shown = "--" + std::string{name};
    const Option* option = name.size() > 1 ? told_.find(name) : nullptr;
    if (!option) unknown(shown);
    if (equals == std::string_view::npos)
      return set(*option, shown, option->value.empty() ? "" : next(*option, shown));
    if (option->value.empty()) throw Error{Error::usage, fmt::format("{} takes no value", shown)};
    set(*option, shown, text.substr(equals + 1));
  }

  void bundle(std::string_view letters) {
    ++at_;
    while (!letters.empty()) {
      const std::string_view letter = letters.substr(0, 1);
      letters.remove_prefix(1);
      const std::string shown = "-" + std::string{letter};
      if (letter == "h" && letters.empty()) refuse_host();
      if (wishes(letter)) return;
      const Option* option = told_.find(letter);
      if (!option) unknown(shown);
      if (option->value.empty()) {
        set(*option, shown, "");
        continue;
      }
      set(*option, shown, letters.empty() ? next(*option, shown) : letters);
      return;
    }
  }

  bool wishes(std::string_view name) {
    if (name == "help" || name == "h") parsed_.wish = Parsed::Wish::help;
    if (name == "version" || name == "V") parsed_.wish = Parsed::Wish::version;
    return parsed_.wish != Parsed::Wish::act;
  }

  /// `-h HOST`, as redis-cli has it: a screen of help would hide that the host was not understood.
  void refuse_host() const {
    if (at_ >= words_.size() || words_[at_].starts_with("-")) return;
    throw Error{Error::usage,
                fmt::format("-h is --help; for a server say --url redis://{}", sanitized(words_[at_], 80))};
  }

  std::string_view next(const Option& option, std::string_view shown) {
    if (at_ >= words_.size()) throw Error{Error::usage, fmt::format("{} needs {}", shown, option.value)};
    return words_[at_++];
  }

  void set(const Option& option, std::string_view shown, std::string_view value) {
    seen_.push_back(&option);
    try {
      option.set(value);
    } catch (const Error& error) {
      throw Error{error.kind(), fmt::format("{}: {}", shown, error.what())};
    }
  }

  [[noreturn]] void unknown(const std::string& shown) const {
    for (const Foreign& foreign : told_.foreign) {
      if (foreign.name == shown) throw Error{Error::usage, fmt::format("{}: {}", shown, foreign.sentence)};
    }
    std::vector<std::string_view> known{"help", "version"};
    for (const auto& group : told_.groups) {
      for (const Option& option : group.options) {
        if (option.hidden) continue;
        for (const std::string_view name : long_names(option)) known.push_back(name);
      }
    }
    const auto meant = shown.starts_with("--") ? nearest(shown.substr(2), known) : std::nullopt;
    throw Error{
        Error::usage,
        meant ? fmt::format("unknown option {}; did you mean --{}?", sanitized(shown, 80), *meant)
              : fmt::format("unknown option {}; see rlock {} --help", sanitized(shown, 80), told_.verb)};
  }

  void give_operands() const {
    std::size_t taken = 0;
    for (const Operand& operand : told_.operands) {
      if (!operand.instead.empty() && std::ranges::count(seen_, told_.find(operand.instead))) continue;
      do {
        if (taken == operands_.size()) {
          if (!operand.optional)
            throw Error{Error::usage,
                        fmt::format("{} is missing: rlock {}", operand.name, told_.usage.front())};
          break;
        }
        give(operand, operands_[taken++]);
      } while (operand.many && taken < operands_.size());
    }
    if (taken < operands_.size()) {
      throw Error{Error::usage, fmt::format("{} is one word too many: rlock {}", quoted(operands_[taken]),
                                            told_.usage.front())};
    }
  }

  static void give(const Operand& operand, std::string_view word) {
    try {
      operand.set(word);
    } catch (const Error& error) {
      throw Error{error.kind(), fmt::format("{}: {}", operand.name, error.what())};
    }
  }

  const Declaration& told_;
  const std::vector<std::string>& words_;
  std::vector<std::string_view> operands_;
  std::vector<const Option*> seen_;
  Parsed parsed_;
  std::size_t at_ = 0;
};

}  // namespace

Parsed parse(const Declaration& declaration, const std::vector<std::string>& words) {
  return Parser{declaration, words}.parse();
}

}  // namespace rlock
