# fish completion for rlock, written by: rlock completion fish

# Is this the verb of the command line, and does no command follow yet?
function __rlock_verb
    set -l words (commandline -opc)
    set -e words[1]
    test (count $words) -ge (count $argv); or return 1
    for i in (seq (count $argv))
        test "$words[$i]" = "$argv[$i]"; or return 1
    end
    not contains -- -- $words
end

# Have exactly these words been typed?
function __rlock_words
    set -l words (commandline -opc)
    test "$words[2..-1]" = "$argv"
end

# The keys of the server that the command line names, or else of the one that rlock would ask.
function __rlock_keys
    set -l words (commandline -opc)
    set -l server
    for i in (seq (count $words))
        switch $words[$i]
            case -u --url
                set -a server --url $words[(math $i + 1)]
            case '--url=*'
                set -a server $words[$i]
        end
    end
    rlock inspect --quiet --connect-timeout 500ms --command-timeout 500ms $server 2>/dev/null </dev/null
end

complete -c rlock -f
complete -c rlock -n __rlock_words -l help -s h -d 'say what rlock does'
complete -c rlock -n __rlock_words -l version -s V -d 'say which rlock this is'
complete -c rlock -n __rlock_words -a run -d 'rlock run -k KEY [OPTIONS] [--] COMMAND [ARG...]'
complete -c rlock -n __rlock_words -a lock -d 'acquire, release, renew, status'
complete -c rlock -n __rlock_words -a permit -d 'init, add, acquire, release, renew, status, delete'
complete -c rlock -n __rlock_words -a sem -d 'init, acquire, release, add, drain, status, delete'
complete -c rlock -n __rlock_words -a latch -d 'set, down, wait, status, delete'
complete -c rlock -n __rlock_words -a inspect -d 'who holds what, since when, until when, who waits'
complete -c rlock -n __rlock_words -a unlock -d 'remove a lock by force'
complete -c rlock -n __rlock_words -a doctor -d 'is this server fit to hold locks?'
complete -c rlock -n __rlock_words -a server -d 'start, stop, status'
complete -c rlock -n __rlock_words -a scripts -d 'list, show, load'
complete -c rlock -n __rlock_words -a completion -d 'bash, zsh, fish'

# rlock run
complete -c rlock -n '__rlock_verb run' -s k -l key -x -a '(__rlock_keys)' -d 'several: all of them or none'
complete -c rlock -n '__rlock_verb run' -s s -l shared -l read -d 'readers share; use -s and -x together on one key'
complete -c rlock -n '__rlock_verb run' -s x -l exclusive -l write -d 'one writer'
complete -c rlock -n '__rlock_verb run' -l fair -d 'in order of arrival'
complete -c rlock -n '__rlock_verb run' -l fenced -d 'a growing number in RLOCK_FENCE'
complete -c rlock -n '__rlock_verb run' -l permits -x -d 'one of N slots (RLOCK_SLOT), --count M takes M'
complete -c rlock -n '__rlock_verb run' -l count -x -d 'How many permits to take'
complete -c rlock -n '__rlock_verb run' -l type -x -a 'lock read write fair fenced spin permit plain' -d 'lock read write fair fenced spin permit plain'
complete -c rlock -n '__rlock_verb run' -s c -l command -x -d 'Run STRING by /bin/sh -c, instead of COMMAND'
complete -c rlock -n '__rlock_verb run' -s n -l nonblock -d 'not at all'
complete -c rlock -n '__rlock_verb run' -s w -l wait -x -d 'at most this long, for the server too'
complete -c rlock -n '__rlock_verb run' -s E -l conflict-exit-code -x -d 'exit status when not acquired'
complete -c rlock -n '__rlock_verb run' -l lease -x -d 'a dead holder keeps the lock this long'
complete -c rlock -n '__rlock_verb run' -l max-hold -x -d 'stop COMMAND after this; exit 124'
complete -c rlock -n '__rlock_verb run' -l min-hold -x -d 'keep the key this long after the acquire'
complete -c rlock -n '__rlock_verb run' -l no-renew -d 'no watchdog: lock and COMMAND end with the lease'
complete -c rlock -n '__rlock_verb run' -l until -x -a 'command group' -d 'release when which has ended'
complete -c rlock -n '__rlock_verb run' -l signal -x -d 'TERM, SIGTERM or 15; it goes to the command\'s process group'
complete -c rlock -n '__rlock_verb run' -l kill-after -x -d 'The pause between that signal and KILL at --max-hold'
complete -c rlock -n '__rlock_verb run' -l lost-grace -x -d 'The same pause after a loss; it must fit into the lease'
complete -c rlock -n '__rlock_verb run' -l on-lost -x -a 'stop warn' -d 'COMMAND, when the lock is lost'
complete -c rlock -n '__rlock_verb run' -l reason -x -d 'Shown to whoever waits, and by rlock inspect'
complete -c rlock -n '__rlock_verb run' -l label -x -d 'As --reason; may be given several times'
complete -c rlock -n '__rlock_verb run' -l status-file -r -F -d 'one JSON line that says how it ended'
complete -c rlock -n '__rlock_verb run' -l status-fd -x -d 'the same, to an open descriptor'
complete -c rlock -n '__rlock_verb run' -s q -l quiet
complete -c rlock -n '__rlock_verb run' -s v -l verbose
complete -c rlock -n '__rlock_verb run' -l sync-replicas -x -d 'An acquire or a renewal counts only when so many replicas have it (WAIT)'
complete -c rlock -n '__rlock_verb run' -l sync-timeout -x
complete -c rlock -n '__rlock_verb run' -l backoff -x -d 'The pause between tries of a type that nothing wakes: doubles from MIN to MAX, with jitter'
complete -c rlock -n '__rlock_verb run' -l quorum -x -a 'majority all' -d 'Of several --url: how many servers must grant the lock'
complete -c rlock -n '__rlock_verb run' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb run' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb run' -l askpass
complete -c rlock -n '__rlock_verb run' -l user -x
complete -c rlock -n '__rlock_verb run' -l db -x
complete -c rlock -n '__rlock_verb run' -l prefix -x
complete -c rlock -n '__rlock_verb run' -l config -r -F
complete -c rlock -n '__rlock_verb run' -l tls
complete -c rlock -n '__rlock_verb run' -l cacert -r -F
complete -c rlock -n '__rlock_verb run' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb run' -l cert -r -F
complete -c rlock -n '__rlock_verb run' -l tls-key -r -F
complete -c rlock -n '__rlock_verb run' -l sni -x
complete -c rlock -n '__rlock_verb run' -l insecure
complete -c rlock -n '__rlock_verb run' -l connect-timeout -x
complete -c rlock -n '__rlock_verb run' -l command-timeout -x
complete -c rlock -n '__rlock_verb run' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb run' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb run' -x -a '(__fish_complete_subcommand)'

