#!/bin/sh
# NOTICE names every library of which the binary holds a part, as the linker says and as the sources include it, and the copy
# that is installed says which version.
set -u
folder=$(dirname "$RLOCK_BINARY")
bad=0
complain() { echo "$1" && bad=1; }

# Ours, and the start of every C program.
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

# What is compiled from headers stands in no archive.
"$RLOCK_BINARY" version -v | sed 1d | while read -r library version _; do
  [ "$library" = OpenSSL ] || grep -qF "\"name\": \"$library\", \"versionInfo\": \"$version\"" "$folder/rlock.spdx.json" ||
    echo "rlock.spdx.json says nothing about $library $version"
done | grep . && bad=1

! grep -n '@' "$folder/NOTICE" | grep -v 'between @ signs' || complain 'a version is missing'
exit $bad
