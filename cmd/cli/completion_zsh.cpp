#include <fmt/format.h>

#include "base/text.h"
#include "cmd/cli/completion.h"
#include "cmd/cli/completion_words.h"

namespace rlock {
namespace {

constexpr std::string_view kHead = R"zsh(#compdef rlock
# zsh completion for rlock, written by: rlock completion zsh

# What rlock knows of the server that the command line names, or else of the one that it would ask.
_rlock_ask() {
  local -a urls more
  local i
  for ((i = 2; i < typed_at; i++)); do
    case $typed[i] in
      --) break ;;
      -u | --url) urls+=("${(Q)typed[++i]}") ;;
      -u?*) urls+=("${(Q)typed[i]#-u}") ;;
      --url=*) urls+=("${(Q)typed[i]#*=}") ;;
      @PASSED@) ((++i < typed_at)) && more+=("${typed[i - 1]}=${(Q)typed[i]}") ;;
      @PASSED=@) more+=("${(Q)typed[i]}") ;;
      @SWITCHES@) more+=("$typed[i]") ;;
    esac
  done
  # A URL may hold a password: everybody can read arguments.
  (($#urls)) && local -x RLOCK_URL="$urls"
  rlock inspect $more --connect-timeout 500ms --command-timeout 500ms "$@" 2>/dev/null </dev/null
}

_rlock_add() {
  local -a found
  found=("${(@f)$(_rlock_ask "$@")}")
  compadd -a found
}

_rlock_keys() {
  case " $typed " in
    *' --permits'* | *' --count'* | *' --type permit '* | *' --type=permit '*) _rlock_add --completion numbers ;;
    *) _rlock_add --completion keys ;;
  esac
}

# Also those of idle pools, semaphores and latches.
_rlock_numbers() { _rlock_add --completion numbers }

_rlock_profiles() { _rlock_add --completion profiles }

# The owners that hold the KEY that has been typed.
_rlock_owners() {
  local key=${opt_args[-k]:-${opt_args[--key]:-$line[1]}}
  [[ -n $key ]] && _rlock_add --completion owners --key="${(Q)key}"
}

)zsh";

