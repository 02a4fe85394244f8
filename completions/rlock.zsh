#compdef rlock
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
      --password-file | --user | --db | --prefix | --config | --profile | --cacert | --cacertdir | --cert | --tls-key | --sni | --connect-timeout | --command-timeout) ((++i < typed_at)) && more+=("${typed[i - 1]}=${(Q)typed[i]}") ;;
      --password-file=* | --user=* | --db=* | --prefix=* | --config=* | --profile=* | --cacert=* | --cacertdir=* | --cert=* | --tls-key=* | --sni=* | --connect-timeout=* | --command-timeout=*) more+=("${(Q)typed[i]}") ;;
      --tls | --insecure) more+=("$typed[i]") ;;
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

_rlock_verbs() {
  local -a verbs
  case $1 in
    lock) verbs=('acquire:take a lock for a script or a lease; prints its owner id' 'release:give it back' 'renew:let its lease start anew' 'status:is it held, and by whom' 'wait:until it is free, without taking it') ;;
    permit) verbs=('init:make a pool of N permits' 'add:make N more available' 'acquire:take permits for the time of a lease; prints ids' 'release:give permits back' 'renew:let their leases start anew' 'status:how many are available' 'delete:remove the pool') ;;
    sem) verbs=('init:make a semaphore of N permits' 'acquire:take permits' 'release:give permits back' 'add:make N more available' 'drain:take all that is available' 'status:how many are available' 'delete:remove it') ;;
    latch) verbs=('set:make one that opens after N counts' 'down:count it down' 'wait:wait until it is open' 'status:is it open' 'delete:remove it') ;;
    server) verbs=('start:start it, unless it runs' 'stop:stop it in good order' 'status:does it run, and where') ;;
    scripts) verbs=('list:name them, with their SHA-1' 'show:print one, byte for byte as it is sent' 'load:load them into the servers beforehand') ;;
    completion) verbs=('bash:for bash' 'zsh:for zsh' 'fish:for fish') ;;
  esac
  _describe verb verbs
}

