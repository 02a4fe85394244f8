#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "cmd/cli/completion.h"
#include "cmd/cli/completion_words.h"
#include "cmd/server/server_options.h"

namespace rlock {
namespace {

constexpr std::string_view kHead = R"fish(# fish completion for rlock, written by: rlock completion fish

# The words before the cursor, without the name of the program and the options that stand before the verb.
function __rlock_typed
    set -l words (commandline -opc)
    set -e words[1]
    while set -q words[1]; and string match -q -- '-*' $words[1]
        contains -- $words[1] @VALUED@; and set -e words[1]
        set -e words[1]
    end
    set -q words[1]; and printf '%s\n' $words
end

# What has been typed of the command behind rlock run, its name first; status 1 where it has not begun.
function __rlock_command
    set -l words (__rlock_typed)
    test "$words[1]" = run; or return 1
    set -e words[1]
    while set -q words[1]
        switch $words[1]
            case --
                set -e words[1]
                set -q words[1]; and printf '%s\n' $words
                return 0
            case '-*'
                # Of a bundle the last letter may take a value.
                set -l name (string replace -r -- '^-[^-].*(.)$' '-$1' $words[1])
                contains -- $name @RUN_VALUED@; and set -e words[1]
            case '*'
                printf '%s\n' $words
                return 0
        end
        set -e words[1]
    end
    return 1
end

function __rlock_runs
    set -l words (__rlock_typed)
    test "$words[1]" = run
end

# Completes that command as it would be alone.
function __rlock_complete_command
    set -l words (__rlock_command)
    set -l current (commandline -ct)
    # Where none has begun this may still become an option of ours.
    set -q words[1]; or not string match -q -- '-*' "$current"; or return
    complete --do-complete=(string join -- ' ' (string escape -- $words) $current)
end

# Is this the verb of the command line, and do its options still go on?
function __rlock_verb
    set -l words (__rlock_typed)
    test (count $words) -ge (count $argv); or return 1
    for i in (seq (count $argv))
        test "$words[$i]" = "$argv[$i]"; or return 1
    end
    not contains -- -- $words; and not __rlock_command >/dev/null
end

# Have exactly these words been typed?
function __rlock_words
    set -l words (__rlock_typed)
    test "$words" = "$argv"
end

# What rlock knows of the server that the command line names, or else of the one that it would ask.
function __rlock_ask
    set -l words (commandline -opc)
    set -l urls
    set -l more
    for i in (seq (count $words))
        set -l next (math $i + 1)
        switch $words[$i]
            case --
                break
            case -u --url
                set -a urls $words[$next]
            case '-u*'
                set -a urls (string replace -- -u '' $words[$i])
            case '--url=*'
                set -a urls (string replace -- --url= '' $words[$i])
            case @PASSED@
                set -q words[$next]; and set -a more $words[$i]=$words[$next]
            case @PASSED=@ @SWITCHES@
                set -a more $words[$i]
        end
    end
    # A URL may hold a password: everybody can read arguments.
    set -q urls[1]; and set -lx RLOCK_URL "$urls"
    rlock inspect $more --connect-timeout 500ms --command-timeout 500ms $argv 2>/dev/null </dev/null
end

# Keys; `numbers`: also those of idle pools, semaphores and latches.
function __rlock_keys
    string match -qr -- '(^| )--(permits|count|type[ =]permit)' (commandline -opc | string join ' '); and set argv numbers
    __rlock_ask --completion $argv
end

# The owners that hold the KEY that has been typed.
function __rlock_owners
    set -l words (__rlock_typed)
    contains -- $words[1] @NOUNS@; and set -e words[1]
    set -e words[1]
    set -l key
    while set -q words[1]
        switch $words[1]
            case -k --key
                set key $words[2]
                break
            case '--key=*'
                set key (string replace -- --key= '' $words[1])
                break
            case '-*'
                contains -- $words[1] @ALL_VALUED@; and set -e words[1]
            case '*'
                test -n "$key"; or set key $words[1]
        end
        set -e words[1]
    end
    test -n "$key"; and __rlock_ask --completion owners --key=$key
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
    case Offer::choices:
    case Offer::examples: return " -x -a " + quoted_for_fish(choices);
    case Offer::file: return " -r -F";
    case Offer::folder: return " -x -a '(__fish_complete_directories)'";
    case Offer::key: return " -x -a '(__rlock_keys keys)'";
    case Offer::counter: return " -x -a '(__rlock_keys numbers)'";
    case Offer::owner: return " -x -a '(__rlock_owners)'";
    case Offer::profile: return " -x -a '(__rlock_ask --completion profiles)'";
    case Offer::command: return " -x -a '(__fish_complete_command)'";
    case Offer::nothing: break;
  }
  return " -x";
}

