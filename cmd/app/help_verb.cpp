// rlock help, rlock version: the same as --help and --version, for users who expect a verb.

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/text.h"
#include "cmd/app/app_verbs.h"
#include "cmd/app/unknown_verb.h"
#include "cmd/app/verb_table.h"
#include "cmd/app/version.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/help.h"
#include "cmd/cli/output.h"
#include "cmd/server/server_options.h"

namespace rlock {
namespace {

/// The first words of all verbs, for completion.
std::string_view all_nouns() {
  static const std::string names = joined(nouns(), " ");
  return names;
}

class Help final : public Verb {
 public:
  void declare(VerbSpec& spec) override {
    spec.usage = {"help [VERB]"};
    spec.about = "Print the help of a verb, as VERB --help does; without a verb, that of rlock.";
    spec.examples = {{"rlock help run", ""}, {"rlock help lock acquire", ""}};
    spec.operands.push_back({.name = "VERB",
                             .offer = Offer::choices,
                             .choices = all_nouns(),
                             .optional = true,
                             .set = into(first_)});
    spec.operands.push_back({.name = "VERB", .optional = true, .set = into(second_)});
  }

  int act(TimePoint, std::vector<std::string>) override {
    print(screen());
    return exit_code::ok;
  }

 private:
  std::string screen() const {
    if (first_.empty()) return main_screen();
    const VerbEntry* entry = find_verb(second_.empty() ? first_ : first_ + " " + second_);
    if (entry != nullptr) {
      const auto verb = entry->make();
      return help_screen(verb->spec());
    }
    const std::string screen = noun_screen(first_);
    if (screen.empty() && !find_verb(first_)) refuse_verb("", first_, "help ");
    if (screen.empty())
      throw Error{Error::usage,
                  fmt::format("{} is one word too many: rlock help {}", in_quotes(second_), first_)};
    if (!second_.empty()) refuse_verb(first_, second_, "help ");
    return screen;
  }

  std::string first_, second_;
};

class Version final : public Verb {
 public:
  void declare(VerbSpec& spec) override {
    spec.about = "Print the version of rlock; with -v also the libraries in it.";
    spec.examples = {{"rlock version", ""}};
  }

  int act(TimePoint, std::vector<std::string>) override {
    print(version_text());
    return exit_code::ok;
  }
};

}  // namespace

VerbRows help_verbs() {
  static constexpr std::array kRows{
      VerbEntry{.name = "help", .summary = "print the help of a verb", .create = create<Help>},
      VerbEntry{.name = "version", .summary = "print the version of rlock", .create = create<Version>}};
  return kRows;
}

}  // namespace rlock
