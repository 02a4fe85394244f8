# bash completion for rlock, written by: rlock completion bash
# shellcheck shell=bash

# The keys of the server that the command line names, or else of the one that rlock would ask.
_rlock_keys() {
  local server=() i
  for ((i = 1; i < ${#words[@]} - 1; i++)); do
    case ${words[i]} in
      -u | --url) server+=(--url "${words[i + 1]}") ;;
      --url=*) server+=("${words[i]}") ;;
    esac
  done
  rlock inspect --quiet --connect-timeout 500ms --command-timeout 500ms "${server[@]}" 2>/dev/null </dev/null
}

# Offers the lines of stdin that begin with what has been typed. Readline replaces only what stands behind the last
# ':' or '=' of a word: what stands before it is taken off.
_rlock_offer() {
  local line
  while IFS= read -r line; do
    [[ $line == "$cur"* ]] && COMPREPLY+=("${line#"$kept"}")
  done
}

# The verbs of a noun.
_rlock_verbs() {
  case $1 in
    lock) echo 'acquire release renew status' ;;
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
      offered='-k --key -s --shared --read -x --exclusive --write --fair --fenced --permits --count --type -c --command -n --nonblock -w --wait -E --conflict-exit-code --lease --max-hold --min-hold --no-renew --until --signal --kill-after --lost-grace --on-lost --reason --label --status-file --status-fd -q --quiet -v --verbose --sync-replicas --sync-timeout --backoff --quorum -u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -h --help -V --version'
      valued=' -k --key --permits --count --type -c --command -w --wait -E --conflict-exit-code --lease --max-hold --min-hold --until --signal --kill-after --lost-grace --on-lost --reason --label --status-file --status-fd --sync-replicas --sync-timeout --backoff --quorum -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'lock acquire')
      offered='--lease --type --owner --again -n --nonblock -w --wait -E --conflict-exit-code --json -u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' --lease --type --owner -w --wait -E --conflict-exit-code -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'lock release')
      offered='--owner --type -u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' --owner --type -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'lock renew')
      offered='--owner --type --lease -u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' --owner --type --lease -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'lock status')
      offered='--owner --type -q --quiet -v --verbose --json -u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -h --help -V --version'
      valued=' --owner --type -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'permit init')
      offered='-u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'permit add')
      offered='-u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'permit acquire')
      offered='--lease --count -n --nonblock -w --wait -E --conflict-exit-code --json -u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' --lease --count -w --wait -E --conflict-exit-code -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'permit release')
      offered='-u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'permit renew')
      offered='--lease -u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' --lease -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'permit status')
      offered='--json -u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'permit delete')
      offered='-u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'sem init')
      offered='-u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'sem acquire')
      offered='--count -n --nonblock -w --wait -E --conflict-exit-code -u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' --count -w --wait -E --conflict-exit-code -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'sem release')
      offered='--count -u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' --count -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'sem add')
      offered='-u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'sem drain')
      offered='--json -u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'sem status')
      offered='--json -u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'sem delete')
      offered='-u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'latch set')
      offered='--expire -u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' --expire -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'latch down')
      offered='--by -u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' --by -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'latch wait')
      offered='--absent-ok --await-set -n --nonblock -w --wait -E --conflict-exit-code -u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -w --wait -E --conflict-exit-code -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'latch status')
      offered='--json -u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'latch delete')
      offered='-u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'inspect')
      offered='--json -q --quiet -v --verbose -u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -h --help -V --version'
      valued=' -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'unlock')
      offered='--if-owner -y --yes -u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' --if-owner -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'doctor')
      offered='--json -u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
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
      offered='--json -h --help -V --version'
      valued='  '
      ;;
    'scripts show')
      offered='-h --help -V --version'
      valued='  '
      ;;
    'scripts load')
      offered='-u --url --password-file --askpass --user --db --prefix --config --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version'
      valued=' -u --url --password-file --user --db --prefix --config --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout '
      ;;
    'completion bash')
      offered='-h --help -V --version'
      valued='  '
      ;;
    'completion zsh')
      offered='-h --help -V --version'
      valued='  '
      ;;
    'completion fish')
      offered='-h --help -V --version'
      valued='  '
      ;;
  esac
}