# What may stand behind a verb.
_rlock_arguments() {
  local ret=1
  case $1 in
    'run')
      _arguments -s -S \
        '*-k+[several\: all of them or none]:KEY:_rlock_keys' \
        '*--key=[several\: all of them or none]:KEY:_rlock_keys' \
        '*-s[readers share the key; whoever writes takes -x]' \
        '*--shared[readers share the key; whoever writes takes -x]' \
        '*--read[readers share the key; whoever writes takes -x]' \
        '*-x[one writer]' \
        '*--exclusive[one writer]' \
        '*--write[one writer]' \
        '*--fair[in order of arrival]' \
        '*--fenced[with a growing number\: RLOCK_FENCE, --export, --json]' \
        '*--permits=[one of N slots (RLOCK_SLOT), --count M takes M]:N:( )' \
        '*--count=[How many permits to take]:M:( )' \
        '*--type=[lock read write fair fenced spin permit plain]:T:(lock read write fair fenced spin permit plain)' \
        '*--owner=[Take a hold inside the one that this owner has, as a nested run does\: an earlier step of a CI job has taken it by rlock lock acquire]:ID:_rlock_owners' \
        '*-c+[Run STRING by /bin/sh -c, instead of COMMAND]:STRING:( )' \
        '*--command=[Run STRING by /bin/sh -c, instead of COMMAND]:STRING:( )' \
        '*-n[do not wait\: try once]' \
        '*--nonblock[do not wait\: try once]' \
        '*-w+[wait at most DUR, for the server too]:DUR|forever:(forever)' \
        '*--wait=[wait at most DUR, for the server too]:DUR|forever:(forever)' \
        '*-E+[exit status when not acquired]:N:( )' \
        '*--conflict-exit-code=[exit status when not acquired]:N:( )' \
        '*--queue-limit=[do not wait behind N waiters or more]:N:( )' \
        '*--if-unreachable=[what to do without a server]:fail|skip|run:(fail skip run)' \
        '*--lease=[a dead holder keeps the lock this long]:DUR:( )' \
        '*--max-hold=[stop COMMAND after this; exit 124]:DUR:( )' \
        '*--min-hold=[keep the key this long after the acquire]:DUR:( )' \
        '*--once-per=[one success of COMMAND in this time, over all hosts]:DUR:( )' \
        '*--no-renew[no watchdog\: lock and COMMAND end with the lease]' \
        '*--until=[release when this has ended]:command|group:(command group)' \
        '*--signal=[TERM, SIGTERM or 15; it goes to the command'\''s process group]:SIG:(TERM INT HUP QUIT USR1 USR2 KILL)' \
        '*--kill-after=[The pause between that signal and KILL at --max-hold]:DUR:( )' \
        '*--lost-grace=[The same pause after a loss; it must fit into the lease]:DUR:( )' \
        '*--on-lost=[stop COMMAND or warn, when the lock is lost]:stop|warn:(stop warn)' \
        '*--reason=[Shown to whoever waits, and by rlock inspect]:TEXT:( )' \
        '*--label=[Shown by rlock inspect]:K=V:( )' \
        '*--show-args[Show the arguments of COMMAND as well]' \
        '*--status-file=[one JSON line that says how it ended]:F:_files' \
        '*--status-fd=[the same, to an open descriptor]:N:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--on-deadlock=[What a run inside another one does that waits for a key whose holder waits, over any number of runs and hosts, for a key of ours]:give-up|wait:(give-up wait)' \
        '*--sync-replicas=[An acquire or a renewal counts only when so many replicas have it (WAIT)]:N:( )' \
        '*--sync-timeout=[How long the replicas may take]:DUR:( )' \
        '*--backoff=[The pause between tries of a type whose waiters nobody wakes up]:MIN..MAX:( )' \
        '*--scrub-password[Take RLOCK_PASSWORD, VALKEYCLI_AUTH, REDISCLI_AUTH and the password in REDIS_URL out of the environment of COMMAND]' \
        '*--quorum=[Of several --url\: how many servers must grant the lock]:majority|all:(majority all)' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        '(-)1:command:_command_names -e' '*::arguments:_normal' \
        && ret=0
      ;;
    'flock')
      _arguments -s -S \
        '*-s[beside others that have it shared]' \
        '*--shared[beside others that have it shared]' \
        '*-x[alone; that is the default]' \
        '*-e[alone; that is the default]' \
        '*--exclusive[alone; that is the default]' \
        '*-n[do not wait\: try once]' \
        '*--nb[do not wait\: try once]' \
        '*--nonblock[do not wait\: try once]' \
        '*-w+[wait at most DUR\: 10, 2]:DUR:( )' \
        '*--wait=[wait at most DUR\: 10, 2]:DUR:( )' \
        '*--timeout=[wait at most DUR\: 10, 2]:DUR:( )' \
        '*-E+[exit status when not acquired]:N:( )' \
        '*--conflict-exit-code=[exit status when not acquired]:N:( )' \
        '*--if-unreachable=[what to do without a server]:fail|skip|run:(fail skip run)' \
        '*-o[COMMAND inherits no descriptor of the lock]' \
        '*--close[COMMAND inherits no descriptor of the lock]' \
        '*-F[rlock stays beside COMMAND all the same]' \
        '*--no-fork[rlock stays beside COMMAND all the same]' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':FILE:_files' \
        '(-)2:command:_command_names -e' '*::arguments:_normal' \
        && ret=0
      ;;
    'lock acquire')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_keys' \
        '*--key=[]:KEY:_rlock_keys' \
        '*--lease=[it ends after this; needed without --while-pid]:DUR:( )' \
        '*-s[readers share the key; whoever writes takes -x]' \
        '*--shared[readers share the key; whoever writes takes -x]' \
        '*--read[readers share the key; whoever writes takes -x]' \
        '*-x[one writer]' \
        '*--exclusive[one writer]' \
        '*--write[one writer]' \
        '*--fair[in order of arrival]' \
        '*--fenced[with a growing number\: RLOCK_FENCE, --export, --json]' \
        '*--type=[lock read write fair fenced spin permit plain]:T:(lock read write fair fenced spin permit plain)' \
        '*--owner=[who has KEY already keeps it, with a new lease]:ID:_rlock_owners' \
        '*--again[one more hold of an owner who has KEY]' \
        '*--while-pid=[keep it until this process ends\: $$]:PID:( )' \
        '*--on-lost=[stop PID or warn, when the lock is lost]:stop|warn:(stop warn)' \
        '*--signal=[TERM, SIGTERM or 15; PID gets it, and what it has started]:SIG:(TERM INT HUP QUIT USR1 USR2 KILL)' \
        '*-n[do not wait\: try once]' \
        '*--nonblock[do not wait\: try once]' \
        '*-w+[wait at most DUR, for the server too]:DUR|forever:(forever)' \
        '*--wait=[wait at most DUR, for the server too]:DUR|forever:(forever)' \
        '*-E+[exit status when not acquired]:N:( )' \
        '*--conflict-exit-code=[exit status when not acquired]:N:( )' \
        '*--queue-limit=[do not wait behind N waiters or more]:N:( )' \
        '*--reason=[Shown to whoever waits, and by rlock inspect]:TEXT:( )' \
        '*--label=[Shown by rlock inspect]:K=V:( )' \
        '*--export=-[print what the shell evaluates\: RLOCK_OWNER, ]::SHELL:(sh fish)' \
        '*--json[one document, also of who has what is busy]' \
        '*--sync-replicas=[An acquire or a renewal counts only when so many replicas have it (WAIT)]:N:( )' \
        '*--sync-timeout=[How long the replicas may take]:DUR:( )' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        '*:KEY:_rlock_keys' \
        && ret=0
      ;;
    'lock release')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_keys' \
        '*--key=[]:KEY:_rlock_keys' \
        '*--owner=[as rlock lock acquire has printed it, or RLOCK_OWNER]:ID:_rlock_owners' \
        '*--type=[must agree with what stands there]:T:(lock read write fair fenced spin permit plain)' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        '*:KEY:_rlock_keys' \
        && ret=0
      ;;
    'lock renew')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_keys' \
        '*--key=[]:KEY:_rlock_keys' \
        '*--owner=[as rlock lock acquire has printed it, or RLOCK_OWNER]:ID:_rlock_owners' \
        '*--type=[must agree with what stands there]:T:(lock read write fair fenced spin permit plain)' \
        '*--lease=[from now on; without it as long as it was before]:DUR:( )' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        '*:KEY:_rlock_keys' \
        && ret=0
      ;;
    'lock status')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_keys' \
        '*--key=[]:KEY:_rlock_keys' \
        '*--owner=[held by this owner?]:ID:_rlock_owners' \
        '*--type=[must agree with what stands there]:T:(lock read write fair fenced spin permit plain)' \
        '*-q[the exit status says it all]' \
        '*--quiet[the exit status says it all]' \
        '*-v[also the owner id in full]' \
        '*--verbose[also the owner id in full]' \
        '*--json[one document; schema in rlock-inspect(1)]' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':KEY:_rlock_keys' \
        && ret=0
      ;;
    'lock wait')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_keys' \
        '*--key=[]:KEY:_rlock_keys' \
        '*-n[do not wait\: try once]' \
        '*--nonblock[do not wait\: try once]' \
        '*-w+[wait at most DUR, for the server too]:DUR|forever:(forever)' \
        '*--wait=[wait at most DUR, for the server too]:DUR|forever:(forever)' \
        '*-E+[exit status when not acquired]:N:( )' \
        '*--conflict-exit-code=[exit status when not acquired]:N:( )' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        '*:KEY:_rlock_keys' \
        && ret=0
      ;;
    'permit init')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_numbers' \
        '*--key=[]:KEY:_rlock_numbers' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':KEY:_rlock_numbers' \
        ':N:( )' \
        && ret=0
      ;;
    'permit add')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_numbers' \
        '*--key=[]:KEY:_rlock_numbers' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':KEY:_rlock_numbers' \
        ':N:( )' \
        && ret=0
      ;;
    'permit acquire')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_numbers' \
        '*--key=[]:KEY:_rlock_numbers' \
        '*--lease=[the permits end after this (required)]:DUR:( )' \
        '*--count=[so many, all or none]:N:( )' \
        '*-n[do not wait\: try once]' \
        '*--nonblock[do not wait\: try once]' \
        '*-w+[wait at most DUR, for the server too]:DUR|forever:(forever)' \
        '*--wait=[wait at most DUR, for the server too]:DUR|forever:(forever)' \
        '*-E+[exit status when not acquired]:N:( )' \
        '*--conflict-exit-code=[exit status when not acquired]:N:( )' \
        '*--json[all facts in one document, instead of the ids]' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':KEY:_rlock_numbers' \
        && ret=0
      ;;
    'permit release')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_numbers' \
        '*--key=[]:KEY:_rlock_numbers' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':KEY:_rlock_numbers' \
        '*:ID:( )' \
        && ret=0
      ;;
    'permit renew')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_numbers' \
        '*--key=[]:KEY:_rlock_numbers' \
        '*--lease=[from now on; without it as long as it was before]:DUR:( )' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':KEY:_rlock_numbers' \
        '*:ID:( )' \
        && ret=0
      ;;
    'permit status')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_numbers' \
        '*--key=[]:KEY:_rlock_numbers' \
        '*--json[one document]' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':KEY:_rlock_numbers' \
        && ret=0
      ;;
    'permit delete')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_numbers' \
        '*--key=[]:KEY:_rlock_numbers' \
        '*-y[do not ask]' \
        '*--yes[do not ask]' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':KEY:_rlock_numbers' \
        && ret=0
      ;;
    'sem init')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_numbers' \
        '*--key=[]:KEY:_rlock_numbers' \
        '*--expire=[delete the semaphore after this]:DUR:( )' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':KEY:_rlock_numbers' \
        ':N:( )' \
        && ret=0
      ;;
    'sem acquire')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_numbers' \
        '*--key=[]:KEY:_rlock_numbers' \
        '*--count=[so many, all or none]:N:( )' \
        '*--await-init[wait until somebody makes the semaphore]' \
        '*-n[do not wait\: try once]' \
        '*--nonblock[do not wait\: try once]' \
        '*-w+[wait at most DUR, for the server too]:DUR|forever:(forever)' \
        '*--wait=[wait at most DUR, for the server too]:DUR|forever:(forever)' \
        '*-E+[exit status when not acquired]:N:( )' \
        '*--conflict-exit-code=[exit status when not acquired]:N:( )' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':KEY:_rlock_numbers' \
        && ret=0
      ;;
    'sem release')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_numbers' \
        '*--key=[]:KEY:_rlock_numbers' \
        '*--count=[so many]:N:( )' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':KEY:_rlock_numbers' \
        && ret=0
      ;;
    'sem add')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_numbers' \
        '*--key=[]:KEY:_rlock_numbers' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':KEY:_rlock_numbers' \
        ':N:( )' \
        && ret=0
      ;;
    'sem drain')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_numbers' \
        '*--key=[]:KEY:_rlock_numbers' \
        '*--json[one document]' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':KEY:_rlock_numbers' \
        && ret=0
      ;;
    'sem status')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_numbers' \
        '*--key=[]:KEY:_rlock_numbers' \
        '*--json[one document]' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':KEY:_rlock_numbers' \
        && ret=0
      ;;
    'sem delete')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_numbers' \
        '*--key=[]:KEY:_rlock_numbers' \
        '*-y[do not ask]' \
        '*--yes[do not ask]' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':KEY:_rlock_numbers' \
        && ret=0
      ;;
    'latch set')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_numbers' \
        '*--key=[]:KEY:_rlock_numbers' \
        '*--expire=[forgotten after this, open or not]:DUR:( )' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':KEY:_rlock_numbers' \
        ':N:( )' \
        && ret=0
      ;;
    'latch down')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_numbers' \
        '*--key=[]:KEY:_rlock_numbers' \
        '*--by=[so often at once]:N:( )' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':KEY:_rlock_numbers' \
        && ret=0
      ;;
    'latch wait')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_numbers' \
        '*--key=[]:KEY:_rlock_numbers' \
        '*--absent-ok[take it for open]' \
        '*--await-set[wait first until it is set]' \
        '*-n[do not wait\: try once]' \
        '*--nonblock[do not wait\: try once]' \
        '*-w+[wait at most DUR, for the server too]:DUR|forever:(forever)' \
        '*--wait=[wait at most DUR, for the server too]:DUR|forever:(forever)' \
        '*-E+[exit status when not acquired]:N:( )' \
        '*--conflict-exit-code=[exit status when not acquired]:N:( )' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':KEY:_rlock_numbers' \
        && ret=0
      ;;
    'latch status')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_numbers' \
        '*--key=[]:KEY:_rlock_numbers' \
        '*--json[one document]' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':KEY:_rlock_numbers' \
        && ret=0
      ;;
    'latch delete')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_numbers' \
        '*--key=[]:KEY:_rlock_numbers' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':KEY:_rlock_numbers' \
        && ret=0
      ;;
    'list')
      _arguments -s -S \
        '*--all[also what rlock wrote nothing about\: Redisson'\''s]' \
        '*--scan-time=[look for keys no longer than this]:DUR:( )' \
        '*--state=[held kept stale free open closed (repeated\: any)]:STATE:(held kept stale free open closed)' \
        '*--type=[lock fair fenced read-write plain semaphore permit]:TYPE:(lock fair fenced read-write plain semaphore permit latch)' \
        '*--host=[held from this host (repeated\: any)]:H:( )' \
        '*--older=[held for this long, or longer]:DUR:( )' \
        '*--sort=[key age waiting]:WHAT:(key age waiting)' \
        '*--json[one document, as of rlock inspect]' \
        '*-q[only the keys, as one types them]' \
        '*--quiet[only the keys, as one types them]' \
        '*-v[Also what happens inside\: redirections, broken connections]' \
        '*--verbose[Also what happens inside\: redirections, broken connections]' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        '*:PATTERN:_rlock_numbers' \
        && ret=0
      ;;
    'metrics')
      _arguments -s -S \
        '*--all[also what rlock wrote nothing about\: Redisson'\''s]' \
        '*--scan-time=[look for keys no longer than this]:DUR:( )' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        '*:PATTERN:_rlock_numbers' \
        && ret=0
      ;;
    'top')
      _arguments -s -S \
        '*--all[also what rlock wrote nothing about\: Redisson'\''s]' \
        '*--scan-time=[look for keys no longer than this]:DUR:( )' \
        '*--every=[look again after this]:DUR:( )' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        '*:PATTERN:_rlock_numbers' \
        && ret=0
      ;;
    'inspect')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_numbers' \
        '*--key=[]:KEY:_rlock_numbers' \
        '*--json[one document; schema in rlock-inspect(1)]' \
        '*-q[only the names of the keys]' \
        '*--quiet[only the names of the keys]' \
        '*-v[also ids in full, queue, keys, who listens]' \
        '*--verbose[also ids in full, queue, keys, who listens]' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        '*:KEY:_rlock_numbers' \
        && ret=0
      ;;
    'history')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_keys' \
        '*--key=[]:KEY:_rlock_keys' \
        '*-n+[at most so many]:N:( )' \
        '*--lines=[at most so many]:N:( )' \
        '*--json[one document; schema in rlock-history(1)]' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':KEY:_rlock_keys' \
        && ret=0
      ;;
    'stop')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_keys' \
        '*--key=[]:KEY:_rlock_keys' \
        '*--reason=[the holder says it on its stderr and in its record]:TEXT:( )' \
        '*--if-owner=[only this holder of KEY; a pool needs it]:ID:_rlock_owners' \
        '*-w+[at most this long for its end]:DUR:( )' \
        '*--wait=[at most this long for its end]:DUR:( )' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        '*:KEY:_rlock_keys' \
        && ret=0
      ;;
    'unlock')
      _arguments -s -S \
        '*-k+[]:KEY:_rlock_keys' \
        '*--key=[]:KEY:_rlock_keys' \
        '*--if-owner=[only if this one holds it; of a pool\: whose permits]:ID:_rlock_owners' \
        '*--type=[must agree; plain\: text that rlock knows nothing of]:T:(lock read write fair fenced spin permit plain)' \
        '*-y[do not ask]' \
        '*--yes[do not ask]' \
        '*--reason=[who loses the lock says it; so does rlock history]:TEXT:( )' \
        '*--json[one document; schema in rlock-unlock(1)]' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        '*:KEY:_rlock_keys' \
        && ret=0
      ;;
    'config')
      _arguments -s -S \
        '*--json[one document; schema in rlock-config(1)]' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        && ret=0
      ;;
    'doctor')
      _arguments -s -S \
        '*--json[one document]' \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        && ret=0
      ;;
    'server start')
      _arguments -s -S \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        && ret=0
      ;;
    'server stop')
      _arguments -s -S \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        && ret=0
      ;;
    'server status')
      _arguments -s -S \
        '*--json[one document]' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        && ret=0
      ;;
    'scripts list')
      _arguments -s -S \
        '*--json[one document]' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        && ret=0
      ;;
    'scripts show')
      _arguments -s -S \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':NAME:(counter/add counter/delete counter/init fair/acquire fair/release fenced/acquire fenced/enter history/read inspect/content inspect/facts inspect/free inspect/glance inspect/key latch/delete latch/down latch/inspect latch/record latch/set latch/status lock/acquire lock/enter lock/force lock/release lock/renew meta/erase meta/write multi/fair multi/fenced multi/lock multi/plain multi/read multi/write once/fair_release once/lock_release once/status permit/acquire permit/enter permit/release permit/release_ids permit/renew permit/renew_ids permit/status plain/acquire plain/enter plain/force plain/release plain/renew read/acquire read/release read/renew read/sweep read_write/force semaphore/acquire semaphore/drain semaphore/status semaphore/undo write/acquire write/release write/renew quorum/lock_acquire quorum/lock_release quorum/read_acquire quorum/read_release quorum/write_acquire quorum/write_release quorum/multi_lock quorum/multi_read quorum/multi_write)' \
        && ret=0
      ;;
    'scripts load')
      _arguments -s -S \
        '*-u+[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--url=[redis\: rediss\: valkey\: valkeys\: unix\:]:URL:( )' \
        '*--password-file=[read at each connection; or RLOCK_PASSWORD]:F:_files' \
        '*--askpass[Ask for the password on the terminal]' \
        '*--user=[The ACL user, whatever the URL says]:NAME:( )' \
        '*--db=[The number of the database, whatever the URL says]:N:( )' \
        '*--prefix=[Stands before every KEY; or RLOCK_PREFIX]:STR:( )' \
        '*--config=[Read this configuration file and no other; or RLOCK_CONFIG]:FILE:_files' \
        '*--profile=[What stands below \[NAME\] in the configuration files, too; or RLOCK_PROFILE]:NAME:_rlock_profiles' \
        '*--tls[Speak TLS, as rediss\: does]' \
        '*--cacert=[Trust the authorities in this file instead of the system'\''s]:F:_files' \
        '*--cacertdir=[Trust the authorities in this folder instead of the system'\''s]:D:_files -/' \
        '*--cert=[The certificate that we show; it needs --tls-key]:F:_files' \
        '*--tls-key=[The private key of that certificate, without a passphrase]:F:_files' \
        '*--sni=[The name that the server has to prove, instead of the host'\''s]:H:( )' \
        '*--insecure[Encrypt without asking who the server is]' \
        '*--connect-timeout=[For one attempt\: looking the name up, connecting, TLS and greeting]:DUR:( )' \
        '*--command-timeout=[For the answer to one request]:DUR:( )' \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        && ret=0
      ;;
    'completion bash')
      _arguments -s -S \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        && ret=0
      ;;
    'completion zsh')
      _arguments -s -S \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        && ret=0
      ;;
    'completion fish')
      _arguments -s -S \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        && ret=0
      ;;
    'help')
      _arguments -s -S \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        ':VERB:(run flock lock permit sem latch list metrics top inspect history stop unlock config doctor server scripts completion help version)' \
        ':VERB:( )' \
        && ret=0
      ;;
    'version')
      _arguments -s -S \
        '*-q[Only errors and warnings]' \
        '*--quiet[Only errors and warnings]' \
        '*-v[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*--verbose[Also what happens inside, and when, counted from the start\: the lock acquired, renewed (first, and after trouble) and released; redirections, failovers, broken connections]' \
        '*-h[say what this does]' \
        '*--help[say what this does]' \
        '*-V[say which rlock this is]' \
        '*--version[say which rlock this is]' \
        && ret=0
      ;;
  esac
  return ret
}