# rlock lock acquire
complete -c rlock -n '__rlock_words lock' -a acquire -d 'take a lock that nobody renews; prints its owner id'
complete -c rlock -n '__rlock_verb lock acquire' -l lease -x -d 'the lock ends after this (required)'
complete -c rlock -n '__rlock_verb lock acquire' -l type -x -a 'lock read write fair fenced spin permit plain' -d 'lock read write fair fenced spin permit plain'
complete -c rlock -n '__rlock_verb lock acquire' -l owner -x -d 'who has KEY already keeps it, with a new lease'
complete -c rlock -n '__rlock_verb lock acquire' -l again -d 'one more hold of an owner who has KEY'
complete -c rlock -n '__rlock_verb lock acquire' -s n -l nonblock -d 'not at all'
complete -c rlock -n '__rlock_verb lock acquire' -s w -l wait -x -d 'at most this long, for the server too'
complete -c rlock -n '__rlock_verb lock acquire' -s E -l conflict-exit-code -x -d 'exit status when not acquired'
complete -c rlock -n '__rlock_verb lock acquire' -l json -d 'all facts in one document, instead of the owner id'
complete -c rlock -n '__rlock_verb lock acquire' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb lock acquire' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb lock acquire' -l askpass
complete -c rlock -n '__rlock_verb lock acquire' -l user -x
complete -c rlock -n '__rlock_verb lock acquire' -l db -x
complete -c rlock -n '__rlock_verb lock acquire' -l prefix -x
complete -c rlock -n '__rlock_verb lock acquire' -l config -r -F
complete -c rlock -n '__rlock_verb lock acquire' -l tls
complete -c rlock -n '__rlock_verb lock acquire' -l cacert -r -F
complete -c rlock -n '__rlock_verb lock acquire' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb lock acquire' -l cert -r -F
complete -c rlock -n '__rlock_verb lock acquire' -l tls-key -r -F
complete -c rlock -n '__rlock_verb lock acquire' -l sni -x
complete -c rlock -n '__rlock_verb lock acquire' -l insecure
complete -c rlock -n '__rlock_verb lock acquire' -l connect-timeout -x
complete -c rlock -n '__rlock_verb lock acquire' -l command-timeout -x
complete -c rlock -n '__rlock_verb lock acquire' -s q -l quiet
complete -c rlock -n '__rlock_verb lock acquire' -s v -l verbose
complete -c rlock -n '__rlock_verb lock acquire' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb lock acquire' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb lock acquire' -x -a '(__rlock_keys)'

# rlock lock release
complete -c rlock -n '__rlock_words lock' -a release -d 'give it back'
complete -c rlock -n '__rlock_verb lock release' -l owner -x -d 'as rlock lock acquire has printed it (required)'
complete -c rlock -n '__rlock_verb lock release' -l type -x -a 'lock read write fair fenced spin permit plain' -d 'must agree with what stands there'
complete -c rlock -n '__rlock_verb lock release' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb lock release' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb lock release' -l askpass
complete -c rlock -n '__rlock_verb lock release' -l user -x
complete -c rlock -n '__rlock_verb lock release' -l db -x
complete -c rlock -n '__rlock_verb lock release' -l prefix -x
complete -c rlock -n '__rlock_verb lock release' -l config -r -F
complete -c rlock -n '__rlock_verb lock release' -l tls
complete -c rlock -n '__rlock_verb lock release' -l cacert -r -F
complete -c rlock -n '__rlock_verb lock release' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb lock release' -l cert -r -F
complete -c rlock -n '__rlock_verb lock release' -l tls-key -r -F
complete -c rlock -n '__rlock_verb lock release' -l sni -x
complete -c rlock -n '__rlock_verb lock release' -l insecure
complete -c rlock -n '__rlock_verb lock release' -l connect-timeout -x
complete -c rlock -n '__rlock_verb lock release' -l command-timeout -x
complete -c rlock -n '__rlock_verb lock release' -s q -l quiet
complete -c rlock -n '__rlock_verb lock release' -s v -l verbose
complete -c rlock -n '__rlock_verb lock release' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb lock release' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb lock release' -x -a '(__rlock_keys)'

# rlock lock renew
complete -c rlock -n '__rlock_words lock' -a renew -d 'let its lease start anew'
complete -c rlock -n '__rlock_verb lock renew' -l owner -x -d 'as rlock lock acquire has printed it (required)'
complete -c rlock -n '__rlock_verb lock renew' -l type -x -a 'lock read write fair fenced spin permit plain' -d 'must agree with what stands there'
complete -c rlock -n '__rlock_verb lock renew' -l lease -x -d 'from now on; without it as long as it was before'
complete -c rlock -n '__rlock_verb lock renew' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb lock renew' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb lock renew' -l askpass
complete -c rlock -n '__rlock_verb lock renew' -l user -x
complete -c rlock -n '__rlock_verb lock renew' -l db -x
complete -c rlock -n '__rlock_verb lock renew' -l prefix -x
complete -c rlock -n '__rlock_verb lock renew' -l config -r -F
complete -c rlock -n '__rlock_verb lock renew' -l tls
complete -c rlock -n '__rlock_verb lock renew' -l cacert -r -F
complete -c rlock -n '__rlock_verb lock renew' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb lock renew' -l cert -r -F
complete -c rlock -n '__rlock_verb lock renew' -l tls-key -r -F
complete -c rlock -n '__rlock_verb lock renew' -l sni -x
complete -c rlock -n '__rlock_verb lock renew' -l insecure
complete -c rlock -n '__rlock_verb lock renew' -l connect-timeout -x
complete -c rlock -n '__rlock_verb lock renew' -l command-timeout -x
complete -c rlock -n '__rlock_verb lock renew' -s q -l quiet
complete -c rlock -n '__rlock_verb lock renew' -s v -l verbose
complete -c rlock -n '__rlock_verb lock renew' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb lock renew' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb lock renew' -x -a '(__rlock_keys)'

