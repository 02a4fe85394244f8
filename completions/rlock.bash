# bash completion for rlock, written by: rlock completion bash
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
      --password-file | --user | --db | --prefix | --config | --profile | --cacert | --cacertdir | --cert | --tls-key | --sni | --connect-timeout | --command-timeout) ((++i < ${#words[@]} - 1)) && more+=("${words[i - 1]}=$(_rlock_plain "${words[i]}")") ;;
      --password-file=* | --user=* | --db=* | --prefix=* | --config=* | --profile=* | --cacert=* | --cacertdir=* | --cert=* | --tls-key=* | --sni=* | --connect-timeout=* | --command-timeout=*) more+=("${words[i]%%=*}=$(_rlock_plain "${words[i]#*=}")") ;;
      --tls | --insecure) more+=("${words[i]}") ;;
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

# The verbs of a noun.
_rlock_verbs() {
  case $1 in
    lock) echo 'acquire release renew status wait' ;;
    permit) echo 'init add acquire release renew status delete' ;;
    sem) echo 'init acquire release add drain status delete' ;;
    latch) echo 'set down wait status delete' ;;
    server) echo 'start stop status' ;;
    scripts) echo 'list show load' ;;
    completion) echo 'bash zsh fish' ;;
  esac
}

# What may stand behind a verb: all options, and those that take a value.
_rlock_options() {
  case $1 in
    'run')
      offered='-k --key -s --shared --read -x --exclusive --write --fair --fenced --permits --count --type --owner -c --command -n --nonblock -w --wait -E --conflict-exit-code --queue-limit --if-unreachable --lease --max-hold --min-hold --once-per --no-renew --until --signal --kill-after --lost-grace --on-lost --reason --label --show-args --status-file --status-fd -q --quiet -v --verbose --on-deadlock --sync-replicas --sync-timeout --backoff --scrub-password --quorum -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -h --help -V --version'
      valued=' -k --key --permits --count --type --owner -c --command -w --wait -E --conflict-exit-code --queue-limit --if-unreachable --lease --max-hold --min-hold --once-per --until --signal --kill-after --lost-grace --on-lost --reason --label --status-file --status-fd --on-deadlock --sync-replicas --sync-timeout --backoff --quorum -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'flock')
      offered='-s --shared -x -e --exclusive -n --nb --nonblock -w --wait --timeout -E --conflict-exit-code --if-unreachable -o --close -F --no-fork -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -w --wait --timeout -E --conflict-exit-code --if-unreachable -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'lock acquire')
      offered='-k --key --lease -s --shared --read -x --exclusive --write --fair --fenced --type --owner --again --while-pid --on-lost --signal -n --nonblock -w --wait -E --conflict-exit-code --queue-limit --reason --label --export --json --sync-replicas --sync-timeout -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key --lease --type --owner --while-pid --on-lost --signal -w --wait -E --conflict-exit-code --queue-limit --reason --label --sync-replicas --sync-timeout -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'lock release')
      offered='-k --key --owner --type -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key --owner --type -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'lock renew')
      offered='-k --key --owner --type --lease -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key --owner --type --lease -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'lock status')
      offered='-k --key --owner --type -q --quiet -v --verbose --json -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -h --help -V --version'
      valued=' -k --key --owner --type -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'lock wait')
      offered='-k --key -n --nonblock -w --wait -E --conflict-exit-code -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key -w --wait -E --conflict-exit-code -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'permit init')
      offered='-k --key -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'permit add')
      offered='-k --key -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'permit acquire')
      offered='-k --key --lease --count -n --nonblock -w --wait -E --conflict-exit-code --json -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key --lease --count -w --wait -E --conflict-exit-code -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'permit release')
      offered='-k --key -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'permit renew')
      offered='-k --key --lease -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key --lease -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'permit status')
      offered='-k --key --json -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'permit delete')
      offered='-k --key -y --yes -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'sem init')
      offered='-k --key --expire -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key --expire -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'sem acquire')
      offered='-k --key --count --await-init -n --nonblock -w --wait -E --conflict-exit-code -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key --count -w --wait -E --conflict-exit-code -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'sem release')
      offered='-k --key --count -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key --count -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'sem add')
      offered='-k --key -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'sem drain')
      offered='-k --key --json -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'sem status')
      offered='-k --key --json -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'sem delete')
      offered='-k --key -y --yes -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'latch set')
      offered='-k --key --expire -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key --expire -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'latch down')
      offered='-k --key --by -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key --by -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'latch wait')
      offered='-k --key --absent-ok --await-set -n --nonblock -w --wait -E --conflict-exit-code -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key -w --wait -E --conflict-exit-code -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'latch status')
      offered='-k --key --json -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'latch delete')
      offered='-k --key -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'list')
      offered='--all --scan-time --state --type --host --older --sort --json -q --quiet -v --verbose -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -h --help -V --version'
      valued=' --scan-time --state --type --host --older --sort -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'metrics')
      offered='--all --scan-time -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' --scan-time -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'top')
      offered='--all --scan-time --every -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' --scan-time --every -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'inspect')
      offered='-k --key --json -q --quiet -v --verbose -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -h --help -V --version'
      valued=' -k --key -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'history')
      offered='-k --key -n --lines --json -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key -n --lines -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'stop')
      offered='-k --key --reason --if-owner -w --wait -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key --reason --if-owner -w --wait -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'unlock')
      offered='-k --key --if-owner --type -y --yes --reason --json -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -k --key --if-owner --type --reason -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'config')
      offered='--json -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'doctor')
      offered='--json -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'server start')
      offered='-q --quiet -v --verbose -h --help -V --version'
      valued='  '
      ;;
    'server stop')
      offered='-q --quiet -v --verbose -h --help -V --version'
      valued='  '
      ;;
    'server status')
      offered='--json -q --quiet -v --verbose -h --help -V --version'
      valued='  '
      ;;
    'scripts list')
      offered='--json -q --quiet -v --verbose -h --help -V --version'
      valued='  '
      ;;
    'scripts show')
      offered='-q --quiet -v --verbose -h --help -V --version'
      valued='  '
      ;;
    'scripts load')
      offered='-u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'completion bash')
      offered='-q --quiet -v --verbose -h --help -V --version'
      valued='  '
      ;;
    'completion zsh')
      offered='-q --quiet -v --verbose -h --help -V --version'
      valued='  '
      ;;
    'completion fish')
      offered='-q --quiet -v --verbose -h --help -V --version'
      valued='  '
      ;;
    'help')
      offered='-q --quiet -v --verbose -h --help -V --version'
      valued='  '
      ;;
    'version')
      offered='-q --quiet -v --verbose -h --help -V --version'
      valued='  '
      ;;
  esac
}

