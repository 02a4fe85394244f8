#!/bin/sh
# Checks that NOTICE names every library that is linked into the binary (by the linker's map) or included by the
# sources. Also checks that the copy that is installed, and rlock.spdx.json, name their versions.
set -u
folder=$(dirname "$RLOCK_BINARY")
bad=0
complain() { echo "$1" && bad=1; }

# Our own archives, and the start-up code of every C program.
own='librlock_core\.a|librlock_cmd\.a|libc_nonshared\.a'
archives=$(sed -n 's/^.*\/\(lib[^/]*\.a\)(.*/\1/p' "$folder/rlock.map" | sort -u | grep -vxE "$own")
[ -n "$archives" ] || complain "$folder/rlock.map names no archives"
grep -q '"versionInfo": "' "$folder/rlock.spdx.json" || complain "$folder/rlock.spdx.json names no library"
for archive in $archives; do
  grep -qE "[( ]$(echo "$archive" | sed 's/[.+]/\\&/g')[,)]" NOTICE || complain "NOTICE says nothing about $archive"
done

headers=$(grep -rhoE '^#include <[A-Za-z0-9_]+/' src cmd .ci/cmake | sort -u | sed 's/.*<//' | grep -vxE '(sys|net|netinet|arpa|linux)/')
for header in $headers; do
  case $header in
    hiredis/) header=libhiredis.a ;;
    openssl/) header=libssl.a ;;
  esac
  grep -qF "($header" NOTICE || complain "NOTICE says nothing about $header"
done

# Libraries that consist of headers are in no archive, but `rlock version -v` lists them.
"$RLOCK_BINARY" version -v | sed 1d | while read -r library version _; do
  [ "$library" = OpenSSL ] || grep -qF "\"name\": \"$library\", \"versionInfo\": \"$version\"" "$folder/rlock.spdx.json" ||
    echo "rlock.spdx.json says nothing about $library $version"
done | grep . && bad=1

! grep -n '@' "$folder/NOTICE" | grep -v 'between @ signs' || complain 'a version is missing'
exit $bad