# rlock lock status
complete -c rlock -n '__rlock_words lock' -a status -d 'is it held, and by whom'
complete -c rlock -n '__rlock_verb lock status' -l owner -x -d 'held by this owner?'
complete -c rlock -n '__rlock_verb lock status' -l type -x -a 'lock read write fair fenced spin permit plain' -d 'must agree with what stands there'
complete -c rlock -n '__rlock_verb lock status' -s q -l quiet -d 'the exit status says it all'
complete -c rlock -n '__rlock_verb lock status' -s v -l verbose -d 'also the owner id in full'
complete -c rlock -n '__rlock_verb lock status' -l json -d 'one document; schema in rlock-inspect(1)'
complete -c rlock -n '__rlock_verb lock status' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb lock status' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb lock status' -l askpass
complete -c rlock -n '__rlock_verb lock status' -l user -x
complete -c rlock -n '__rlock_verb lock status' -l db -x
complete -c rlock -n '__rlock_verb lock status' -l prefix -x
complete -c rlock -n '__rlock_verb lock status' -l config -r -F
complete -c rlock -n '__rlock_verb lock status' -l tls
complete -c rlock -n '__rlock_verb lock status' -l cacert -r -F
complete -c rlock -n '__rlock_verb lock status' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb lock status' -l cert -r -F
complete -c rlock -n '__rlock_verb lock status' -l tls-key -r -F
complete -c rlock -n '__rlock_verb lock status' -l sni -x
complete -c rlock -n '__rlock_verb lock status' -l insecure
complete -c rlock -n '__rlock_verb lock status' -l connect-timeout -x
complete -c rlock -n '__rlock_verb lock status' -l command-timeout -x
complete -c rlock -n '__rlock_verb lock status' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb lock status' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb lock status' -x -a '(__rlock_keys)'

# rlock permit init
complete -c rlock -n '__rlock_words permit' -a init -d 'make a pool of N permits'
complete -c rlock -n '__rlock_verb permit init' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb permit init' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb permit init' -l askpass
complete -c rlock -n '__rlock_verb permit init' -l user -x
complete -c rlock -n '__rlock_verb permit init' -l db -x
complete -c rlock -n '__rlock_verb permit init' -l prefix -x
complete -c rlock -n '__rlock_verb permit init' -l config -r -F
complete -c rlock -n '__rlock_verb permit init' -l tls
complete -c rlock -n '__rlock_verb permit init' -l cacert -r -F
complete -c rlock -n '__rlock_verb permit init' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb permit init' -l cert -r -F
complete -c rlock -n '__rlock_verb permit init' -l tls-key -r -F
complete -c rlock -n '__rlock_verb permit init' -l sni -x
complete -c rlock -n '__rlock_verb permit init' -l insecure
complete -c rlock -n '__rlock_verb permit init' -l connect-timeout -x
complete -c rlock -n '__rlock_verb permit init' -l command-timeout -x
complete -c rlock -n '__rlock_verb permit init' -s q -l quiet
complete -c rlock -n '__rlock_verb permit init' -s v -l verbose
complete -c rlock -n '__rlock_verb permit init' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb permit init' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb permit init' -x -a '(__rlock_keys)'

# rlock permit add
complete -c rlock -n '__rlock_words permit' -a add -d 'make N more available'
complete -c rlock -n '__rlock_verb permit add' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb permit add' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb permit add' -l askpass
complete -c rlock -n '__rlock_verb permit add' -l user -x
complete -c rlock -n '__rlock_verb permit add' -l db -x
complete -c rlock -n '__rlock_verb permit add' -l prefix -x
complete -c rlock -n '__rlock_verb permit add' -l config -r -F
complete -c rlock -n '__rlock_verb permit add' -l tls
complete -c rlock -n '__rlock_verb permit add' -l cacert -r -F
complete -c rlock -n '__rlock_verb permit add' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb permit add' -l cert -r -F
complete -c rlock -n '__rlock_verb permit add' -l tls-key -r -F
complete -c rlock -n '__rlock_verb permit add' -l sni -x
complete -c rlock -n '__rlock_verb permit add' -l insecure
complete -c rlock -n '__rlock_verb permit add' -l connect-timeout -x
complete -c rlock -n '__rlock_verb permit add' -l command-timeout -x
complete -c rlock -n '__rlock_verb permit add' -s q -l quiet
complete -c rlock -n '__rlock_verb permit add' -s v -l verbose
complete -c rlock -n '__rlock_verb permit add' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb permit add' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb permit add' -x -a '(__rlock_keys)'

# rlock permit acquire
complete -c rlock -n '__rlock_words permit' -a acquire -d 'take permits for the time of a lease; prints ids'
complete -c rlock -n '__rlock_verb permit acquire' -l lease -x -d 'the permits end after this (required)'
complete -c rlock -n '__rlock_verb permit acquire' -l count -x -d 'so many, all or none'
complete -c rlock -n '__rlock_verb permit acquire' -s n -l nonblock -d 'not at all'
complete -c rlock -n '__rlock_verb permit acquire' -s w -l wait -x -d 'at most this long, for the server too'
complete -c rlock -n '__rlock_verb permit acquire' -s E -l conflict-exit-code -x -d 'exit status when not acquired'
complete -c rlock -n '__rlock_verb permit acquire' -l json -d 'all facts in one document, instead of the ids'
complete -c rlock -n '__rlock_verb permit acquire' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb permit acquire' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb permit acquire' -l askpass
complete -c rlock -n '__rlock_verb permit acquire' -l user -x
complete -c rlock -n '__rlock_verb permit acquire' -l db -x
complete -c rlock -n '__rlock_verb permit acquire' -l prefix -x
complete -c rlock -n '__rlock_verb permit acquire' -l config -r -F
complete -c rlock -n '__rlock_verb permit acquire' -l tls
complete -c rlock -n '__rlock_verb permit acquire' -l cacert -r -F
complete -c rlock -n '__rlock_verb permit acquire' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb permit acquire' -l cert -r -F
complete -c rlock -n '__rlock_verb permit acquire' -l tls-key -r -F
complete -c rlock -n '__rlock_verb permit acquire' -l sni -x
complete -c rlock -n '__rlock_verb permit acquire' -l insecure
complete -c rlock -n '__rlock_verb permit acquire' -l connect-timeout -x
complete -c rlock -n '__rlock_verb permit acquire' -l command-timeout -x
complete -c rlock -n '__rlock_verb permit acquire' -s q -l quiet
complete -c rlock -n '__rlock_verb permit acquire' -s v -l verbose
complete -c rlock -n '__rlock_verb permit acquire' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb permit acquire' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb permit acquire' -x -a '(__rlock_keys)'

