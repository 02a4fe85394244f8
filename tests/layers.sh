#!/bin/sh
# Checks the #includes. A folder includes itself and the folders below it (base < loop < process < family < redis < sync < cmd).
# Each library, and each kind of system call, is used in one place only. Also checks the paths
# that CONTRIBUTING.md and tests/TOOLS.md name.
set -u
bad=0
files() { find "$@" -name '*.h' -o -name '*.cpp'; }
refuse() { # refuse <why> <pattern> <files>: fails if a line of these files matches
  # shellcheck disable=SC2086
  [ -z "$3" ] || ! grep -nE "$2" $3 /dev/null || { echo "^ $1" && bad=1; }
}

above='loop|process|family|redis|sync|cmd'
for folder in base loop process family redis sync; do
  refuse "src/$folder includes what stands above it" "^#include \"($above)/" "$(files src/$folder)"
  above=${above#*|}
done

# The folders of src/redis: what callers see stands in none of them, and below them. Of these, src/sync sees nothing else.
above='connection|route|executor'
refuse 'src/redis/*.h includes what stands above it' "^#include \"redis/($above)/" "$(find src/redis -maxdepth 1 -type f)"
refuse 'src/sync includes how calls are sent' "^#include \"redis/($above)/" "$(files src/sync)"
for folder in connection route; do
  above=${above#*|}
  refuse "src/redis/$folder includes what stands above it" "^#include \"redis/($above)/" "$(files src/redis/$folder)"
done

# The folders of src/sync: calls < kinds < wait < records < hold and watch. hold and watch do not include each other.
refuse 'src/sync/calls includes what stands above it' '^#include "sync/(kinds|wait|records|hold|watch)/' "$(files src/sync/calls)"
refuse 'src/sync/kinds includes what stands above it' '^#include "sync/(wait|records|hold|watch)/' "$(files src/sync/kinds)"
refuse 'src/sync/wait includes what stands above it' '^#include "sync/(records|hold|watch)/' "$(files src/sync/wait)"
refuse 'src/sync/records includes what stands above it' '^#include "sync/(hold|watch)/' "$(files src/sync/records)"
refuse 'src/sync/hold includes what stands beside it' '^#include "sync/watch/' "$(files src/sync/hold)"
refuse 'src/sync/watch includes what stands beside it' '^#include "sync/hold/' "$(files src/sync/watch)"

# The floors of cmd. Code that knows every verb (the table, help, completions) is in cmd/app.
above='server|view|ask|hold|run|verbs|app'
for folder in cli server view ask hold run verbs; do
  refuse "cmd/$folder includes what stands above it" "^#include \"cmd/($above)/" "$(files cmd/$folder)"
  above=${above#*|}
done

# The folders of cmd/hold.
above='keys|command|report|wait|keep'
for folder in request keys command report wait; do
  refuse "cmd/hold/$folder includes what stands above it" "^#include \"cmd/hold/($above)/" "$(files cmd/hold/$folder)"
  above=${above#*|}
done
[ -z "$(find cmd/hold -maxdepth 1 -type f)" ] || { echo 'cmd/hold has a file in none of its folders'; bad=1; }

refuse 'cmd/verbs includes what stands beside it' '^#include "cmd/run/' "$(files cmd/verbs)"

# Few files of cmd see how calls are sent. CONTRIBUTING.md says for what.
refuse 'How calls are sent: cmd/server, and a few files of cmd' '^#include "redis/(connection|route|executor)/' \
  "$(files cmd | grep -vE '^cmd/(server/|app/version|ask/search|hold/report/hold_environment|run/run_without_lock|verbs/(doctor|diagnosis|server))')"

everywhere=$(files src cmd)

# x.h and x.cpp count as one file. No file may include itself by way of others: they would be one file in several places.
circles=$(
  # shellcheck disable=SC2086
  grep -oE '^#include "[^"]+' $everywhere | sed -E 's/#include "//; s/\.(h|cpp):/ /; s/\.h$//; s/^src\///' |
    awk '$1 != $2' | tsort 2>&1 >/dev/null
)
[ -z "$circles" ] || { echo "$circles"; echo '^ include each other'; bad=1; }
refuse 'hiredis and OpenSSL: src/redis/connection/{tls,reply}*' '^#include <(hiredis|openssl)/' \
  "$(echo "$everywhere" | grep -vE '^src/redis/connection/(tls|reply)')"
# The pattern skips "fork(2)" in comments. src/base/blocking may call poll(): no read or write may block for ever.
refuse 'poll, fork and signals: src/{loop,process,family}' \
  '(^|[^A-Za-z0-9_.>:])(::)?(p?poll|v?fork|execv[pe]*|posix_spawnp?|waitp?id|kill|sigaction|sigprocmask|signalfd)\(([^0-9]|[0-9][^)]|$)' \
  "$(echo "$everywhere" | grep '\.cpp$' | grep -vE '^src/((loop|process|family)/|base/blocking)')"
refuse 'CLI11: cmd/cli/cli11.h' '^#include <CLI/' "$(echo "$everywhere" | grep -vE '^cmd/cli/cli11')"
refuse 'JSON: cmd/cli/json and src/sync/calls/record_json.h' '^#include <nlohmann/' \
  "$(echo "$everywhere" | grep -vE '^(cmd/cli/json|src/sync/calls/record_json)')"
refuse 'doctest: tests' '^#include <doctest' "$everywhere"
refuse 'the names of parameters as text: tests' '^#include "parameter_names' "$everywhere"

# CONTRIBUTING.md, tests/TOOLS.md and comments name no file, function or member that does not exist.
# (The last part of a name is looked for.)
# shellcheck disable=SC2016
for path in $(grep -ohE '`(\.ci|cmd|lua|man|src|tests)/[A-Za-z0-9_./*]+`' CONTRIBUTING.md tests/TOOLS.md | tr -d '`'); do
  set -- "$path"*
  [ -e "$1" ] || { echo "CONTRIBUTING.md or tests/TOOLS.md names $path, which does not exist" && bad=1; }
done
lua=$(find lua -name '*.lua')
system='fork|vfork|sigqueue' # named where we do not call them
# shellcheck disable=SC2086
words=$({ sed -E 's,//.*,,' $everywhere && sed -E 's,--.*,,' $lua; } | grep -oE '[A-Za-z_]+' | sort -u)
# shellcheck disable=SC2086
unknown=$({ cat CONTRIBUTING.md tests/TOOLS.md && grep -hoE '//.*' $everywhere; } |
  grep -oE '[A-Za-z_]+\(\)|[A-Z][A-Za-z]+(::[A-Za-z_]+)+' | sed 's/.*://' | tr -d '()' | sort -u | grep -vxE "$system" | grep -vxF "$words")
# shellcheck disable=SC2086
for name in $(grep -hoE -- '--.*' $lua | grep -oE '(^|[ (])[a-z_]+/[a-z_]+' | tr -d ' (' | grep -vE '^(lua|src|pub|read)/' | sort -u); do
  [ -e "lua/$name.lua" ] || [ -e "lua/shared/$name.lua" ] || unknown="$unknown $name"
done
[ -z "$unknown" ] || { echo "CONTRIBUTING.md, tests/TOOLS.md or a comment names what does not exist: $unknown" && bad=1; }
exit $bad