# Offers what an option of a verb may be given.
_rlock_values() {
  case "$1 $2" in
    'run -k' | 'run --key') _rlock_offer < <(_rlock_keys keys) ;;
    'run --type') _rlock_offer < <(compgen -W 'lock read write fair fenced spin permit plain') ;;
    'run --owner') _rlock_offer < <(_rlock_owners) ;;
    'run -w' | 'run --wait') _rlock_offer < <(compgen -W 'forever') ;;
    'run --if-unreachable') _rlock_offer < <(compgen -W 'fail skip run') ;;
    'run --until') _rlock_offer < <(compgen -W 'command group') ;;
    'run --signal') _rlock_offer < <(compgen -W 'TERM INT HUP QUIT USR1 USR2 KILL') ;;
    'run --on-lost') _rlock_offer < <(compgen -W 'stop warn') ;;
    'run --status-file') _rlock_leave_to_readline default ;;
    'run --on-deadlock') _rlock_offer < <(compgen -W 'give-up wait') ;;
    'run --quorum') _rlock_offer < <(compgen -W 'majority all') ;;
    'run --password-file') _rlock_leave_to_readline default ;;
    'run --config') _rlock_leave_to_readline default ;;
    'run --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'run --cacert') _rlock_leave_to_readline default ;;
    'run --cacertdir') _rlock_leave_to_readline dirnames ;;
    'run --cert') _rlock_leave_to_readline default ;;
    'run --tls-key') _rlock_leave_to_readline default ;;
    'flock --if-unreachable') _rlock_offer < <(compgen -W 'fail skip run') ;;
    'flock --password-file') _rlock_leave_to_readline default ;;
    'flock --config') _rlock_leave_to_readline default ;;
    'flock --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'flock --cacert') _rlock_leave_to_readline default ;;
    'flock --cacertdir') _rlock_leave_to_readline dirnames ;;
    'flock --cert') _rlock_leave_to_readline default ;;
    'flock --tls-key') _rlock_leave_to_readline default ;;
    'lock acquire -k' | 'lock acquire --key') _rlock_offer < <(_rlock_keys keys) ;;
    'lock acquire --type') _rlock_offer < <(compgen -W 'lock read write fair fenced spin permit plain') ;;
    'lock acquire --owner') _rlock_offer < <(_rlock_owners) ;;
    'lock acquire --on-lost') _rlock_offer < <(compgen -W 'stop warn') ;;
    'lock acquire --signal') _rlock_offer < <(compgen -W 'TERM INT HUP QUIT USR1 USR2 KILL') ;;
    'lock acquire -w' | 'lock acquire --wait') _rlock_offer < <(compgen -W 'forever') ;;
    'lock acquire --export') _rlock_offer < <(compgen -W 'sh fish') ;;
    'lock acquire --password-file') _rlock_leave_to_readline default ;;
    'lock acquire --config') _rlock_leave_to_readline default ;;
    'lock acquire --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'lock acquire --cacert') _rlock_leave_to_readline default ;;
    'lock acquire --cacertdir') _rlock_leave_to_readline dirnames ;;
    'lock acquire --cert') _rlock_leave_to_readline default ;;
    'lock acquire --tls-key') _rlock_leave_to_readline default ;;
    'lock release -k' | 'lock release --key') _rlock_offer < <(_rlock_keys keys) ;;
    'lock release --owner') _rlock_offer < <(_rlock_owners) ;;
    'lock release --type') _rlock_offer < <(compgen -W 'lock read write fair fenced spin permit plain') ;;
    'lock release --password-file') _rlock_leave_to_readline default ;;
    'lock release --config') _rlock_leave_to_readline default ;;
    'lock release --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'lock release --cacert') _rlock_leave_to_readline default ;;
    'lock release --cacertdir') _rlock_leave_to_readline dirnames ;;
    'lock release --cert') _rlock_leave_to_readline default ;;
    'lock release --tls-key') _rlock_leave_to_readline default ;;
    'lock renew -k' | 'lock renew --key') _rlock_offer < <(_rlock_keys keys) ;;
    'lock renew --owner') _rlock_offer < <(_rlock_owners) ;;
    'lock renew --type') _rlock_offer < <(compgen -W 'lock read write fair fenced spin permit plain') ;;
    'lock renew --password-file') _rlock_leave_to_readline default ;;
    'lock renew --config') _rlock_leave_to_readline default ;;
    'lock renew --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'lock renew --cacert') _rlock_leave_to_readline default ;;
    'lock renew --cacertdir') _rlock_leave_to_readline dirnames ;;
    'lock renew --cert') _rlock_leave_to_readline default ;;
    'lock renew --tls-key') _rlock_leave_to_readline default ;;
    'lock status -k' | 'lock status --key') _rlock_offer < <(_rlock_keys keys) ;;
    'lock status --owner') _rlock_offer < <(_rlock_owners) ;;
    'lock status --type') _rlock_offer < <(compgen -W 'lock read write fair fenced spin permit plain') ;;
    'lock status --password-file') _rlock_leave_to_readline default ;;
    'lock status --config') _rlock_leave_to_readline default ;;
    'lock status --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'lock status --cacert') _rlock_leave_to_readline default ;;
    'lock status --cacertdir') _rlock_leave_to_readline dirnames ;;
    'lock status --cert') _rlock_leave_to_readline default ;;
    'lock status --tls-key') _rlock_leave_to_readline default ;;
    'lock wait -k' | 'lock wait --key') _rlock_offer < <(_rlock_keys keys) ;;
    'lock wait -w' | 'lock wait --wait') _rlock_offer < <(compgen -W 'forever') ;;
    'lock wait --password-file') _rlock_leave_to_readline default ;;
    'lock wait --config') _rlock_leave_to_readline default ;;
    'lock wait --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'lock wait --cacert') _rlock_leave_to_readline default ;;
    'lock wait --cacertdir') _rlock_leave_to_readline dirnames ;;
    'lock wait --cert') _rlock_leave_to_readline default ;;
    'lock wait --tls-key') _rlock_leave_to_readline default ;;
    'permit init -k' | 'permit init --key') _rlock_offer < <(_rlock_keys numbers) ;;
    'permit init --password-file') _rlock_leave_to_readline default ;;
    'permit init --config') _rlock_leave_to_readline default ;;
    'permit init --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'permit init --cacert') _rlock_leave_to_readline default ;;
    'permit init --cacertdir') _rlock_leave_to_readline dirnames ;;
    'permit init --cert') _rlock_leave_to_readline default ;;
    'permit init --tls-key') _rlock_leave_to_readline default ;;
    'permit add -k' | 'permit add --key') _rlock_offer < <(_rlock_keys numbers) ;;
    'permit add --password-file') _rlock_leave_to_readline default ;;
    'permit add --config') _rlock_leave_to_readline default ;;
    'permit add --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'permit add --cacert') _rlock_leave_to_readline default ;;
    'permit add --cacertdir') _rlock_leave_to_readline dirnames ;;
    'permit add --cert') _rlock_leave_to_readline default ;;
    'permit add --tls-key') _rlock_leave_to_readline default ;;
    'permit acquire -k' | 'permit acquire --key') _rlock_offer < <(_rlock_keys numbers) ;;
    'permit acquire -w' | 'permit acquire --wait') _rlock_offer < <(compgen -W 'forever') ;;
    'permit acquire --password-file') _rlock_leave_to_readline default ;;
    'permit acquire --config') _rlock_leave_to_readline default ;;
    'permit acquire --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'permit acquire --cacert') _rlock_leave_to_readline default ;;
    'permit acquire --cacertdir') _rlock_leave_to_readline dirnames ;;
    'permit acquire --cert') _rlock_leave_to_readline default ;;
    'permit acquire --tls-key') _rlock_leave_to_readline default ;;
    'permit release -k' | 'permit release --key') _rlock_offer < <(_rlock_keys numbers) ;;
    'permit release --password-file') _rlock_leave_to_readline default ;;
    'permit release --config') _rlock_leave_to_readline default ;;
    'permit release --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'permit release --cacert') _rlock_leave_to_readline default ;;
    'permit release --cacertdir') _rlock_leave_to_readline dirnames ;;
    'permit release --cert') _rlock_leave_to_readline default ;;
    'permit release --tls-key') _rlock_leave_to_readline default ;;
    'permit renew -k' | 'permit renew --key') _rlock_offer < <(_rlock_keys numbers) ;;
    'permit renew --password-file') _rlock_leave_to_readline default ;;
    'permit renew --config') _rlock_leave_to_readline default ;;
    'permit renew --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'permit renew --cacert') _rlock_leave_to_readline default ;;
    'permit renew --cacertdir') _rlock_leave_to_readline dirnames ;;
    'permit renew --cert') _rlock_leave_to_readline default ;;
    'permit renew --tls-key') _rlock_leave_to_readline default ;;
    'permit status -k' | 'permit status --key') _rlock_offer < <(_rlock_keys numbers) ;;
    'permit status --password-file') _rlock_leave_to_readline default ;;
    'permit status --config') _rlock_leave_to_readline default ;;
    'permit status --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'permit status --cacert') _rlock_leave_to_readline default ;;
    'permit status --cacertdir') _rlock_leave_to_readline dirnames ;;
    'permit status --cert') _rlock_leave_to_readline default ;;
    'permit status --tls-key') _rlock_leave_to_readline default ;;
    'permit delete -k' | 'permit delete --key') _rlock_offer < <(_rlock_keys numbers) ;;
    'permit delete --password-file') _rlock_leave_to_readline default ;;
    'permit delete --config') _rlock_leave_to_readline default ;;
    'permit delete --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'permit delete --cacert') _rlock_leave_to_readline default ;;
    'permit delete --cacertdir') _rlock_leave_to_readline dirnames ;;
    'permit delete --cert') _rlock_leave_to_readline default ;;
    'permit delete --tls-key') _rlock_leave_to_readline default ;;
    'sem init -k' | 'sem init --key') _rlock_offer < <(_rlock_keys numbers) ;;
    'sem init --password-file') _rlock_leave_to_readline default ;;
    'sem init --config') _rlock_leave_to_readline default ;;
    'sem init --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'sem init --cacert') _rlock_leave_to_readline default ;;
    'sem init --cacertdir') _rlock_leave_to_readline dirnames ;;
    'sem init --cert') _rlock_leave_to_readline default ;;
    'sem init --tls-key') _rlock_leave_to_readline default ;;
    'sem acquire -k' | 'sem acquire --key') _rlock_offer < <(_rlock_keys numbers) ;;
    'sem acquire -w' | 'sem acquire --wait') _rlock_offer < <(compgen -W 'forever') ;;
    'sem acquire --password-file') _rlock_leave_to_readline default ;;
    'sem acquire --config') _rlock_leave_to_readline default ;;
    'sem acquire --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'sem acquire --cacert') _rlock_leave_to_readline default ;;
    'sem acquire --cacertdir') _rlock_leave_to_readline dirnames ;;
    'sem acquire --cert') _rlock_leave_to_readline default ;;
    'sem acquire --tls-key') _rlock_leave_to_readline default ;;
    'sem release -k' | 'sem release --key') _rlock_offer < <(_rlock_keys numbers) ;;
    'sem release --password-file') _rlock_leave_to_readline default ;;
    'sem release --config') _rlock_leave_to_readline default ;;
    'sem release --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'sem release --cacert') _rlock_leave_to_readline default ;;
    'sem release --cacertdir') _rlock_leave_to_readline dirnames ;;
    'sem release --cert') _rlock_leave_to_readline default ;;
    'sem release --tls-key') _rlock_leave_to_readline default ;;
    'sem add -k' | 'sem add --key') _rlock_offer < <(_rlock_keys numbers) ;;
    'sem add --password-file') _rlock_leave_to_readline default ;;
    'sem add --config') _rlock_leave_to_readline default ;;
    'sem add --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'sem add --cacert') _rlock_leave_to_readline default ;;
    'sem add --cacertdir') _rlock_leave_to_readline dirnames ;;
    'sem add --cert') _rlock_leave_to_readline default ;;
    'sem add --tls-key') _rlock_leave_to_readline default ;;
    'sem drain -k' | 'sem drain --key') _rlock_offer < <(_rlock_keys numbers) ;;
    'sem drain --password-file') _rlock_leave_to_readline default ;;
    'sem drain --config') _rlock_leave_to_readline default ;;
    'sem drain --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'sem drain --cacert') _rlock_leave_to_readline default ;;
    'sem drain --cacertdir') _rlock_leave_to_readline dirnames ;;
    'sem drain --cert') _rlock_leave_to_readline default ;;
    'sem drain --tls-key') _rlock_leave_to_readline default ;;
    'sem status -k' | 'sem status --key') _rlock_offer < <(_rlock_keys numbers) ;;
    'sem status --password-file') _rlock_leave_to_readline default ;;
    'sem status --config') _rlock_leave_to_readline default ;;
    'sem status --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'sem status --cacert') _rlock_leave_to_readline default ;;
    'sem status --cacertdir') _rlock_leave_to_readline dirnames ;;
    'sem status --cert') _rlock_leave_to_readline default ;;
    'sem status --tls-key') _rlock_leave_to_readline default ;;
    'sem delete -k' | 'sem delete --key') _rlock_offer < <(_rlock_keys numbers) ;;
    'sem delete --password-file') _rlock_leave_to_readline default ;;
    'sem delete --config') _rlock_leave_to_readline default ;;
    'sem delete --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'sem delete --cacert') _rlock_leave_to_readline default ;;
    'sem delete --cacertdir') _rlock_leave_to_readline dirnames ;;
    'sem delete --cert') _rlock_leave_to_readline default ;;
    'sem delete --tls-key') _rlock_leave_to_readline default ;;
    'latch set -k' | 'latch set --key') _rlock_offer < <(_rlock_keys numbers) ;;
    'latch set --password-file') _rlock_leave_to_readline default ;;
    'latch set --config') _rlock_leave_to_readline default ;;
    'latch set --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'latch set --cacert') _rlock_leave_to_readline default ;;
    'latch set --cacertdir') _rlock_leave_to_readline dirnames ;;
    'latch set --cert') _rlock_leave_to_readline default ;;
    'latch set --tls-key') _rlock_leave_to_readline default ;;
    'latch down -k' | 'latch down --key') _rlock_offer < <(_rlock_keys numbers) ;;
    'latch down --password-file') _rlock_leave_to_readline default ;;
    'latch down --config') _rlock_leave_to_readline default ;;
    'latch down --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'latch down --cacert') _rlock_leave_to_readline default ;;
    'latch down --cacertdir') _rlock_leave_to_readline dirnames ;;
    'latch down --cert') _rlock_leave_to_readline default ;;
    'latch down --tls-key') _rlock_leave_to_readline default ;;
    'latch wait -k' | 'latch wait --key') _rlock_offer < <(_rlock_keys numbers) ;;
    'latch wait -w' | 'latch wait --wait') _rlock_offer < <(compgen -W 'forever') ;;
    'latch wait --password-file') _rlock_leave_to_readline default ;;
    'latch wait --config') _rlock_leave_to_readline default ;;
    'latch wait --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'latch wait --cacert') _rlock_leave_to_readline default ;;
    'latch wait --cacertdir') _rlock_leave_to_readline dirnames ;;
    'latch wait --cert') _rlock_leave_to_readline default ;;
    'latch wait --tls-key') _rlock_leave_to_readline default ;;
    'latch status -k' | 'latch status --key') _rlock_offer < <(_rlock_keys numbers) ;;
    'latch status --password-file') _rlock_leave_to_readline default ;;
    'latch status --config') _rlock_leave_to_readline default ;;
    'latch status --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'latch status --cacert') _rlock_leave_to_readline default ;;
    'latch status --cacertdir') _rlock_leave_to_readline dirnames ;;
    'latch status --cert') _rlock_leave_to_readline default ;;
    'latch status --tls-key') _rlock_leave_to_readline default ;;
    'latch delete -k' | 'latch delete --key') _rlock_offer < <(_rlock_keys numbers) ;;
    'latch delete --password-file') _rlock_leave_to_readline default ;;
    'latch delete --config') _rlock_leave_to_readline default ;;
    'latch delete --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'latch delete --cacert') _rlock_leave_to_readline default ;;
    'latch delete --cacertdir') _rlock_leave_to_readline dirnames ;;
    'latch delete --cert') _rlock_leave_to_readline default ;;
    'latch delete --tls-key') _rlock_leave_to_readline default ;;
    'list --state') _rlock_offer < <(compgen -W 'held kept stale free open closed') ;;
    'list --type') _rlock_offer < <(compgen -W 'lock fair fenced read-write plain semaphore permit latch') ;;
    'list --sort') _rlock_offer < <(compgen -W 'key age waiting') ;;
    'list --password-file') _rlock_leave_to_readline default ;;
    'list --config') _rlock_leave_to_readline default ;;
    'list --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'list --cacert') _rlock_leave_to_readline default ;;
    'list --cacertdir') _rlock_leave_to_readline dirnames ;;
    'list --cert') _rlock_leave_to_readline default ;;
    'list --tls-key') _rlock_leave_to_readline default ;;
    'metrics --password-file') _rlock_leave_to_readline default ;;
    'metrics --config') _rlock_leave_to_readline default ;;
    'metrics --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'metrics --cacert') _rlock_leave_to_readline default ;;
    'metrics --cacertdir') _rlock_leave_to_readline dirnames ;;
    'metrics --cert') _rlock_leave_to_readline default ;;
    'metrics --tls-key') _rlock_leave_to_readline default ;;
    'top --password-file') _rlock_leave_to_readline default ;;
    'top --config') _rlock_leave_to_readline default ;;
    'top --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'top --cacert') _rlock_leave_to_readline default ;;
    'top --cacertdir') _rlock_leave_to_readline dirnames ;;
    'top --cert') _rlock_leave_to_readline default ;;
    'top --tls-key') _rlock_leave_to_readline default ;;
    'inspect -k' | 'inspect --key') _rlock_offer < <(_rlock_keys numbers) ;;
    'inspect --password-file') _rlock_leave_to_readline default ;;
    'inspect --config') _rlock_leave_to_readline default ;;
    'inspect --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'inspect --cacert') _rlock_leave_to_readline default ;;
    'inspect --cacertdir') _rlock_leave_to_readline dirnames ;;
    'inspect --cert') _rlock_leave_to_readline default ;;
    'inspect --tls-key') _rlock_leave_to_readline default ;;
    'history -k' | 'history --key') _rlock_offer < <(_rlock_keys keys) ;;
    'history --password-file') _rlock_leave_to_readline default ;;
    'history --config') _rlock_leave_to_readline default ;;
    'history --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'history --cacert') _rlock_leave_to_readline default ;;
    'history --cacertdir') _rlock_leave_to_readline dirnames ;;
    'history --cert') _rlock_leave_to_readline default ;;
    'history --tls-key') _rlock_leave_to_readline default ;;
    'stop -k' | 'stop --key') _rlock_offer < <(_rlock_keys keys) ;;
    'stop --if-owner') _rlock_offer < <(_rlock_owners) ;;
    'stop --password-file') _rlock_leave_to_readline default ;;
    'stop --config') _rlock_leave_to_readline default ;;
    'stop --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'stop --cacert') _rlock_leave_to_readline default ;;
    'stop --cacertdir') _rlock_leave_to_readline dirnames ;;
    'stop --cert') _rlock_leave_to_readline default ;;
    'stop --tls-key') _rlock_leave_to_readline default ;;
    'unlock -k' | 'unlock --key') _rlock_offer < <(_rlock_keys keys) ;;
    'unlock --if-owner') _rlock_offer < <(_rlock_owners) ;;
    'unlock --type') _rlock_offer < <(compgen -W 'lock read write fair fenced spin permit plain') ;;
    'unlock --password-file') _rlock_leave_to_readline default ;;
    'unlock --config') _rlock_leave_to_readline default ;;
    'unlock --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'unlock --cacert') _rlock_leave_to_readline default ;;
    'unlock --cacertdir') _rlock_leave_to_readline dirnames ;;
    'unlock --cert') _rlock_leave_to_readline default ;;
    'unlock --tls-key') _rlock_leave_to_readline default ;;
    'config --password-file') _rlock_leave_to_readline default ;;
    'config --config') _rlock_leave_to_readline default ;;
    'config --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'config --cacert') _rlock_leave_to_readline default ;;
    'config --cacertdir') _rlock_leave_to_readline dirnames ;;
    'config --cert') _rlock_leave_to_readline default ;;
    'config --tls-key') _rlock_leave_to_readline default ;;
    'doctor --password-file') _rlock_leave_to_readline default ;;
    'doctor --config') _rlock_leave_to_readline default ;;
    'doctor --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'doctor --cacert') _rlock_leave_to_readline default ;;
    'doctor --cacertdir') _rlock_leave_to_readline dirnames ;;
    'doctor --cert') _rlock_leave_to_readline default ;;
    'doctor --tls-key') _rlock_leave_to_readline default ;;
    'scripts load --password-file') _rlock_leave_to_readline default ;;
    'scripts load --config') _rlock_leave_to_readline default ;;
    'scripts load --profile') _rlock_offer < <(_rlock_ask --completion profiles) ;;
    'scripts load --cacert') _rlock_leave_to_readline default ;;
    'scripts load --cacertdir') _rlock_leave_to_readline dirnames ;;
    'scripts load --cert') _rlock_leave_to_readline default ;;
    'scripts load --tls-key') _rlock_leave_to_readline default ;;
  esac
}