# rlock permit release
complete -c rlock -n '__rlock_words permit' -a release -d 'give permits back'
complete -c rlock -n '__rlock_verb permit release' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb permit release' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb permit release' -l askpass
complete -c rlock -n '__rlock_verb permit release' -l user -x
complete -c rlock -n '__rlock_verb permit release' -l db -x
complete -c rlock -n '__rlock_verb permit release' -l prefix -x
complete -c rlock -n '__rlock_verb permit release' -l config -r -F
complete -c rlock -n '__rlock_verb permit release' -l tls
complete -c rlock -n '__rlock_verb permit release' -l cacert -r -F
complete -c rlock -n '__rlock_verb permit release' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb permit release' -l cert -r -F
complete -c rlock -n '__rlock_verb permit release' -l tls-key -r -F
complete -c rlock -n '__rlock_verb permit release' -l sni -x
complete -c rlock -n '__rlock_verb permit release' -l insecure
complete -c rlock -n '__rlock_verb permit release' -l connect-timeout -x
complete -c rlock -n '__rlock_verb permit release' -l command-timeout -x
complete -c rlock -n '__rlock_verb permit release' -s q -l quiet
complete -c rlock -n '__rlock_verb permit release' -s v -l verbose
complete -c rlock -n '__rlock_verb permit release' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb permit release' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb permit release' -x -a '(__rlock_keys)'

# rlock permit renew
complete -c rlock -n '__rlock_words permit' -a renew -d 'let their leases start anew'
complete -c rlock -n '__rlock_verb permit renew' -l lease -x -d 'from now on; without it as long as it was before'
complete -c rlock -n '__rlock_verb permit renew' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb permit renew' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb permit renew' -l askpass
complete -c rlock -n '__rlock_verb permit renew' -l user -x
complete -c rlock -n '__rlock_verb permit renew' -l db -x
complete -c rlock -n '__rlock_verb permit renew' -l prefix -x
complete -c rlock -n '__rlock_verb permit renew' -l config -r -F
complete -c rlock -n '__rlock_verb permit renew' -l tls
complete -c rlock -n '__rlock_verb permit renew' -l cacert -r -F
complete -c rlock -n '__rlock_verb permit renew' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb permit renew' -l cert -r -F
complete -c rlock -n '__rlock_verb permit renew' -l tls-key -r -F
complete -c rlock -n '__rlock_verb permit renew' -l sni -x
complete -c rlock -n '__rlock_verb permit renew' -l insecure
complete -c rlock -n '__rlock_verb permit renew' -l connect-timeout -x
complete -c rlock -n '__rlock_verb permit renew' -l command-timeout -x
complete -c rlock -n '__rlock_verb permit renew' -s q -l quiet
complete -c rlock -n '__rlock_verb permit renew' -s v -l verbose
complete -c rlock -n '__rlock_verb permit renew' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb permit renew' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb permit renew' -x -a '(__rlock_keys)'

# rlock permit status
complete -c rlock -n '__rlock_words permit' -a status -d 'how many are available'
complete -c rlock -n '__rlock_verb permit status' -l json -d 'one document'
complete -c rlock -n '__rlock_verb permit status' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb permit status' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb permit status' -l askpass
complete -c rlock -n '__rlock_verb permit status' -l user -x
complete -c rlock -n '__rlock_verb permit status' -l db -x
complete -c rlock -n '__rlock_verb permit status' -l prefix -x
complete -c rlock -n '__rlock_verb permit status' -l config -r -F
complete -c rlock -n '__rlock_verb permit status' -l tls
complete -c rlock -n '__rlock_verb permit status' -l cacert -r -F
complete -c rlock -n '__rlock_verb permit status' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb permit status' -l cert -r -F
complete -c rlock -n '__rlock_verb permit status' -l tls-key -r -F
complete -c rlock -n '__rlock_verb permit status' -l sni -x
complete -c rlock -n '__rlock_verb permit status' -l insecure
complete -c rlock -n '__rlock_verb permit status' -l connect-timeout -x
complete -c rlock -n '__rlock_verb permit status' -l command-timeout -x
complete -c rlock -n '__rlock_verb permit status' -s q -l quiet
complete -c rlock -n '__rlock_verb permit status' -s v -l verbose
complete -c rlock -n '__rlock_verb permit status' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb permit status' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb permit status' -x -a '(__rlock_keys)'

# rlock permit delete
complete -c rlock -n '__rlock_words permit' -a delete -d 'remove the pool'
complete -c rlock -n '__rlock_verb permit delete' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb permit delete' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb permit delete' -l askpass
complete -c rlock -n '__rlock_verb permit delete' -l user -x
complete -c rlock -n '__rlock_verb permit delete' -l db -x
complete -c rlock -n '__rlock_verb permit delete' -l prefix -x
complete -c rlock -n '__rlock_verb permit delete' -l config -r -F
complete -c rlock -n '__rlock_verb permit delete' -l tls
complete -c rlock -n '__rlock_verb permit delete' -l cacert -r -F
complete -c rlock -n '__rlock_verb permit delete' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb permit delete' -l cert -r -F
complete -c rlock -n '__rlock_verb permit delete' -l tls-key -r -F
complete -c rlock -n '__rlock_verb permit delete' -l sni -x
complete -c rlock -n '__rlock_verb permit delete' -l insecure
complete -c rlock -n '__rlock_verb permit delete' -l connect-timeout -x
complete -c rlock -n '__rlock_verb permit delete' -l command-timeout -x
complete -c rlock -n '__rlock_verb permit delete' -s q -l quiet
complete -c rlock -n '__rlock_verb permit delete' -s v -l verbose
complete -c rlock -n '__rlock_verb permit delete' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb permit delete' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb permit delete' -x -a '(__rlock_keys)'

# rlock sem init
complete -c rlock -n '__rlock_words sem' -a init -d 'make a semaphore of N permits'
complete -c rlock -n '__rlock_verb sem init' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb sem init' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb sem init' -l askpass
complete -c rlock -n '__rlock_verb sem init' -l user -x
complete -c rlock -n '__rlock_verb sem init' -l db -x
complete -c rlock -n '__rlock_verb sem init' -l prefix -x
complete -c rlock -n '__rlock_verb sem init' -l config -r -F
complete -c rlock -n '__rlock_verb sem init' -l tls
complete -c rlock -n '__rlock_verb sem init' -l cacert -r -F
complete -c rlock -n '__rlock_verb sem init' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb sem init' -l cert -r -F
complete -c rlock -n '__rlock_verb sem init' -l tls-key -r -F
complete -c rlock -n '__rlock_verb sem init' -l sni -x
complete -c rlock -n '__rlock_verb sem init' -l insecure
complete -c rlock -n '__rlock_verb sem init' -l connect-timeout -x
complete -c rlock -n '__rlock_verb sem init' -l command-timeout -x
complete -c rlock -n '__rlock_verb sem init' -s q -l quiet
complete -c rlock -n '__rlock_verb sem init' -s v -l verbose
complete -c rlock -n '__rlock_verb sem init' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb sem init' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb sem init' -x -a '(__rlock_keys)'