/// Text inside the brackets and between the colons of a specification of _arguments.
std::string escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\n') {
      escaped += ' ';
      continue;
    }
    if (std::string_view{"[]:\\"}.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string action(Offer offer, std::string_view choices) {
  switch (offer) {
    case Offer::choices:
    case Offer::examples: return fmt::format("({})", choices);
    case Offer::file: return "_files";
    case Offer::folder: return "_files -/";
    case Offer::key: return "_rlock_keys";
    case Offer::counter: return "_rlock_numbers";
    case Offer::owner: return "_rlock_owners";
    case Offer::profile: return "_rlock_profiles";
    case Offer::command: return "_command_names -e";
    case Offer::nothing: break;
  }
  return "( )";
}

std::string specification(const Option& option) {
  const std::vector<std::string> names = spelled_names(option);
  const std::string_view help = option.help.empty() ? option.manual : option.help;
  // A screen has room for one line.
  std::string rest = fmt::format("[{}]", escaped(help.substr(0, help.find_first_of(".\n"))));
  if (!option.value.empty())
    rest += fmt::format("{}:{}:{}", option.alone.empty() ? "" : ":", escaped(option.value),
                        action(option.offer, option.choices));
  std::string text;
  for (const std::string& name : names) {
    // "-w+": the value may stand in the same word or the next; "--wait=": also behind an equals sign; "--export=-": only there.
    const std::string_view glue = option.value.empty()   ? ""
                                  : name.size() == 2     ? "+"
                                  : option.alone.empty() ? "="
                                                         : "=-";
    text += fmt::format("        {} \\\n", single_quoted(fmt::format("*{}{}{}", name, glue, rest)));
  }
  return text;
}

std::string arguments(const VerbSpec& spec) {
  std::string text = "      _arguments -s -S \\\n";
  for (const Option& option : offered_options(spec)) text += specification(option);
  for (const Operand& operand : spec.operands) {
    text += fmt::format("        {} \\\n",
                        single_quoted(fmt::format("{}:{}:{}", operand.many ? "*" : "", escaped(operand.name),
                                                  action(operand.offer, operand.choices))));
  }
  if (spec.command_follows)
    text += fmt::format("        '(-){}:command:_command_names -e' '*::arguments:_normal' \\\n",
                        spec.operands.size() + 1);
  return text + "        && ret=0\n      ;;\n";
}

std::string noun_function() {
  std::string text = "_rlock_verbs() {\n  local -a verbs\n  case $1 in\n";
  for (const std::string& noun : nouns()) {
    std::string lines;
    for (const VerbEntry& entry : verbs()) {
      if (entry.name.starts_with(noun + " "))
        lines += " " + single_quoted(
                           fmt::format("{}:{}", entry.name.substr(noun.size() + 1), escaped(entry.summary)));
    }
    if (!lines.empty()) text += fmt::format("    {}) verbs=({}) ;;\n", noun, lines.substr(1));
  }
  return text + "  esac\n  _describe verb verbs\n}\n\n";
}

constexpr std::string_view kTail = R"zsh(_rlock() {
  local ret=1 verb typed_at=$CURRENT line state
  local -a nouns typed valued
  local -A opt_args
  typed=("${words[@]}")
  valued=(@VALUED@)
  nouns=(
@NOUNS@  )
  # Options of every verb may stand before it.
  while ((CURRENT > 2)) && [[ $words[2] == -* ]]; do
    if ((!$valued[(Ie)$words[2]])); then
      words[2]=()
      ((CURRENT--))
    elif ((CURRENT == 3)); then
      _rlock_arguments inspect
      return
    else
      words[2,3]=()
      ((CURRENT -= 2))
    fi
  done
  if ((CURRENT == 2)); then
    if [[ $words[2] == -* ]]; then
      compadd -- @OPTIONS@ && ret=0
    else
      _describe verb nouns && ret=0
    fi
    return ret
  fi
  verb=$words[2]
  shift words
  ((CURRENT--))
  case $verb in
    @PAIRS@)
      if ((CURRENT == 2)); then
        _rlock_verbs $verb
        return
      fi
      verb+=" $words[2]"
      shift words
      ((CURRENT--))
      ;;
  esac
  _rlock_arguments $verb
}

# Sourced, it registers itself; found in $fpath, it is called.
if [[ $funcstack[1] == _rlock ]]; then
  _rlock "$@"
else
  compdef _rlock rlock
fi
)zsh";

std::string arguments_function() {
  std::string text = "# What may stand behind a verb.\n_rlock_arguments() {\n  local ret=1\n  case $1 in\n";
  for_each_verb([&](const VerbEntry& entry, const VerbSpec& spec) {
    text += fmt::format("    {})\n{}", single_quoted(entry.name), arguments(spec));
  });
  return text + "  esac\n  return ret\n}\n\n";
}

}  // namespace

std::string zsh_completion() {
  const ServerWords server = server_words();
  std::string lines;
  for (const std::string& noun : nouns())
    lines += "    " + single_quoted(fmt::format("{}:{}", noun, escaped(about_noun(noun)))) + "\n";
  return filled(std::string{kHead} + noun_function() + arguments_function() + std::string{kTail},
                {{"@PASSED@", joined(server.passed, " | ")},
                 {"@PASSED=@", joined(server.passed, "=* | ") + "=*"},
                 {"@SWITCHES@", joined(server.passed_switches, " | ")},
                 {"@VALUED@", joined(server.valued, " ")},
                 {"@OPTIONS@", joined(server.all, " ")},
                 {"@NOUNS@", lines},
                 {"@PAIRS@", joined(nouns_with_verbs(), " | ")}});
}

}  // namespace rlock