# Offers what the n-th operand of a verb may be.
_rlock_operands() {
  case "$1 $2" in
    'flock 0') _rlock_leave_to_readline default ;;
    'lock acquire 0' | 'lock acquire '*) _rlock_offer < <(_rlock_keys keys) ;;
    'lock release 0' | 'lock release '*) _rlock_offer < <(_rlock_keys keys) ;;
    'lock renew 0' | 'lock renew '*) _rlock_offer < <(_rlock_keys keys) ;;
    'lock status 0') _rlock_offer < <(_rlock_keys keys) ;;
    'lock wait 0' | 'lock wait '*) _rlock_offer < <(_rlock_keys keys) ;;
    'permit init 0') _rlock_offer < <(_rlock_keys numbers) ;;
    'permit add 0') _rlock_offer < <(_rlock_keys numbers) ;;
    'permit acquire 0') _rlock_offer < <(_rlock_keys numbers) ;;
    'permit release 0') _rlock_offer < <(_rlock_keys numbers) ;;
    'permit renew 0') _rlock_offer < <(_rlock_keys numbers) ;;
    'permit status 0') _rlock_offer < <(_rlock_keys numbers) ;;
    'permit delete 0') _rlock_offer < <(_rlock_keys numbers) ;;
    'sem init 0') _rlock_offer < <(_rlock_keys numbers) ;;
    'sem acquire 0') _rlock_offer < <(_rlock_keys numbers) ;;
    'sem release 0') _rlock_offer < <(_rlock_keys numbers) ;;
    'sem add 0') _rlock_offer < <(_rlock_keys numbers) ;;
    'sem drain 0') _rlock_offer < <(_rlock_keys numbers) ;;
    'sem status 0') _rlock_offer < <(_rlock_keys numbers) ;;
    'sem delete 0') _rlock_offer < <(_rlock_keys numbers) ;;
    'latch set 0') _rlock_offer < <(_rlock_keys numbers) ;;
    'latch down 0') _rlock_offer < <(_rlock_keys numbers) ;;
    'latch wait 0') _rlock_offer < <(_rlock_keys numbers) ;;
    'latch status 0') _rlock_offer < <(_rlock_keys numbers) ;;
    'latch delete 0') _rlock_offer < <(_rlock_keys numbers) ;;
    'list 0' | 'list '*) _rlock_offer < <(_rlock_keys numbers) ;;
    'metrics 0' | 'metrics '*) _rlock_offer < <(_rlock_keys numbers) ;;
    'top 0' | 'top '*) _rlock_offer < <(_rlock_keys numbers) ;;
    'inspect 0' | 'inspect '*) _rlock_offer < <(_rlock_keys numbers) ;;
    'history 0') _rlock_offer < <(_rlock_keys keys) ;;
    'stop 0' | 'stop '*) _rlock_offer < <(_rlock_keys keys) ;;
    'unlock 0' | 'unlock '*) _rlock_offer < <(_rlock_keys keys) ;;
    'scripts show 0') _rlock_offer < <(compgen -W 'counter/add counter/delete counter/init fair/acquire fair/release fenced/acquire fenced/enter history/read inspect/content inspect/facts inspect/free inspect/glance inspect/key latch/delete latch/down latch/inspect latch/record latch/set latch/status lock/acquire lock/enter lock/force lock/release lock/renew meta/erase meta/write multi/fair multi/fenced multi/lock multi/plain multi/read multi/write once/fair_release once/lock_release once/status permit/acquire permit/enter permit/release permit/release_ids permit/renew permit/renew_ids permit/status plain/acquire plain/enter plain/force plain/release plain/renew read/acquire read/release read/renew read/sweep read_write/force semaphore/acquire semaphore/drain semaphore/status semaphore/undo write/acquire write/release write/renew quorum/lock_acquire quorum/lock_release quorum/read_acquire quorum/read_release quorum/write_acquire quorum/write_release quorum/multi_lock quorum/multi_read quorum/multi_write') ;;
    'help 0') _rlock_offer < <(compgen -W 'run flock lock permit sem latch list metrics top inspect history stop unlock config doctor server scripts completion help version') ;;
  esac
}

_rlock() {
  local cur kept='' words=() rest=${COMP_LINE:0:COMP_POINT} before i last verb next key='' operands=0 command=-1
  local offered='' valued=' -u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout ' previous=''
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
      _rlock_offer < <(printf '%s\n' -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version)
    else
      _rlock_offer < <(printf '%s\n' run flock lock permit sem latch list metrics top inspect history stop unlock config doctor server scripts completion help version)
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