# rlock sem acquire
complete -c rlock -n '__rlock_words sem' -a acquire -d 'take permits'
complete -c rlock -n '__rlock_verb sem acquire' -l count -x -d 'so many, all or none'
complete -c rlock -n '__rlock_verb sem acquire' -s n -l nonblock -d 'not at all'
complete -c rlock -n '__rlock_verb sem acquire' -s w -l wait -x -d 'at most this long, for the server too'
complete -c rlock -n '__rlock_verb sem acquire' -s E -l conflict-exit-code -x -d 'exit status when not acquired'
complete -c rlock -n '__rlock_verb sem acquire' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb sem acquire' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb sem acquire' -l askpass
complete -c rlock -n '__rlock_verb sem acquire' -l user -x
complete -c rlock -n '__rlock_verb sem acquire' -l db -x
complete -c rlock -n '__rlock_verb sem acquire' -l prefix -x
complete -c rlock -n '__rlock_verb sem acquire' -l config -r -F
complete -c rlock -n '__rlock_verb sem acquire' -l tls
complete -c rlock -n '__rlock_verb sem acquire' -l cacert -r -F
complete -c rlock -n '__rlock_verb sem acquire' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb sem acquire' -l cert -r -F
complete -c rlock -n '__rlock_verb sem acquire' -l tls-key -r -F
complete -c rlock -n '__rlock_verb sem acquire' -l sni -x
complete -c rlock -n '__rlock_verb sem acquire' -l insecure
complete -c rlock -n '__rlock_verb sem acquire' -l connect-timeout -x
complete -c rlock -n '__rlock_verb sem acquire' -l command-timeout -x
complete -c rlock -n '__rlock_verb sem acquire' -s q -l quiet
complete -c rlock -n '__rlock_verb sem acquire' -s v -l verbose
complete -c rlock -n '__rlock_verb sem acquire' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb sem acquire' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb sem acquire' -x -a '(__rlock_keys)'

# rlock sem release
complete -c rlock -n '__rlock_words sem' -a release -d 'give permits back'
complete -c rlock -n '__rlock_verb sem release' -l count -x -d 'so many'
complete -c rlock -n '__rlock_verb sem release' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb sem release' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb sem release' -l askpass
complete -c rlock -n '__rlock_verb sem release' -l user -x
complete -c rlock -n '__rlock_verb sem release' -l db -x
complete -c rlock -n '__rlock_verb sem release' -l prefix -x
complete -c rlock -n '__rlock_verb sem release' -l config -r -F
complete -c rlock -n '__rlock_verb sem release' -l tls
complete -c rlock -n '__rlock_verb sem release' -l cacert -r -F
complete -c rlock -n '__rlock_verb sem release' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb sem release' -l cert -r -F
complete -c rlock -n '__rlock_verb sem release' -l tls-key -r -F
complete -c rlock -n '__rlock_verb sem release' -l sni -x
complete -c rlock -n '__rlock_verb sem release' -l insecure
complete -c rlock -n '__rlock_verb sem release' -l connect-timeout -x
complete -c rlock -n '__rlock_verb sem release' -l command-timeout -x
complete -c rlock -n '__rlock_verb sem release' -s q -l quiet
complete -c rlock -n '__rlock_verb sem release' -s v -l verbose
complete -c rlock -n '__rlock_verb sem release' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb sem release' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb sem release' -x -a '(__rlock_keys)'

# rlock sem add
complete -c rlock -n '__rlock_words sem' -a add -d 'make N more available'
complete -c rlock -n '__rlock_verb sem add' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb sem add' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb sem add' -l askpass
complete -c rlock -n '__rlock_verb sem add' -l user -x
complete -c rlock -n '__rlock_verb sem add' -l db -x
complete -c rlock -n '__rlock_verb sem add' -l prefix -x
complete -c rlock -n '__rlock_verb sem add' -l config -r -F
complete -c rlock -n '__rlock_verb sem add' -l tls
complete -c rlock -n '__rlock_verb sem add' -l cacert -r -F
complete -c rlock -n '__rlock_verb sem add' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb sem add' -l cert -r -F
complete -c rlock -n '__rlock_verb sem add' -l tls-key -r -F
complete -c rlock -n '__rlock_verb sem add' -l sni -x
complete -c rlock -n '__rlock_verb sem add' -l insecure
complete -c rlock -n '__rlock_verb sem add' -l connect-timeout -x
complete -c rlock -n '__rlock_verb sem add' -l command-timeout -x
complete -c rlock -n '__rlock_verb sem add' -s q -l quiet
complete -c rlock -n '__rlock_verb sem add' -s v -l verbose
complete -c rlock -n '__rlock_verb sem add' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb sem add' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb sem add' -x -a '(__rlock_keys)'

# rlock sem drain
complete -c rlock -n '__rlock_words sem' -a drain -d 'take all that is available'
complete -c rlock -n '__rlock_verb sem drain' -l json -d 'one document'
complete -c rlock -n '__rlock_verb sem drain' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb sem drain' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb sem drain' -l askpass
complete -c rlock -n '__rlock_verb sem drain' -l user -x
complete -c rlock -n '__rlock_verb sem drain' -l db -x
complete -c rlock -n '__rlock_verb sem drain' -l prefix -x
complete -c rlock -n '__rlock_verb sem drain' -l config -r -F
complete -c rlock -n '__rlock_verb sem drain' -l tls
complete -c rlock -n '__rlock_verb sem drain' -l cacert -r -F
complete -c rlock -n '__rlock_verb sem drain' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb sem drain' -l cert -r -F
complete -c rlock -n '__rlock_verb sem drain' -l tls-key -r -F
complete -c rlock -n '__rlock_verb sem drain' -l sni -x
complete -c rlock -n '__rlock_verb sem drain' -l insecure
complete -c rlock -n '__rlock_verb sem drain' -l connect-timeout -x
complete -c rlock -n '__rlock_verb sem drain' -l command-timeout -x
complete -c rlock -n '__rlock_verb sem drain' -s q -l quiet
complete -c rlock -n '__rlock_verb sem drain' -s v -l verbose
complete -c rlock -n '__rlock_verb sem drain' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb sem drain' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb sem drain' -x -a '(__rlock_keys)'

