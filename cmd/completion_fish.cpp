#include <fmt/format.h>

#include "base/text.h"
#include "cmd/completion.h"
#include "cmd/completion_words.h"

namespace rlock {
namespace {

constexpr std::string_view kHead = R"fish(# fish completion for rlock, written by: rlock completion fish

# Is this the verb of the command line, and does no command follow yet?
function __rlock_verb
    set -l words (commandline -opc)
    set -e words[1]
    test (count $words) -ge (count $argv); or return 1
    for i in (seq (count $argv))
        test "$words[$i]" = "$argv[$i]"; or return 1
    end
    not contains -- -- $words
end

# Have exactly these words been typed?
function __rlock_words
    set -l words (commandline -opc)
    test "$words[2..-1]" = "$argv"
end

# The keys of the server that the command line names, or else of the one that rlock would ask.
function __rlock_keys
    set -l words (commandline -opc)
    set -l server
    for i in (seq (count $words))
        switch $words[$i]
            case -u --url
                set -a server $words[(math $i + 1)]
            case '--url=*'
                set -a server (string replace -- --url= '' $words[$i])
        end
    end
    # A URL may hold a password: everybody can read arguments.
    set -q server[1]; and set -lx RLOCK_URL "$server"
    rlock inspect --completion --connect-timeout 500ms --command-timeout 500ms 2>/dev/null </dev/null
end

complete -c rlock -f
complete -c rlock -n __rlock_words -l help -s h -d 'say what rlock does'
complete -c rlock -n __rlock_words -l version -s V -d 'say which rlock this is'
)fish";

/// For fish: in single quotes, where only those and the backslash are special.
std::string quoted_for_fish(std::string_view text) {
  std::string escaped = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped + "'";
}

std::string offered(Offer offer, std::string_view choices) {
  switch (offer) {
    case Offer::choices: return " -x -a " + quoted_for_fish(choices);
    case Offer::file: return " -r -F";
    case Offer::folder: return " -x -a '(__fish_complete_directories)'";
    case Offer::key: return " -x -a '(__rlock_keys)'";
    case Offer::command: return " -x -a '(__fish_complete_command)'";
    case Offer::nothing:
    case Offer::owner: break;
  }
  return " -x";
}

std::string option_line(std::string_view verb, const Option& option) {
  std::string line =
      fmt::format("complete -c rlock -n {}", quoted_for_fish(fmt::format("__rlock_verb {}", verb)));
  for (const char letter : letters(option)) line += fmt::format(" -s {}", letter);
  for (const std::string_view name : long_names(option)) line += fmt::format(" -l {}", name);
  if (!option.value.empty()) line += offered(option.offer, option.choices);
  const std::string_view help = option.help.empty() ? option.manual : option.help;
  if (!help.empty()) line += " -d " + quoted_for_fish(help.substr(0, help.find('.')));
  return line + "\n";
}

}  // namespace

std::string fish_completion() {
  std::string text{kHead};
  for (const std::string& noun : nouns())
    text += fmt::format("complete -c rlock -n __rlock_words -a {} -d {}\n", noun,
                        quoted_for_fish(about_noun(noun)));
  for_each_verb([&](const VerbEntry& entry, const Declaration& told) {
    const std::size_t blank = entry.name.find(' ');
    text += fmt::format("\n# rlock {}\n", entry.name);
    if (blank != std::string_view::npos)
      text += fmt::format("complete -c rlock -n {} -a {} -d {}\n",
                          quoted_for_fish(fmt::format("__rlock_words {}", entry.name.substr(0, blank))),
                          entry.name.substr(blank + 1), quoted_for_fish(entry.summary));
    for (const Option& option : offered_options(told)) text += option_line(entry.name, option);
    for (const Operand& operand : told.operands) {
      const std::string line = offered(operand.offer, operand.choices);
      if (line != " -x")
        text += fmt::format("complete -c rlock -n {}{}\n",
                            quoted_for_fish(fmt::format("__rlock_verb {}", entry.name)), line);
    }
    if (told.command_follows)
      text += fmt::format("complete -c rlock -n {} -x -a '(__fish_complete_subcommand)'\n",
                          quoted_for_fish(fmt::format("__rlock_verb {}", entry.name)));
  });
  return text;
}

}  // namespace rlock
