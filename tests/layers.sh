#!/bin/sh
# A folder includes itself and what stands below it (base < loop < redis < sync < cmd), and what is not ours
# has one door each.
set -u
bad=0
files() { find "$@" -name '*.h' -o -name '*.cpp'; }
refuse() { # refuse <why> <pattern> <files>: none of them may have such a line
  # shellcheck disable=SC2086
  [ -z "$3" ] || ! grep -nE "$2" $3 /dev/null || { echo "^ $1" && bad=1; }
}

above='loop|redis|sync|cmd'
for folder in base loop redis sync; do
  refuse "src/$folder includes what stands above it" "^#include \"($above)/" "$(files src/$folder)"
  above=${above#*|}
done

everywhere=$(files src cmd)
refuse 'hiredis and OpenSSL: src/redis/{tls,reply}*' '^#include <(hiredis|openssl)/' \
  "$(echo "$everywhere" | grep -vE '^src/redis/(tls|reply)')"
# fork(2) in a comment is no call; the log asks whether stderr would make it wait.
refuse 'poll, fork and signals: src/loop' \
  '(^|[^A-Za-z0-9_.>:])(::)?(p?poll|v?fork|execv[pe]*|posix_spawnp?|waitp?id|kill|sigaction|sigprocmask|signalfd)\(([^0-9]|[0-9][^)]|$)' \
  "$(echo "$everywhere" | grep '\.cpp$' | grep -vE '^src/(loop/|base/log)')"
refuse 'CLI11: cmd/cli/parser' '^#include <CLI/' "$(echo "$everywhere" | grep -vE '^cmd/cli/parser')"
refuse 'JSON: cmd/cli/output and src/sync/metadata_json.h' '^#include <nlohmann/' \
  "$(echo "$everywhere" | grep -vE '^(cmd/cli/output|src/sync/metadata_json)')"
refuse 'doctest: tests' '^#include <doctest' "$everywhere"
exit $bad