# rlock sem status
complete -c rlock -n '__rlock_words sem' -a status -d 'how many are available'
complete -c rlock -n '__rlock_verb sem status' -l json -d 'one document'
complete -c rlock -n '__rlock_verb sem status' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb sem status' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb sem status' -l askpass
complete -c rlock -n '__rlock_verb sem status' -l user -x
complete -c rlock -n '__rlock_verb sem status' -l db -x
complete -c rlock -n '__rlock_verb sem status' -l prefix -x
complete -c rlock -n '__rlock_verb sem status' -l config -r -F
complete -c rlock -n '__rlock_verb sem status' -l tls
complete -c rlock -n '__rlock_verb sem status' -l cacert -r -F
complete -c rlock -n '__rlock_verb sem status' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb sem status' -l cert -r -F
complete -c rlock -n '__rlock_verb sem status' -l tls-key -r -F
complete -c rlock -n '__rlock_verb sem status' -l sni -x
complete -c rlock -n '__rlock_verb sem status' -l insecure
complete -c rlock -n '__rlock_verb sem status' -l connect-timeout -x
complete -c rlock -n '__rlock_verb sem status' -l command-timeout -x
complete -c rlock -n '__rlock_verb sem status' -s q -l quiet
complete -c rlock -n '__rlock_verb sem status' -s v -l verbose
complete -c rlock -n '__rlock_verb sem status' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb sem status' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb sem status' -x -a '(__rlock_keys)'

# rlock sem delete
complete -c rlock -n '__rlock_words sem' -a delete -d 'remove it'
complete -c rlock -n '__rlock_verb sem delete' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb sem delete' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb sem delete' -l askpass
complete -c rlock -n '__rlock_verb sem delete' -l user -x
complete -c rlock -n '__rlock_verb sem delete' -l db -x
complete -c rlock -n '__rlock_verb sem delete' -l prefix -x
complete -c rlock -n '__rlock_verb sem delete' -l config -r -F
complete -c rlock -n '__rlock_verb sem delete' -l tls
complete -c rlock -n '__rlock_verb sem delete' -l cacert -r -F
complete -c rlock -n '__rlock_verb sem delete' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb sem delete' -l cert -r -F
complete -c rlock -n '__rlock_verb sem delete' -l tls-key -r -F
complete -c rlock -n '__rlock_verb sem delete' -l sni -x
complete -c rlock -n '__rlock_verb sem delete' -l insecure
complete -c rlock -n '__rlock_verb sem delete' -l connect-timeout -x
complete -c rlock -n '__rlock_verb sem delete' -l command-timeout -x
complete -c rlock -n '__rlock_verb sem delete' -s q -l quiet
complete -c rlock -n '__rlock_verb sem delete' -s v -l verbose
complete -c rlock -n '__rlock_verb sem delete' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb sem delete' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb sem delete' -x -a '(__rlock_keys)'

# rlock latch set
complete -c rlock -n '__rlock_words latch' -a set -d 'make one that opens after N counts'
complete -c rlock -n '__rlock_verb latch set' -l expire -x -d 'forgotten after this, open or not'
complete -c rlock -n '__rlock_verb latch set' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb latch set' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb latch set' -l askpass
complete -c rlock -n '__rlock_verb latch set' -l user -x
complete -c rlock -n '__rlock_verb latch set' -l db -x
complete -c rlock -n '__rlock_verb latch set' -l prefix -x
complete -c rlock -n '__rlock_verb latch set' -l config -r -F
complete -c rlock -n '__rlock_verb latch set' -l tls
complete -c rlock -n '__rlock_verb latch set' -l cacert -r -F
complete -c rlock -n '__rlock_verb latch set' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb latch set' -l cert -r -F
complete -c rlock -n '__rlock_verb latch set' -l tls-key -r -F
complete -c rlock -n '__rlock_verb latch set' -l sni -x
complete -c rlock -n '__rlock_verb latch set' -l insecure
complete -c rlock -n '__rlock_verb latch set' -l connect-timeout -x
complete -c rlock -n '__rlock_verb latch set' -l command-timeout -x
complete -c rlock -n '__rlock_verb latch set' -s q -l quiet
complete -c rlock -n '__rlock_verb latch set' -s v -l verbose
complete -c rlock -n '__rlock_verb latch set' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb latch set' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb latch set' -x -a '(__rlock_keys)'

# rlock latch down
complete -c rlock -n '__rlock_words latch' -a down -d 'count it down'
complete -c rlock -n '__rlock_verb latch down' -l by -x -d 'so often at once'
complete -c rlock -n '__rlock_verb latch down' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb latch down' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb latch down' -l askpass
complete -c rlock -n '__rlock_verb latch down' -l user -x
complete -c rlock -n '__rlock_verb latch down' -l db -x
complete -c rlock -n '__rlock_verb latch down' -l prefix -x
complete -c rlock -n '__rlock_verb latch down' -l config -r -F
complete -c rlock -n '__rlock_verb latch down' -l tls
complete -c rlock -n '__rlock_verb latch down' -l cacert -r -F
complete -c rlock -n '__rlock_verb latch down' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb latch down' -l cert -r -F
complete -c rlock -n '__rlock_verb latch down' -l tls-key -r -F
complete -c rlock -n '__rlock_verb latch down' -l sni -x
complete -c rlock -n '__rlock_verb latch down' -l insecure
complete -c rlock -n '__rlock_verb latch down' -l connect-timeout -x
complete -c rlock -n '__rlock_verb latch down' -l command-timeout -x
complete -c rlock -n '__rlock_verb latch down' -s q -l quiet
complete -c rlock -n '__rlock_verb latch down' -s v -l verbose
complete -c rlock -n '__rlock_verb latch down' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb latch down' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb latch down' -x -a '(__rlock_keys)'

