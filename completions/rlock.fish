# fish completion for rlock, also printed by: rlock completion fish

# Asks rlock for the candidates. The words up to the cursor go to stdin (cmd/app/shell_line.h).
function __rlock_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program rlock
    type -q rlock; or set program $words[1]
    set -l lines (printf '%s\0' $words "$current" | $program complete fish 2>/dev/null)
    set -q lines[1]; or return
    set -l answer (string split ' ' -- $lines[1])
    switch $answer[1]
        case words
            set -q lines[2]; and printf '%s\n' $lines[2..-1]
        case files
            __rlock_complete_path $answer[2] "$current" __fish_complete_path
        case folders
            __rlock_complete_path $answer[2] "$current" __fish_complete_directories
        case command # completes as it would alone
            set -e words[1..$answer[2]]
            complete --do-complete=(string join -- ' ' (string escape -- $words) "$current")
    end
end

# Completes the rest of a word behind its first bytes, such as "--cacert=", by a function.
function __rlock_complete_path --argument-names kept word complete
    for path in ($complete (string sub -s (math $kept + 1) -- "$word"))
        echo (string sub -l $kept -- "$word")$path
    end
end

complete -c rlock -f -a '(__rlock_complete)'
