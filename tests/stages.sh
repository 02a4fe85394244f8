#!/bin/sh
# Checks that ci.yml names each stage of .ci/run, because each of its jobs runs only some stages.
set -eu
cd "$(dirname "$0")/.."
named=" $(grep -o "'\[.*\]'" .github/workflows/ci.yml | tr -cs 'a-z0-9-' ' ')"
elsewhere=' setup build asan-build site fresh ' # setup: in each job. build: test builds, too. asan-build: asan. The last two: by hand.
# shellcheck disable=SC2016  # $long is text of .ci/run
stages=$(sed -nE 's/^ *(\[.*\] \|\| )?stage ([a-z0-9-]+) .*/\2/p' .ci/run)
status=0
for stage in $stages; do
  case "$named$elsewhere" in
    *" $stage "*) ;;
    *) echo "ci.yml does not name the stage $stage" && status=1 ;;
  esac
done
case " $stages $named" in *valkey*" test "*) ;; *) echo "the stages were not found" && status=1 ;; esac
exit $status