# What an option of a verb may be given.
_rlock_values() {
  case "$1 $2" in
    'run -k' | 'run --key') _rlock_keys ;;
    'run --type') compgen -W 'lock read write fair fenced spin permit plain' -- "$cur" ;;
    'run --until') compgen -W 'command group' -- "$cur" ;;
    'run --on-lost') compgen -W 'stop warn' -- "$cur" ;;
    'run --status-file') compgen -f -- "$cur" ;;
    'run --quorum') compgen -W 'majority all' -- "$cur" ;;
    'run --password-file') compgen -f -- "$cur" ;;
    'run --config') compgen -f -- "$cur" ;;
    'run --cacert') compgen -f -- "$cur" ;;
    'run --cacertdir') compgen -d -- "$cur" ;;
    'run --cert') compgen -f -- "$cur" ;;
    'run --tls-key') compgen -f -- "$cur" ;;
    'lock acquire --type') compgen -W 'lock read write fair fenced spin permit plain' -- "$cur" ;;
    'lock acquire --password-file') compgen -f -- "$cur" ;;
    'lock acquire --config') compgen -f -- "$cur" ;;
    'lock acquire --cacert') compgen -f -- "$cur" ;;
    'lock acquire --cacertdir') compgen -d -- "$cur" ;;
    'lock acquire --cert') compgen -f -- "$cur" ;;
    'lock acquire --tls-key') compgen -f -- "$cur" ;;
    'lock release --type') compgen -W 'lock read write fair fenced spin permit plain' -- "$cur" ;;
    'lock release --password-file') compgen -f -- "$cur" ;;
    'lock release --config') compgen -f -- "$cur" ;;
    'lock release --cacert') compgen -f -- "$cur" ;;
    'lock release --cacertdir') compgen -d -- "$cur" ;;
    'lock release --cert') compgen -f -- "$cur" ;;
    'lock release --tls-key') compgen -f -- "$cur" ;;
    'lock renew --type') compgen -W 'lock read write fair fenced spin permit plain' -- "$cur" ;;
    'lock renew --password-file') compgen -f -- "$cur" ;;
    'lock renew --config') compgen -f -- "$cur" ;;
    'lock renew --cacert') compgen -f -- "$cur" ;;
    'lock renew --cacertdir') compgen -d -- "$cur" ;;
    'lock renew --cert') compgen -f -- "$cur" ;;
    'lock renew --tls-key') compgen -f -- "$cur" ;;
    'lock status --type') compgen -W 'lock read write fair fenced spin permit plain' -- "$cur" ;;
    'lock status --password-file') compgen -f -- "$cur" ;;
    'lock status --config') compgen -f -- "$cur" ;;
    'lock status --cacert') compgen -f -- "$cur" ;;
    'lock status --cacertdir') compgen -d -- "$cur" ;;
    'lock status --cert') compgen -f -- "$cur" ;;
    'lock status --tls-key') compgen -f -- "$cur" ;;
    'permit init --password-file') compgen -f -- "$cur" ;;
    'permit init --config') compgen -f -- "$cur" ;;
    'permit init --cacert') compgen -f -- "$cur" ;;
    'permit init --cacertdir') compgen -d -- "$cur" ;;
    'permit init --cert') compgen -f -- "$cur" ;;
    'permit init --tls-key') compgen -f -- "$cur" ;;
    'permit add --password-file') compgen -f -- "$cur" ;;
    'permit add --config') compgen -f -- "$cur" ;;
    'permit add --cacert') compgen -f -- "$cur" ;;
    'permit add --cacertdir') compgen -d -- "$cur" ;;
    'permit add --cert') compgen -f -- "$cur" ;;
    'permit add --tls-key') compgen -f -- "$cur" ;;
    'permit acquire --password-file') compgen -f -- "$cur" ;;
    'permit acquire --config') compgen -f -- "$cur" ;;
    'permit acquire --cacert') compgen -f -- "$cur" ;;
    'permit acquire --cacertdir') compgen -d -- "$cur" ;;
    'permit acquire --cert') compgen -f -- "$cur" ;;
    'permit acquire --tls-key') compgen -f -- "$cur" ;;
    'permit release --password-file') compgen -f -- "$cur" ;;
    'permit release --config') compgen -f -- "$cur" ;;
    'permit release --cacert') compgen -f -- "$cur" ;;
    'permit release --cacertdir') compgen -d -- "$cur" ;;
    'permit release --cert') compgen -f -- "$cur" ;;
    'permit release --tls-key') compgen -f -- "$cur" ;;
    'permit renew --password-file') compgen -f -- "$cur" ;;
    'permit renew --config') compgen -f -- "$cur" ;;
    'permit renew --cacert') compgen -f -- "$cur" ;;
    'permit renew --cacertdir') compgen -d -- "$cur" ;;
    'permit renew --cert') compgen -f -- "$cur" ;;
    'permit renew --tls-key') compgen -f -- "$cur" ;;
    'permit status --password-file') compgen -f -- "$cur" ;;
    'permit status --config') compgen -f -- "$cur" ;;
    'permit status --cacert') compgen -f -- "$cur" ;;
    'permit status --cacertdir') compgen -d -- "$cur" ;;
    'permit status --cert') compgen -f -- "$cur" ;;
    'permit status --tls-key') compgen -f -- "$cur" ;;
    'permit delete --password-file') compgen -f -- "$cur" ;;
    'permit delete --config') compgen -f -- "$cur" ;;
    'permit delete --cacert') compgen -f -- "$cur" ;;
    'permit delete --cacertdir') compgen -d -- "$cur" ;;
    'permit delete --cert') compgen -f -- "$cur" ;;
    'permit delete --tls-key') compgen -f -- "$cur" ;;
    'sem init --password-file') compgen -f -- "$cur" ;;
    'sem init --config') compgen -f -- "$cur" ;;
    'sem init --cacert') compgen -f -- "$cur" ;;
    'sem init --cacertdir') compgen -d -- "$cur" ;;
    'sem init --cert') compgen -f -- "$cur" ;;
    'sem init --tls-key') compgen -f -- "$cur" ;;
    'sem acquire --password-file') compgen -f -- "$cur" ;;
    'sem acquire --config') compgen -f -- "$cur" ;;
    'sem acquire --cacert') compgen -f -- "$cur" ;;
    'sem acquire --cacertdir') compgen -d -- "$cur" ;;
    'sem acquire --cert') compgen -f -- "$cur" ;;
    'sem acquire --tls-key') compgen -f -- "$cur" ;;
    'sem release --password-file') compgen -f -- "$cur" ;;
    'sem release --config') compgen -f -- "$cur" ;;
    'sem release --cacert') compgen -f -- "$cur" ;;
    'sem release --cacertdir') compgen -d -- "$cur" ;;
    'sem release --cert') compgen -f -- "$cur" ;;
    'sem release --tls-key') compgen -f -- "$cur" ;;
    'sem add --password-file') compgen -f -- "$cur" ;;
    'sem add --config') compgen -f -- "$cur" ;;
    'sem add --cacert') compgen -f -- "$cur" ;;
    'sem add --cacertdir') compgen -d -- "$cur" ;;
    'sem add --cert') compgen -f -- "$cur" ;;
    'sem add --tls-key') compgen -f -- "$cur" ;;
    'sem drain --password-file') compgen -f -- "$cur" ;;
    'sem drain --config') compgen -f -- "$cur" ;;
    'sem drain --cacert') compgen -f -- "$cur" ;;
    'sem drain --cacertdir') compgen -d -- "$cur" ;;
    'sem drain --cert') compgen -f -- "$cur" ;;
    'sem drain --tls-key') compgen -f -- "$cur" ;;
    'sem status --password-file') compgen -f -- "$cur" ;;
    'sem status --config') compgen -f -- "$cur" ;;
    'sem status --cacert') compgen -f -- "$cur" ;;
    'sem status --cacertdir') compgen -d -- "$cur" ;;
    'sem status --cert') compgen -f -- "$cur" ;;
    'sem status --tls-key') compgen -f -- "$cur" ;;
    'sem delete --password-file') compgen -f -- "$cur" ;;
    'sem delete --config') compgen -f -- "$cur" ;;
    'sem delete --cacert') compgen -f -- "$cur" ;;
    'sem delete --cacertdir') compgen -d -- "$cur" ;;
    'sem delete --cert') compgen -f -- "$cur" ;;
    'sem delete --tls-key') compgen -f -- "$cur" ;;
    'latch set --password-file') compgen -f -- "$cur" ;;
    'latch set --config') compgen -f -- "$cur" ;;
    'latch set --cacert') compgen -f -- "$cur" ;;
    'latch set --cacertdir') compgen -d -- "$cur" ;;
    'latch set --cert') compgen -f -- "$cur" ;;
    'latch set --tls-key') compgen -f -- "$cur" ;;
    'latch down --password-file') compgen -f -- "$cur" ;;
    'latch down --config') compgen -f -- "$cur" ;;
    'latch down --cacert') compgen -f -- "$cur" ;;
    'latch down --cacertdir') compgen -d -- "$cur" ;;
    'latch down --cert') compgen -f -- "$cur" ;;
    'latch down --tls-key') compgen -f -- "$cur" ;;
    'latch wait --password-file') compgen -f -- "$cur" ;;
    'latch wait --config') compgen -f -- "$cur" ;;
    'latch wait --cacert') compgen -f -- "$cur" ;;
    'latch wait --cacertdir') compgen -d -- "$cur" ;;
    'latch wait --cert') compgen -f -- "$cur" ;;
    'latch wait --tls-key') compgen -f -- "$cur" ;;
    'latch status --password-file') compgen -f -- "$cur" ;;
    'latch status --config') compgen -f -- "$cur" ;;
    'latch status --cacert') compgen -f -- "$cur" ;;
    'latch status --cacertdir') compgen -d -- "$cur" ;;
    'latch status --cert') compgen -f -- "$cur" ;;
    'latch status --tls-key') compgen -f -- "$cur" ;;
    'latch delete --password-file') compgen -f -- "$cur" ;;
    'latch delete --config') compgen -f -- "$cur" ;;
    'latch delete --cacert') compgen -f -- "$cur" ;;
    'latch delete --cacertdir') compgen -d -- "$cur" ;;
    'latch delete --cert') compgen -f -- "$cur" ;;
    'latch delete --tls-key') compgen -f -- "$cur" ;;
    'inspect --password-file') compgen -f -- "$cur" ;;
    'inspect --config') compgen -f -- "$cur" ;;
    'inspect --cacert') compgen -f -- "$cur" ;;
    'inspect --cacertdir') compgen -d -- "$cur" ;;
    'inspect --cert') compgen -f -- "$cur" ;;
    'inspect --tls-key') compgen -f -- "$cur" ;;
    'unlock --password-file') compgen -f -- "$cur" ;;
    'unlock --config') compgen -f -- "$cur" ;;
    'unlock --cacert') compgen -f -- "$cur" ;;
    'unlock --cacertdir') compgen -d -- "$cur" ;;
    'unlock --cert') compgen -f -- "$cur" ;;
    'unlock --tls-key') compgen -f -- "$cur" ;;
    'doctor --password-file') compgen -f -- "$cur" ;;
    'doctor --config') compgen -f -- "$cur" ;;
    'doctor --cacert') compgen -f -- "$cur" ;;
    'doctor --cacertdir') compgen -d -- "$cur" ;;
    'doctor --cert') compgen -f -- "$cur" ;;
    'doctor --tls-key') compgen -f -- "$cur" ;;
    'scripts load --password-file') compgen -f -- "$cur" ;;
    'scripts load --config') compgen -f -- "$cur" ;;
    'scripts load --cacert') compgen -f -- "$cur" ;;
    'scripts load --cacertdir') compgen -d -- "$cur" ;;
    'scripts load --cert') compgen -f -- "$cur" ;;
    'scripts load --tls-key') compgen -f -- "$cur" ;;
  esac
}

