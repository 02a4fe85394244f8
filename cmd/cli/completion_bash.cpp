#include <fmt/format.h>

#include "base/text.h"
#include "cmd/cli/completion.h"
#include "cmd/cli/completion_words.h"

namespace rlock {
namespace {

constexpr std::string_view kHead = R"bash(# bash completion for rlock, written by: rlock completion bash
# shellcheck shell=bash

# A word as the shell would read it, as far as that is certain.
_rlock_plain() {
  local word=$1
  case $word in
    \'*\' | \"*\") word=${word:1:${#word}-2} ;;
    \~/*) word=$HOME/${word:2} ;;
    *) word=${word//\\/} ;;
  esac
  printf '%s' "$word"
}

# What rlock knows of the server that the command line names, or else of the one that it would ask.
_rlock_ask() {
  local urls=() more=() i
  for ((i = 1; i < ${#words[@]} - 1; i++)); do
    case ${words[i]} in
      --) break ;;
      -u | --url) urls+=("$(_rlock_plain "${words[++i]}")") ;;
      -u?*) urls+=("$(_rlock_plain "${words[i]#-u}")") ;;
      --url=*) urls+=("$(_rlock_plain "${words[i]#*=}")") ;;
      @PASSED@) ((++i < ${#words[@]} - 1)) && more+=("${words[i - 1]}=$(_rlock_plain "${words[i]}")") ;;
      @PASSED=@) more+=("${words[i]%%=*}=$(_rlock_plain "${words[i]#*=}")") ;;
      @SWITCHES@) more+=("${words[i]}") ;;
    esac
  done
  # A URL may hold a password: everybody can read arguments.
  ((${#urls[@]} == 0)) || local -x RLOCK_URL="${urls[*]}"
  rlock inspect "${more[@]}" --connect-timeout 500ms --command-timeout 500ms "$@" 2>/dev/null </dev/null
}

# Keys; `numbers`: also those of idle pools, semaphores and latches.
_rlock_keys() {
  case " ${words[*]} " in *' --permits'* | *' --count'* | *' --type permit '* | *' --type=permit '*) set -- numbers ;; esac
  _rlock_ask --completion "$1"
}

# The owners that hold the KEY that has been typed.
_rlock_owners() { [[ -z $key ]] || _rlock_ask --completion owners --key="$(_rlock_plain "$key")"; }

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
    case Offer::choices:
    case Offer::examples: return fmt::format("_rlock_offer < <(compgen -W {})", single_quoted(choices));
    case Offer::file: return "_rlock_leave_to_readline default";
    case Offer::folder: return "_rlock_leave_to_readline dirnames";
    case Offer::key: return "_rlock_offer < <(_rlock_keys keys)";
    case Offer::counter: return "_rlock_offer < <(_rlock_keys numbers)";
    case Offer::owner: return "_rlock_offer < <(_rlock_owners)";
    case Offer::profile: return "_rlock_offer < <(_rlock_ask --completion profiles)";
    case Offer::command: return "_rlock_offer < <(compgen -c -- \"$cur\")";
    case Offer::nothing: break;
  }
  return "";
}

/// `valued`: the options of each verb that take a value; `offered`: all of them.
std::string options_function() {
  std::string text =
      "# What may stand behind a verb: all options, and those that take a value.\n_rlock_options() {\n  case $1 in\n";
  for_each_verb([&](const VerbEntry& entry, const VerbSpec& spec) {
    std::vector<std::string> all, valued;
    for (const Option& option : offered_options(spec)) {
      for (const std::string& name : spelled_names(option)) {
        all.push_back(name);
        if (takes_next_word(option)) valued.push_back(name);
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
  for_each_verb([&](const VerbEntry& entry, const VerbSpec& spec) {
    for (const Option& option : offered_options(spec)) {
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
  for_each_verb([&](const VerbEntry& entry, const VerbSpec& spec) {
    for (std::size_t i = 0; i < spec.operands.size(); ++i) {
      const std::string line = offer(spec.operands[i].offer, spec.operands[i].choices);
      if (line.empty()) continue;
      text += fmt::format("    '{} {}'{}) {} ;;\n", entry.name, i,
                          spec.operands[i].many ? fmt::format(" | '{} '*", entry.name) : "", line);
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
  local cur kept='' words=() rest=${COMP_LINE:0:COMP_POINT} before i last verb next key='' operands=0 command=-1
  local offered='' valued='@VALUED@' previous=''
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
  last=$((${#words[@]} - 1))
  cur=${words[last]}
  case $next in : | =) kept=$cur ;; *) kept=${cur%"$next"} ;; esac

  # Options of every verb may stand before it.
  for ((i = 1; i < last; i++)); do
    [[ ${words[i]} == -* ]] || break
    previous=''
    [[ $valued == *" ${words[i]} "* ]] && ((++i)) && previous=${words[i - 1]}
  done
  if ((i > last)); then
    _rlock_values inspect "$previous"
    return
  fi
  if ((i == last)); then
    if [[ $cur == -* ]]; then
      _rlock_offer < <(printf '%s\n' @OPTIONS@)
    else
      _rlock_offer < <(printf '%s\n' @NOUNS@)
    fi
    return
  fi
  verb=${words[i++]}
  if [[ -n $(_rlock_verbs "$verb") ]]; then
    if ((i == last)); then
      # shellcheck disable=SC2046
      _rlock_offer < <(printf '%s\n' $(_rlock_verbs "$verb") --help)
      return
    fi
    verb+=" ${words[i++]}"
  fi
  _rlock_options "$verb"
  case $verb in run) command=0 ;; flock) command=1 ;; esac  # operands before a command; -1: none follows

  previous=''
  for (( ; i < last; i++)); do
    case ${words[i]} in
      --) break ;;
      --key=*) key=${words[i]#*=} ;;
      --*=*) ;;
      -*)
        # Of a bundle the last letter may take a value.
        next=${words[i]}
        [[ $next == --* ]] || next=-${next: -1}
        [[ $valued == *" $next "* ]] && ((++i)) && previous=$next
        [[ $next == -k || $next == --key ]] && key=${words[i]}
        ;;
      *)
        ((operands == command)) && break
        ((operands++ == 0)) && key=${words[i]}
        ;;
    esac
    ((i < last)) && previous=''
  done

  if [[ -n $previous ]]; then
    _rlock_values "$verb" "$previous"
  elif ((operands == command)) && [[ $i -lt $last || $cur != -* ]]; then
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
  const ServerWords server = server_words();
  const std::string text = std::string{kHead} + verbs_function() + options_function() + values_function() +
                           operands_function() + std::string{kTail.substr(1)};
  return filled(text, {{"@PASSED@", joined(server.passed, " | ")},
                       {"@PASSED=@", joined(server.passed, "=* | ") + "=*"},
                       {"@SWITCHES@", joined(server.passed_switches, " | ")},
                       {"@VALUED@", " " + joined(server.valued, " ") + " "},
                       {"@OPTIONS@", joined(server.all, " ")},
                       {"@NOUNS@", joined(nouns(), " ")}});
}

}  // namespace rlock
