# bash completion for rlock, also printed by: rlock completion bash
# shellcheck shell=bash

# Asks rlock for the candidates. The line and its words go to stdin; the candidates come quoted (cmd/app/shell_line.h).
_rlock() {
  local lines=() line program=rlock
  COMPREPLY=()
  type -t rlock >/dev/null || program=${COMP_WORDS[0]/#\~\//$HOME/}
  mapfile -t lines < <(printf '%s\0' "${COMP_LINE:0:COMP_POINT}" "${COMP_WORDS[@]:0:COMP_CWORD+1}" |
    "$program" complete bash 2>/dev/null)
  case ${lines[0]-} in
    words*) COMPREPLY=("${lines[@]:1}") ;;
    # readline quotes names of files. compopt fails if no TAB was pressed.
    files*) compopt -o default 2>/dev/null || : ;;
    folders*) compopt -o dirnames 2>/dev/null || : ;;
    command*)
      # The command completes as it would without rlock, if bash-completion is installed.
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