_rlock() {
  local ret=1 verb typed_at=$CURRENT line state
  local -a nouns typed valued
  local -A opt_args
  typed=("${words[@]}")
  valued=(-u --url --password-file --user --db --prefix --config --profile --cacert --cacertdir --cert --tls-key --sni --connect-timeout --command-timeout)
  nouns=(
    'run:rlock run -k KEY \[OPTIONS\] \[--\] COMMAND \[ARG...\]'
    'flock:the same by the command line of flock(1)'
    'lock:acquire, release, renew, status, wait'
    'permit:init, add, acquire, release, renew, status, delete'
    'sem:init, acquire, release, add, drain, status, delete'
    'latch:set, down, wait, status, delete'
    'list:one line a key\: who has it, since when, who waits'
    'metrics:what list shows, as text for Prometheus'
    'top:the same, live'
    'inspect:who holds what, since when, until when, who waits'
    'history:who had a key, and how each hold ended'
    'stop:ask whoever holds a lock to end'
    'unlock:remove a lock by force'
    'config:which settings are in force, and why'
    'doctor:is this server fit to hold locks?'
    'server:start, stop, status'
    'scripts:list, show, load'
    'completion:bash, zsh, fish'
    'help:what a verb does'
    'version:which rlock this is'
  )
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
      compadd -- -u --url --password-file --askpass --user --db --prefix --config --profile --tls --cacert --cacertdir --cert --tls-key --sni --insecure --connect-timeout --command-timeout -q --quiet -v --verbose -h --help -V --version && ret=0
    else
      _describe verb nouns && ret=0
    fi
    return ret
  fi
  verb=$words[2]
  shift words
  ((CURRENT--))
  case $verb in
    lock | permit | sem | latch | server | scripts | completion)
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