# rlock latch wait
complete -c rlock -n '__rlock_words latch' -a wait -d 'wait until it is open'
complete -c rlock -n '__rlock_verb latch wait' -l absent-ok -d 'take it for open'
complete -c rlock -n '__rlock_verb latch wait' -l await-set -d 'wait until it is set, too'
complete -c rlock -n '__rlock_verb latch wait' -s n -l nonblock -d 'not at all'
complete -c rlock -n '__rlock_verb latch wait' -s w -l wait -x -d 'at most this long, for the server too'
complete -c rlock -n '__rlock_verb latch wait' -s E -l conflict-exit-code -x -d 'exit status when not acquired'
complete -c rlock -n '__rlock_verb latch wait' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb latch wait' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb latch wait' -l askpass
complete -c rlock -n '__rlock_verb latch wait' -l user -x
complete -c rlock -n '__rlock_verb latch wait' -l db -x
complete -c rlock -n '__rlock_verb latch wait' -l prefix -x
complete -c rlock -n '__rlock_verb latch wait' -l config -r -F
complete -c rlock -n '__rlock_verb latch wait' -l tls
complete -c rlock -n '__rlock_verb latch wait' -l cacert -r -F
complete -c rlock -n '__rlock_verb latch wait' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb latch wait' -l cert -r -F
complete -c rlock -n '__rlock_verb latch wait' -l tls-key -r -F
complete -c rlock -n '__rlock_verb latch wait' -l sni -x
complete -c rlock -n '__rlock_verb latch wait' -l insecure
complete -c rlock -n '__rlock_verb latch wait' -l connect-timeout -x
complete -c rlock -n '__rlock_verb latch wait' -l command-timeout -x
complete -c rlock -n '__rlock_verb latch wait' -s q -l quiet
complete -c rlock -n '__rlock_verb latch wait' -s v -l verbose
complete -c rlock -n '__rlock_verb latch wait' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb latch wait' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb latch wait' -x -a '(__rlock_keys)'

# rlock latch status
complete -c rlock -n '__rlock_words latch' -a status -d 'is it open'
complete -c rlock -n '__rlock_verb latch status' -l json -d 'one document'
complete -c rlock -n '__rlock_verb latch status' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb latch status' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb latch status' -l askpass
complete -c rlock -n '__rlock_verb latch status' -l user -x
complete -c rlock -n '__rlock_verb latch status' -l db -x
complete -c rlock -n '__rlock_verb latch status' -l prefix -x
complete -c rlock -n '__rlock_verb latch status' -l config -r -F
complete -c rlock -n '__rlock_verb latch status' -l tls
complete -c rlock -n '__rlock_verb latch status' -l cacert -r -F
complete -c rlock -n '__rlock_verb latch status' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb latch status' -l cert -r -F
complete -c rlock -n '__rlock_verb latch status' -l tls-key -r -F
complete -c rlock -n '__rlock_verb latch status' -l sni -x
complete -c rlock -n '__rlock_verb latch status' -l insecure
complete -c rlock -n '__rlock_verb latch status' -l connect-timeout -x
complete -c rlock -n '__rlock_verb latch status' -l command-timeout -x
complete -c rlock -n '__rlock_verb latch status' -s q -l quiet
complete -c rlock -n '__rlock_verb latch status' -s v -l verbose
complete -c rlock -n '__rlock_verb latch status' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb latch status' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb latch status' -x -a '(__rlock_keys)'

# rlock latch delete
complete -c rlock -n '__rlock_words latch' -a delete -d 'remove it'
complete -c rlock -n '__rlock_verb latch delete' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb latch delete' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb latch delete' -l askpass
complete -c rlock -n '__rlock_verb latch delete' -l user -x
complete -c rlock -n '__rlock_verb latch delete' -l db -x
complete -c rlock -n '__rlock_verb latch delete' -l prefix -x
complete -c rlock -n '__rlock_verb latch delete' -l config -r -F
complete -c rlock -n '__rlock_verb latch delete' -l tls
complete -c rlock -n '__rlock_verb latch delete' -l cacert -r -F
complete -c rlock -n '__rlock_verb latch delete' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb latch delete' -l cert -r -F
complete -c rlock -n '__rlock_verb latch delete' -l tls-key -r -F
complete -c rlock -n '__rlock_verb latch delete' -l sni -x
complete -c rlock -n '__rlock_verb latch delete' -l insecure
complete -c rlock -n '__rlock_verb latch delete' -l connect-timeout -x
complete -c rlock -n '__rlock_verb latch delete' -l command-timeout -x
complete -c rlock -n '__rlock_verb latch delete' -s q -l quiet
complete -c rlock -n '__rlock_verb latch delete' -s v -l verbose
complete -c rlock -n '__rlock_verb latch delete' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb latch delete' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb latch delete' -x -a '(__rlock_keys)'

# rlock inspect
complete -c rlock -n '__rlock_verb inspect' -l json -d 'one document; schema in rlock-inspect(1)'
complete -c rlock -n '__rlock_verb inspect' -s q -l quiet -d 'only the names of the keys'
complete -c rlock -n '__rlock_verb inspect' -s v -l verbose -d 'also owner ids in full, queue, keys, who listens'
complete -c rlock -n '__rlock_verb inspect' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb inspect' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb inspect' -l askpass
complete -c rlock -n '__rlock_verb inspect' -l user -x
complete -c rlock -n '__rlock_verb inspect' -l db -x
complete -c rlock -n '__rlock_verb inspect' -l prefix -x
complete -c rlock -n '__rlock_verb inspect' -l config -r -F
complete -c rlock -n '__rlock_verb inspect' -l tls
complete -c rlock -n '__rlock_verb inspect' -l cacert -r -F
complete -c rlock -n '__rlock_verb inspect' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb inspect' -l cert -r -F
complete -c rlock -n '__rlock_verb inspect' -l tls-key -r -F
complete -c rlock -n '__rlock_verb inspect' -l sni -x
complete -c rlock -n '__rlock_verb inspect' -l insecure
complete -c rlock -n '__rlock_verb inspect' -l connect-timeout -x
complete -c rlock -n '__rlock_verb inspect' -l command-timeout -x
complete -c rlock -n '__rlock_verb inspect' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb inspect' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb inspect' -x -a '(__rlock_keys)'

# rlock unlock
complete -c rlock -n '__rlock_verb unlock' -l if-owner -x -d 'only if this one holds it'
complete -c rlock -n '__rlock_verb unlock' -s y -l yes -d 'do not ask'
complete -c rlock -n '__rlock_verb unlock' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb unlock' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb unlock' -l askpass
complete -c rlock -n '__rlock_verb unlock' -l user -x
complete -c rlock -n '__rlock_verb unlock' -l db -x
complete -c rlock -n '__rlock_verb unlock' -l prefix -x
complete -c rlock -n '__rlock_verb unlock' -l config -r -F
complete -c rlock -n '__rlock_verb unlock' -l tls
complete -c rlock -n '__rlock_verb unlock' -l cacert -r -F
complete -c rlock -n '__rlock_verb unlock' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb unlock' -l cert -r -F
complete -c rlock -n '__rlock_verb unlock' -l tls-key -r -F
complete -c rlock -n '__rlock_verb unlock' -l sni -x
complete -c rlock -n '__rlock_verb unlock' -l insecure
complete -c rlock -n '__rlock_verb unlock' -l connect-timeout -x
complete -c rlock -n '__rlock_verb unlock' -l command-timeout -x
complete -c rlock -n '__rlock_verb unlock' -s q -l quiet
complete -c rlock -n '__rlock_verb unlock' -s v -l verbose
complete -c rlock -n '__rlock_verb unlock' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb unlock' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb unlock' -x -a '(__rlock_keys)'