/// `condition`: when it is offered.
std::string option_line(std::string_view condition, const Option& option) {
  std::string line = fmt::format("complete -c rlock -n {}", quoted_for_fish(condition));
  for (const char letter : letters(option)) line += fmt::format(" -s {}", letter);
  for (const std::string_view name : long_names(option)) line += fmt::format(" -l {}", name);
  if (takes_next_word(option)) line += offered(option.offer, option.choices);
  if (!option.alone.empty()) line += " -a " + quoted_for_fish(option.choices);
  const std::string_view help = option.help.empty() ? option.manual : option.help;
  if (!help.empty()) line += " -d " + quoted_for_fish(help.substr(0, help.find('.')));
  return line + "\n";
}

/// What may stand where no verb has been typed.
std::string first_words() {
  VerbSpec before_verb;
  ServerOptions unused;
  declare_server_options(before_verb, unused);
  std::string text;
  for (const auto& group : before_verb.groups) {
    for (const Option& option : group.options) text += option_line("__rlock_words", option);
  }
  for (const std::string& noun : nouns())
    text += fmt::format("complete -c rlock -n __rlock_words -a {} -d {}\n", noun,
                        quoted_for_fish(about_noun(noun)));
  return text;
}

std::string words_of(const VerbEntry& entry, const VerbSpec& spec) {
  std::string text = fmt::format("\n# rlock {}\n", entry.name);
  const std::size_t blank = entry.name.find(' ');
  if (blank != std::string_view::npos)
    text += fmt::format("complete -c rlock -n {} -a {} -d {}\n",
                        quoted_for_fish(fmt::format("__rlock_words {}", entry.name.substr(0, blank))),
                        entry.name.substr(blank + 1), quoted_for_fish(entry.summary));
  const std::string condition = fmt::format("__rlock_verb {}", entry.name);
  for (const Option& option : offered_options(spec)) text += option_line(condition, option);
  for (const Operand& operand : spec.operands) {
    const std::string line = offered(operand.offer, operand.choices);
    if (line != " -x") text += fmt::format("complete -c rlock -n {}{}\n", quoted_for_fish(condition), line);
  }
  return text;
}

/// The options of all verbs that take a value.
std::string all_valued() {
  std::set<std::string> names;
  for_each_verb([&](const VerbEntry&, const VerbSpec& spec) {
    for (const std::string& name : valued_words(spec)) names.insert(name);
  });
  return joined({names.begin(), names.end()}, " ");
}

std::string valued_of_run() {
  const auto run = find_verb("run")->make();
  return joined(valued_words(run->spec()), " ");
}

}  // namespace

std::string fish_completion() {
  const ServerWords server = server_words();
  std::string text = filled(std::string{kHead}, {{"@PASSED@", joined(server.passed, " ")},
                                                 {"@PASSED=@", "'" + joined(server.passed, "=*' '") + "=*'"},
                                                 {"@SWITCHES@", joined(server.passed_switches, " ")},
                                                 {"@VALUED@", joined(server.valued, " ")},
                                                 {"@RUN_VALUED@", valued_of_run()},
                                                 {"@ALL_VALUED@", all_valued()},
                                                 {"@NOUNS@", joined(nouns_with_verbs(), " ")}});
  text += first_words();
  for_each_verb([&](const VerbEntry& entry, const VerbSpec& spec) { text += words_of(entry, spec); });
  return text +
         "\n# The command of rlock run, behind -- or the first word that is no option.\n"
         "complete -c rlock -n __rlock_runs -x -a '(__rlock_complete_command)'\n";
}

}  // namespace rlock
