#!/bin/sh
# Checks that each line of tests/model/survivors names a defect that can be planted in the code as it is now.
set -eu
exec "$(dirname "$0")/model/plant" --survivors
