#compdef rlock
# zsh completion for rlock, also printed by: rlock completion zsh

# Asks rlock for the candidates. The words up to the cursor go to stdin (cmd/app/shell_line.h).
_rlock() {
  local program=rlock kind
  local -a answer
  local -i count
  (( $+commands[rlock] + $+functions[rlock] )) || program=${${(Q)words[1]}/#\~\//$HOME/}
  answer=("${(@f)$(printf '%s\0' "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" | "$program" complete zsh 2>/dev/null)}")
  kind=${answer[1]%% *} count=${answer[1]##* }
  shift answer
  case $kind in
    command)  # the command completes as it would without rlock
      shift $count words
      (( CURRENT -= count ))
      if (( CURRENT == 1 )); then _command_names -e; else _normal; fi
      ;;
    words)
      compset -p $count
      _describe 'rlock' answer
      ;;
    files)
      compset -p $count
      _files
      ;;
    folders)
      compset -p $count
      _files -/
      ;;
    *) return 1 ;;
  esac
}

# If a user sources this file, it registers the function. If zsh finds it in $fpath, it calls the function.
if [[ $funcstack[1] == _rlock ]]; then
  _rlock "$@"
else
  compdef _rlock rlock
fi
