#include "cmd/app/app.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/as_given.h"
#include "base/error.h"
#include "cmd/app/unknown_verb.h"
#include "cmd/app/verb_table.h"
#include "cmd/app/version.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/help.h"
#include "cmd/cli/output.h"
#include "cmd/cli/parser.h"
#include "cmd/cli/slips.h"
#include "cmd/cli/suggest.h"
#include "cmd/server/server_options.h"

namespace rlock {
namespace {

using Words = std::vector<std::string>;

int print_version() {
  print(version_text());
  return exit_code::ok;
}

/// If the help cannot be printed, the verb must not write a record of a failure, because it has not begun.
int print_help(const VerbSpec& spec, std::unique_ptr<Verb>& verb) {
  const std::string screen = help_screen(spec);
  verb.reset();
  print(screen);
  return exit_code::ok;
}

/// Applies the defaults of the environment and of the config files to options that were not typed.
void take_defaults(const VerbSpec& spec, const std::vector<const Option*>& typed) {
  if (!spec.find_default) return;
  for (const auto& group : spec.groups) {
    for (const Option& option : group.options) {
      if ((option.variable.empty() && !option.configurable) || std::ranges::count(typed, &option) > 0)
        continue;
      const auto found = spec.find_default(option);
      if (!found) continue;
      found->give_to(option);
      remember_default(found->name, found->as_written());
    }
  }
}

int act(const VerbEntry& entry, TimePoint started, const Words& words, std::unique_ptr<Verb>& verb) {
  verb = entry.make();
  const VerbSpec& spec = verb->spec();
  const Parsed parsed = parse(spec, words);
  switch (parsed.action) {
    case Parsed::Action::help: return print_help(spec, verb);
    case Parsed::Action::version: verb.reset(); return print_version();
    case Parsed::Action::act: break;
  }
  take_defaults(spec, parsed.typed);
  return verb->act(started, parsed.command);
}

/// The options before a verb, or before the verb of a noun.
struct Front {
  Words options;
  Parsed::Action action = Parsed::Action::act;
};

/// Refuses an option before the verb, because only the options of all verbs with a server may stand there. (Returns if
/// it is "--", which is no option; refuse_verb() refuses that.) If no verb but run follows, the option probably belongs
/// to run. Then the user gets the error text of run, also for an option of another tool.
void refuse_option(VerbSpec before_verb, const std::string& noun, const Words& words) {
  const auto run = find_verb("run")->make();
  const bool other = std::ranges::any_of(words, [](const std::string& word) {
    return word != "run" && (find_verb(word) != nullptr || !noun_screen(word).empty());
  });
  if (const std::size_t options = options_at_front(run->spec(), words);
      noun.empty() && !other && options > 0) {
    const std::string text = fmt::format("{} is an option of run: rlock run [OPTIONS] -k KEY -- COMMAND",
                                         words.front().substr(0, words.front().find('=')));
    // Do the words look like FILE COMMAND of flock(1)?
    const bool as_flock = options + 1 < words.size() && words[options] != "--" &&
                          options_at_front(find_verb("flock")->make()->spec(), words) == options;
    if (!as_flock) throw Error{Error::usage, text};
    throw Error{Error::usage,
                fmt::format("{}; or by the command line of flock(1): rlock flock{}", text, pasted(words))};
  }
  if (noun.empty() && !other && behind_typeset_dash(words.front()))
    static_cast<void>(parse(run->spec(), {words.front()}));
  if (noun.empty() && !other) before_verb.other_tools = run->spec().other_tools;
  static_cast<void>(parse(before_verb, words));
}

/// Takes the options before the verb from the front of `words`: those of every verb that talks to a server,
/// --help and --version. Throws Error{usage} for any other option.
Front take_front(const std::string& noun, Words& words) {
  const auto is_option = [&] {
    return !words.empty() && (words.front().starts_with('-') || behind_typeset_dash(words.front()));
  };
  if (!is_option()) return {};
  const std::string unknown =
      fmt::format("options of a verb come after it: rlock {}{}VERB [OPTIONS]", noun, noun.empty() ? "" : " ");
  VerbSpec before_verb{.unknown = unknown, .command_follows = true};
  ServerOptions unused;
  declare_server_options(before_verb, unused);
  const auto verb = words.begin() + static_cast<std::ptrdiff_t>(options_at_front(before_verb, words));
  Front front{.options = {words.begin(), verb}};
  words.erase(words.begin(), verb);
  front.action = parse(before_verb, front.options).action;
  if (front.action == Parsed::Action::act && is_option()) refuse_option(before_verb, noun, words);
  return front;
}

/// `rlock -h HOST run ...`, but not `rlock -h run`.
bool names_host(const Front& front, const Words& words) {
  if (front.options.empty() || front.options.back() != "-h" || words.empty()) return false;
  return !words.front().starts_with("-") && !find_verb(words.front()) && noun_screen(words.front()).empty();
}

/// Finds the verb in `words` and runs it. `noun`: the noun before the verb, or empty. `options`: those before
/// the noun.
int dispatch(TimePoint started, const std::string& noun, Words options, Words words,
             std::unique_ptr<Verb>& verb) {
  const Front front = take_front(noun, words);
  if (noun.empty() && names_host(front, words)) throw Error{Error::usage, not_a_host(words.front())};
  options.insert(options.end(), front.options.begin(), front.options.end());
  const auto screen = [&] { return noun.empty() ? main_screen() : noun_screen(noun); };
  if (front.action == Parsed::Action::version) return print_version();
  if (front.action == Parsed::Action::help) {
    print(screen());
    return exit_code::ok;
  }
  if (words.empty()) {
    print_on_stderr(screen());
    return exit_code::usage;
  }

  const std::string word = words.front();
  words.erase(words.begin());
  if (const VerbEntry* entry = find_verb(noun.empty() ? word : noun + " " + word)) {
    words.insert(words.begin(), options.begin(), options.end());
    return act(*entry, started, words, verb);
  }
  if (noun.empty() && !noun_screen(word).empty()) return dispatch(started, word, options, words, verb);
  if (word != "help") refuse_verb(noun, word, "", words);
  words.insert(words.begin(), {"help", noun});
  return dispatch(started, "", options, words, verb);
}

}  // namespace

int app(TimePoint started, const std::vector<std::string>& words, std::unique_ptr<Verb>& verb) {
  return dispatch(started, "", {}, words, verb);
}

}  // namespace rlock
