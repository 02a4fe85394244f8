# bash completion for rlock, also printed by: rlock completion bash
# shellcheck shell=bash

# Asks rlock what may be typed: the line and its words go to stdin, the answer comes quoted (cmd/cli/complete_text.h).
_rlock() {
  local lines=() line program=rlock
  COMPREPLY=()
  type -t rlock >/dev/null || program=${COMP_WORDS[0]/#\~\//$HOME/}
  mapfile -t lines < <(printf '%s\0' "${COMP_LINE:0:COMP_POINT}" "${COMP_WORDS[@]:0:COMP_CWORD+1}" |
    "$program" complete bash 2>/dev/null)
  case ${lines[0]-} in
    words*) COMPREPLY=("${lines[@]:1}") ;;
    # readline knows how to quote names of files. (The error: no TAB was pressed.)
    files*) compopt -o default 2>/dev/null || : ;;
    folders*) compopt -o dirnames 2>/dev/null || : ;;
    command*)
      # It completes as it would alone, where bash-completion is there to ask.
      if declare -F _command_offset >/dev/null; then
        _command_offset "${lines[0]#* }"
      elif [[ ${lines[0]#* } == "$COMP_CWORD" ]]; then
        while IFS= read -r line; do
          printf -v line %q "$line"
          COMPREPLY+=("$line")
        done < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
      else
        compopt -o default 2>/dev/null || :
      fi
      ;;
  esac
}

complete -o bashdefault -F _rlock rlock