# What the n-th operand of a verb may be.
_rlock_operands() {
  case "$1 $2" in
    'lock acquire 0') _rlock_keys ;;
    'lock release 0') _rlock_keys ;;
    'lock renew 0') _rlock_keys ;;
    'lock status 0') _rlock_keys ;;
    'permit init 0') _rlock_keys ;;
    'permit add 0') _rlock_keys ;;
    'permit acquire 0') _rlock_keys ;;
    'permit release 0') _rlock_keys ;;
    'permit renew 0') _rlock_keys ;;
    'permit status 0') _rlock_keys ;;
    'permit delete 0') _rlock_keys ;;
    'sem init 0') _rlock_keys ;;
    'sem acquire 0') _rlock_keys ;;
    'sem release 0') _rlock_keys ;;
    'sem add 0') _rlock_keys ;;
    'sem drain 0') _rlock_keys ;;
    'sem status 0') _rlock_keys ;;
    'sem delete 0') _rlock_keys ;;
    'latch set 0') _rlock_keys ;;
    'latch down 0') _rlock_keys ;;
    'latch wait 0') _rlock_keys ;;
    'latch status 0') _rlock_keys ;;
    'latch delete 0') _rlock_keys ;;
    'inspect 0' | 'inspect '*) _rlock_keys ;;
    'unlock 0') _rlock_keys ;;
    'scripts show 0') compgen -W 'counter/add counter/delete counter/init fair/acquire fair/give_back fenced/acquire fenced/enter inspect/look latch/delete latch/down latch/look latch/record latch/set latch/status lock/acquire lock/enter lock/force lock/release lock/renew lock/retract meta/erase meta/write multi/fair multi/fenced multi/lock multi/plain multi/read multi/write permit/acquire permit/enter permit/release permit/release_ids permit/renew permit/renew_ids permit/status plain/acquire plain/enter plain/force plain/release plain/renew read/acquire read/release read/renew read/sweep read_write/force semaphore/acquire semaphore/drain semaphore/status semaphore/undo write/acquire write/release write/renew' -- "$cur" ;;
  esac
}

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
    _rlock_offer < <(printf '%s\n' run lock permit sem latch inspect unlock doctor server scripts completion --help --version)
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
    _rlock_offer < <(_rlock_values "$verb" "$previous")
  elif [[ $verb == run && $i -lt $((${#words[@]} - 1)) || $verb == run && $cur != -* ]]; then
    _rlock_command "$i"
  elif [[ $cur == --*=* ]]; then
    previous=${cur%%=*}
    cur=${cur#*=}
    kept=${kept#*=}
    _rlock_offer < <(_rlock_values "$verb" "$previous")
  elif [[ $cur == -* ]]; then
    # shellcheck disable=SC2086
    _rlock_offer < <(printf '%s\n' $offered)
  else
    _rlock_offer < <(_rlock_operands "$verb" "$operands")
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
    _rlock_offer < <(compgen -f -- "$cur")
  fi
}

complete -o filenames -o bashdefault -F _rlock rlock
