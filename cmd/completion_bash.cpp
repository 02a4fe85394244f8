#include <fmt/format.h>

#include "base/text.h"
#include "cmd/completion.h"
#include "cmd/completion_words.h"

namespace rlock {
namespace {

constexpr std::string_view kHead = R"bash(# bash completion for rlock, written by: rlock completion bash
# shellcheck shell=bash

# The keys of the server that the command line names, or else of the one that rlock would ask.
_rlock_keys() {
  local server=() i
  for ((i = 1; i < ${#words[@]} - 1; i++)); do
    case ${words[i]} in
      -u | --url) server+=("${words[i + 1]}") ;;
      --url=*) server+=("${words[i]#*=}") ;;
    esac
  done
  # A URL may hold a password: everybody can read arguments.
  ((${#server[@]} == 0)) || local -x RLOCK_URL="${server[*]}"
  rlock inspect --completion --connect-timeout 500ms --command-timeout 500ms 2>/dev/null </dev/null
}

# Offers the lines of stdin that begin with what has been typed, quoted: bash would execute what a key says. Readline
# replaces only what stands behind the last ':' or '=' of a word: what stands before it is taken off.
_rlock_offer() {
  local line word
  while IFS= read -r line; do
    printf -v word %q "$line"
    [[ $word == "$cur"* ]] && COMPREPLY+=("${word#"$kept"}")
  done
}

# Leaves the names of files or folders to readline, which knows how to quote them. (The error: no TAB was pressed.)
_rlock_leave_to_readline() { compopt -o "$1" 2>/dev/null; }

)bash";

/// How to offer what may stand for a value: a line of bash.
std::string offer(Offer offer, std::string_view choices) {
  switch (offer) {
    case Offer::choices: return fmt::format("_rlock_offer < <(compgen -W {})", single_quoted(choices));
    case Offer::file: return "_rlock_leave_to_readline default";
    case Offer::folder: return "_rlock_leave_to_readline dirnames";
    case Offer::key: return "_rlock_offer < <(_rlock_keys)";
    case Offer::command: return "_rlock_offer < <(compgen -c -- \"$cur\")";
    case Offer::nothing:
    case Offer::owner: break;
  }
  return "";
}

/// `valued`: the options of each verb that take a value; `offered`: all of them.
std::string options_function() {
  std::string text =
      "# What may stand behind a verb: all options, and those that take a value.\n_rlock_options() {\n  case $1 in\n";
  for_each_verb([&](const VerbEntry& entry, const Declaration& told) {
    std::vector<std::string> all, valued;
    for (const Option& option : offered_options(told)) {
      for (const std::string& name : spelled_names(option)) {
        all.push_back(name);
        if (!option.value.empty()) valued.push_back(name);
      }
    }
    text += fmt::format("    {})\n      offered='{}'\n      valued=' {} '\n      ;;\n",
                        single_quoted(entry.name), joined(all, " "), joined(valued, " "));
  });
  return text + "  esac\n}\n\n";
}

/// Offers what may be the value of an option.
std::string values_function() {
  std::string text =
      "# Offers what an option of a verb may be given.\n_rlock_values() {\n  case \"$1 $2\" in\n";
  for_each_verb([&](const VerbEntry& entry, const Declaration& told) {
    for (const Option& option : offered_options(told)) {
      const std::string line = offer(option.offer, option.choices);
      if (line.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : spelled_names(option))
        patterns.push_back(fmt::format("'{} {}'", entry.name, name));
      text += fmt::format("    {}) {} ;;\n", joined(patterns, " | "), line);
    }
  });
  return text + "  esac\n}\n\n";
}

/// Offers what may be the n-th operand of a verb.
std::string operands_function() {
  std::string text =
      "# Offers what the n-th operand of a verb may be.\n_rlock_operands() {\n  case \"$1 $2\" in\n";
  for_each_verb([&](const VerbEntry& entry, const Declaration& told) {
    for (std::size_t i = 0; i < told.operands.size(); ++i) {
      const std::string line = offer(told.operands[i].offer, told.operands[i].choices);
      if (line.empty()) continue;
      text += fmt::format("    '{} {}'{}) {} ;;\n", entry.name, i,
                          told.operands[i].many ? fmt::format(" | '{} '*", entry.name) : "", line);
    }
  });
  return text + "  esac\n}\n\n";
}

/// The second words behind a noun.
std::string verbs_function() {
  std::string text = "# The verbs of a noun.\n_rlock_verbs() {\n  case $1 in\n";
  for (const std::string& noun : nouns()) {
    std::vector<std::string> words;
    for (const VerbEntry& entry : verbs()) {
      if (entry.name.starts_with(noun + " ")) words.emplace_back(entry.name.substr(noun.size() + 1));
    }
    if (!words.empty()) text += fmt::format("    {}) echo '{}' ;;\n", noun, joined(words, " "));
  }
  return text + "  esac\n}\n\n";
}

constexpr std::string_view kTail = R"bash(
_rlock() {
  local cur kept='' words=() rest=${COMP_LINE:0:COMP_POINT} before i verb next operands=0 offered='' valued='' previous=''
  COMPREPLY=()
  # Puts together what readline has taken apart at ':' and '=': no blank stands between.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    before=$rest
    rest=${rest#"${rest%%[![:blank:]]*}"}
    next=${COMP_WORDS[i]}
    ((i == COMP_CWORD)) && next=$rest
    if ((i > 0)) && [[ $before == "$rest" ]]; then
      words[${#words[@]} - 1]+=$next
    else
      words+=("$next")
    fi
    rest=${rest#"$next"}
  done
  cur=${words[${#words[@]} - 1]}
  case $next in : | =) kept=$cur ;; *) kept=${cur%"$next"} ;; esac

  if ((${#words[@]} == 2)); then
    _rlock_offer < <(printf '%s\n' @NOUNS@ --help --version)
    return
  fi
  verb=${words[1]}
  i=2
  if [[ -n $(_rlock_verbs "$verb") ]]; then
    if ((${#words[@]} == 3)); then
      # shellcheck disable=SC2046
      _rlock_offer < <(printf '%s\n' $(_rlock_verbs "$verb") --help)
      return
    fi
    verb+=" ${words[2]}"
    i=3
  fi
  _rlock_options "$verb"

  for (( ; i < ${#words[@]} - 1; i++)); do
    case ${words[i]} in
      --) break ;;
      --*=*) ;;
      -*)
        # Of a bundle the last letter may take a value.
        next=${words[i]}
        [[ $next == --* ]] || next=-${next: -1}
        [[ $valued == *" $next "* ]] && ((++i)) && previous=$next
        ;;
      *)
        [[ $verb == run ]] && break
        ((operands++))
        ;;
    esac
    ((i < ${#words[@]} - 1)) && previous=''
  done

  if [[ -n $previous ]]; then
    _rlock_values "$verb" "$previous"
  elif [[ $verb == run && $i -lt $((${#words[@]} - 1)) || $verb == run && $cur != -* ]]; then
    _rlock_command "$i"
  elif [[ $cur == --*=* ]]; then
    previous=${cur%%=*}
    cur=${cur#*=}
    kept=${kept#*=}
    _rlock_values "$verb" "$previous"
  elif [[ $cur == -* ]]; then
    # shellcheck disable=SC2086
    _rlock_offer < <(printf '%s\n' $offered)
  else
    _rlock_operands "$verb" "$operands"
  fi
}

# The command behind rlock run completes as it would alone, where bash-completion is there to ask.
_rlock_command() {
  local first=$1
  [[ ${words[first]} == -- ]] && ((first++))
  if declare -F _command_offset >/dev/null; then
    _command_offset "$first"
  elif ((first == ${#words[@]} - 1)); then
    _rlock_offer < <(compgen -c -- "$cur")
  else
    _rlock_leave_to_readline default
  fi
}

complete -o bashdefault -F _rlock rlock
)bash";

}  // namespace

std::string bash_completion() {
  std::string text{kHead};
  text += verbs_function() + options_function() + values_function() + operands_function();
  std::string tail{kTail};
  constexpr std::string_view kPlace = "@NOUNS@";
  tail.replace(tail.find(kPlace), kPlace.size(), joined(nouns(), " "));
  return text + tail.substr(1);
}

}  // namespace rlock
