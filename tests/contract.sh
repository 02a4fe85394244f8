#!/bin/sh
# A row of a contract that names no key and no argument is an error of the build, which says where the row stands.
# So is a row that is nearly the row QUORUM.
set -eu
embed=$(cd "$(dirname "$0")/.." && pwd)/lua/embed.cmake
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/lock"
# shellcheck disable=SC2016  # ${KEYS} is a variable of CMake
printf 'include(%s)\nread_rows(%s lock/acquire KEYS KEYS)\nmessage("${KEYS}")\n' "$embed" "$folder" > "$folder/read.cmake"

read_contract() {
  printf -- '-- What it does.\n--\n-- KEYS  lock     hash\n--                of holds\n--       %s  string\n-- ARGV  owner\n' "$1" \
    > "$folder/lock/acquire.lua"
  cmake -P "$folder/read.cmake" 2>&1
}

[ "$(read_contract request)" = 'lock;request' ] || { echo "a good row is refused"; exit 1; }
for row in Request request1 '(request)'; do
  if said=$(read_contract "$row"); then echo "the row '$row' is dropped: $said"; exit 1; fi
  case $said in *lock/acquire.lua:5:*) ;; *) echo "the row '$row': $said"; exit 1 ;; esac
done

# shellcheck disable=SC2016
printf 'include(%s)\nread_quorum(%s lock/acquire found)\nmessage("${found}")\n' "$embed" "$folder" > "$folder/read.cmake"
read_quorum() {
  printf -- '-- What it does.\n--\n%s\n-- KEYS  lock\n' "$1" > "$folder/lock/acquire.lua"
  cmake -P "$folder/read.cmake" 2>&1
}
[ "$(read_quorum '-- QUORUM  without the line')" = ON ] || { echo "the row QUORUM is refused"; exit 1; }
[ "$(read_quorum '--')" = OFF ] || { echo "there is no row QUORUM"; exit 1; }
for row in '-- QUORUM without the line' '-- Quorum  without the line' '-- QUORUM  without a line' '--QUORUM' '-- It is sent without the line.'; do
  if said=$(read_quorum "$row"); then echo "the row '$row' is read as $said"; exit 1; fi
done
