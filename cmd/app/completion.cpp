#include "cmd/app/completion.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/text.h"
#include "cmd/app/offered_options.h"
#include "cmd/app/verb_table.h"
#include "cmd/cli/options.h"
#include "cmd/cli/parser.h"
#include "cmd/server/server_options.h"

namespace rlock {
namespace {

using Words = std::vector<std::string>;

/// The list of candidates has room for one sentence.
std::string meaning_of(const Option& option) {
  std::string_view text = option.help.empty() ? option.manual : option.help;
  text = text.substr(0, std::min(text.find('\n'), text.find(". ")));
  if (text.ends_with('.')) text.remove_suffix(1);
  return std::string{text};
}

/// Follows a command line up to the word that is being typed.
class Walk {
 public:
  explicit Walk(const Words& words) : words_(words), last_(words.size() - 1) {}

  Completion complete() {
    VerbSpec before_verb;
    ServerOptions unused;
    declare_server_options(before_verb, unused);
    while (at_ < last_) {
      const NextWord word = next(before_verb);
      if (word.kind != NextWord::Kind::option) break;
      pass(word);
    }
    if (pending_ != nullptr) return offer_value(*pending_);
    if (at_ == last_) return at_first_word(before_verb);
    std::string verb = words_[at_++];
    if (verb == "help" && at_ + 1 == last_) return at_second_word(words_[at_]);
    if (find_verb(verb) == nullptr && !noun_screen(verb).empty()) {
      if (at_ == last_) return at_second_word(verb);
      verb += " " + words_[at_++];
    }
    const VerbEntry* entry = find_verb(verb);
    if (entry == nullptr) return std::move(found_);
    const auto made = entry->make();  // kept, because the choices of its options may be stored in it
    return behind_verb(made->spec());
  }

 private:
  /// The word at `at_`, with its value if that is not being typed.
  NextWord next(const VerbSpec& spec) const {
    return next_word(spec, std::span{words_}.subspan(at_, last_ - at_));
  }

  /// Steps over an option and its value, or over "--".
  void pass(const NextWord& word) {
    at_ += word.words;
    if (!word.value) pending_ = word.named.valued;
    if (pending_ != nullptr) return;
    for (const Option* option : word.named.options) note(*option, std::string{word.value.value_or("")});
  }

  /// Notes an option that affects the candidates behind it.
  void note(const Option& option, const std::string& value) {
    const std::vector<std::string_view> names = long_names(option);
    if (names.empty()) return;
    const std::string_view name = names.front();
    if (name == "key") found_.key = value;
    counts_ = counts_ || name == "permits" || name == "count" || (name == "type" && value == "permit");
    if (!names_server(name)) return;
    found_.server.push_back("--" + std::string{name} + (option.value.empty() ? "" : "=" + value));
  }

  /// Is it an option that names the server? Options that ask for a password, or change what is printed, do
  /// not count.
  static bool names_server(std::string_view name) {
    const ServerSetting* const setting = find_server_setting(name);
    return setting != nullptr && setting->where != ServerSetting::Where::files && name != "askpass";
  }

  Completion at_first_word(const VerbSpec& before_verb) {
    if (words_[last_].starts_with('-')) return offer_options(before_verb);
    for (const std::string& noun : nouns()) found_.words.push_back({noun, about_noun(noun)});
    return std::move(found_);
  }

  Completion at_second_word(const std::string& noun) {
    for (const VerbEntry* entry : verbs()) {
      if (entry->name.starts_with(noun + " "))
        found_.words.push_back(
            {std::string{entry->name.substr(noun.size() + 1)}, std::string{entry->summary}});
    }
    if (words_[last_].starts_with('-')) found_.words.push_back({"--help", "say what this does"});
    return std::move(found_);
  }

  Completion behind_verb(const VerbSpec& spec) {
    std::size_t operands = 0;
    bool ended = false;  // no more options
    const auto command_begins = [&] { return spec.command_follows && operands == spec.operands.size(); };
    while (at_ < last_) {
      const NextWord word = next(spec);
      if (ended || word.kind == NextWord::Kind::operand) {
        if (command_begins()) break;
        if (operands++ == 0 && found_.key.empty()) found_.key = words_[at_];
        ++at_;
      } else {
        ended = word.kind == NextWord::Kind::mark;
        pass(word);
      }
    }
    if (pending_ != nullptr) return offer_value(*pending_);
    const std::string& word = words_[last_];
    if (at_ == last_ && !ended && word.starts_with('-')) return offer_option(spec, word);
    if (command_begins()) {
      found_.command = at_;
      return std::move(found_);
    }
    return offer_operand(spec, operands);
  }

  Completion offer_option(const VerbSpec& spec, std::string_view word) {
    const NamedOptions named = named_in(spec, word);
    if (named.valued == nullptr || named.before == 0) return offer_options(spec);
    found_.kept = named.before;
    return offer_value(*named.valued);
  }

  /// If nothing of a name is typed, offers one name of each option, because the lists are long.
  Completion offer_options(const VerbSpec& spec) {
    const bool one_name = words_[last_] == "-" || words_[last_] == "--";
    for (const Option& option : offered_options(spec)) {
      std::vector<std::string> names = spelled_names(option);
      if (one_name && !long_names(option).empty()) names = {"--" + std::string{long_names(option).front()}};
      for (std::string& name : names) found_.words.push_back({std::move(name), meaning_of(option)});
    }
    return std::move(found_);
  }

  Completion offer_value(const Option& option) { return offer(option.offer, option.choices); }

  Completion offer_operand(const VerbSpec& spec, std::size_t index) {
    if (spec.operands.empty()) return std::move(found_);
    const Operand& operand = spec.operands[std::min(index, spec.operands.size() - 1)];
    if (index >= spec.operands.size() && !operand.many) return std::move(found_);
    return offer(operand.offer, operand.choices);
  }

  Completion offer(Offer offer, std::string_view choices) {
    if (offer == Offer::choices || offer == Offer::examples) {
      for (std::string& choice : split(choices, ' ')) found_.words.push_back({std::move(choice)});
    } else {
      found_.offer = offer == Offer::key && counts_ ? Offer::counter : offer;
    }
    return std::move(found_);
  }

  const Words& words_;
  const std::size_t last_;
  std::size_t at_ = 1;
  const Option* pending_ = nullptr;  ///< the last word is the value of this option
  bool counts_ = false;              ///< an option implies permits
  Completion found_;
};

}  // namespace

Completion complete(const Words& words) { return words.size() < 2 ? Completion{} : Walk{words}.complete(); }

}  // namespace rlock