# rlock doctor
complete -c rlock -n '__rlock_verb doctor' -l json -d 'one document'
complete -c rlock -n '__rlock_verb doctor' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb doctor' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb doctor' -l askpass
complete -c rlock -n '__rlock_verb doctor' -l user -x
complete -c rlock -n '__rlock_verb doctor' -l db -x
complete -c rlock -n '__rlock_verb doctor' -l prefix -x
complete -c rlock -n '__rlock_verb doctor' -l config -r -F
complete -c rlock -n '__rlock_verb doctor' -l tls
complete -c rlock -n '__rlock_verb doctor' -l cacert -r -F
complete -c rlock -n '__rlock_verb doctor' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb doctor' -l cert -r -F
complete -c rlock -n '__rlock_verb doctor' -l tls-key -r -F
complete -c rlock -n '__rlock_verb doctor' -l sni -x
complete -c rlock -n '__rlock_verb doctor' -l insecure
complete -c rlock -n '__rlock_verb doctor' -l connect-timeout -x
complete -c rlock -n '__rlock_verb doctor' -l command-timeout -x
complete -c rlock -n '__rlock_verb doctor' -s q -l quiet
complete -c rlock -n '__rlock_verb doctor' -s v -l verbose
complete -c rlock -n '__rlock_verb doctor' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb doctor' -s V -l version -d 'say which rlock this is'

# rlock server start
complete -c rlock -n '__rlock_words server' -a start -d 'start it, unless it runs'
complete -c rlock -n '__rlock_verb server start' -s q -l quiet
complete -c rlock -n '__rlock_verb server start' -s v -l verbose
complete -c rlock -n '__rlock_verb server start' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb server start' -s V -l version -d 'say which rlock this is'

# rlock server stop
complete -c rlock -n '__rlock_words server' -a stop -d 'stop it in good order'
complete -c rlock -n '__rlock_verb server stop' -s q -l quiet
complete -c rlock -n '__rlock_verb server stop' -s v -l verbose
complete -c rlock -n '__rlock_verb server stop' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb server stop' -s V -l version -d 'say which rlock this is'

# rlock server status
complete -c rlock -n '__rlock_words server' -a status -d 'does it run, and where'
complete -c rlock -n '__rlock_verb server status' -l json -d 'one document'
complete -c rlock -n '__rlock_verb server status' -s q -l quiet
complete -c rlock -n '__rlock_verb server status' -s v -l verbose
complete -c rlock -n '__rlock_verb server status' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb server status' -s V -l version -d 'say which rlock this is'

# rlock scripts list
complete -c rlock -n '__rlock_words scripts' -a list -d 'name them, with their SHA-1'
complete -c rlock -n '__rlock_verb scripts list' -l json -d 'one document'
complete -c rlock -n '__rlock_verb scripts list' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb scripts list' -s V -l version -d 'say which rlock this is'

# rlock scripts show
complete -c rlock -n '__rlock_words scripts' -a show -d 'print one, byte for byte as it is sent'
complete -c rlock -n '__rlock_verb scripts show' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb scripts show' -s V -l version -d 'say which rlock this is'
complete -c rlock -n '__rlock_verb scripts show' -x -a 'counter/add counter/delete counter/init fair/acquire fair/give_back fenced/acquire fenced/enter inspect/look latch/delete latch/down latch/look latch/record latch/set latch/status lock/acquire lock/enter lock/force lock/release lock/renew lock/retract meta/erase meta/write multi/fair multi/fenced multi/lock multi/plain multi/read multi/write permit/acquire permit/enter permit/release permit/release_ids permit/renew permit/renew_ids permit/status plain/acquire plain/enter plain/force plain/release plain/renew read/acquire read/release read/renew read/sweep read_write/force semaphore/acquire semaphore/drain semaphore/status semaphore/undo write/acquire write/release write/renew'

# rlock scripts load
complete -c rlock -n '__rlock_words scripts' -a load -d 'load them into the servers beforehand'
complete -c rlock -n '__rlock_verb scripts load' -s u -l url -x -d 'redis: rediss: valkey: valkeys: unix: redis+sentinel: redis+cluster: local:'
complete -c rlock -n '__rlock_verb scripts load' -l password-file -r -F -d 'read at each connection; or RLOCK_PASSWORD'
complete -c rlock -n '__rlock_verb scripts load' -l askpass
complete -c rlock -n '__rlock_verb scripts load' -l user -x
complete -c rlock -n '__rlock_verb scripts load' -l db -x
complete -c rlock -n '__rlock_verb scripts load' -l prefix -x
complete -c rlock -n '__rlock_verb scripts load' -l config -r -F
complete -c rlock -n '__rlock_verb scripts load' -l tls
complete -c rlock -n '__rlock_verb scripts load' -l cacert -r -F
complete -c rlock -n '__rlock_verb scripts load' -l cacertdir -x -a '(__fish_complete_directories)'
complete -c rlock -n '__rlock_verb scripts load' -l cert -r -F
complete -c rlock -n '__rlock_verb scripts load' -l tls-key -r -F
complete -c rlock -n '__rlock_verb scripts load' -l sni -x
complete -c rlock -n '__rlock_verb scripts load' -l insecure
complete -c rlock -n '__rlock_verb scripts load' -l connect-timeout -x
complete -c rlock -n '__rlock_verb scripts load' -l command-timeout -x
complete -c rlock -n '__rlock_verb scripts load' -s q -l quiet
complete -c rlock -n '__rlock_verb scripts load' -s v -l verbose
complete -c rlock -n '__rlock_verb scripts load' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb scripts load' -s V -l version -d 'say which rlock this is'

# rlock completion bash
complete -c rlock -n '__rlock_words completion' -a bash -d 'for bash'
complete -c rlock -n '__rlock_verb completion bash' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb completion bash' -s V -l version -d 'say which rlock this is'

# rlock completion zsh
complete -c rlock -n '__rlock_words completion' -a zsh -d 'for zsh'
complete -c rlock -n '__rlock_verb completion zsh' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb completion zsh' -s V -l version -d 'say which rlock this is'

# rlock completion fish
complete -c rlock -n '__rlock_words completion' -a fish -d 'for fish'
complete -c rlock -n '__rlock_verb completion fish' -s h -l help -d 'say what this does'
complete -c rlock -n '__rlock_verb completion fish' -s V -l version -d 'say which rlock this is'
