#!/bin/sh
# Checks that each line of tests/model/survivors names a defect of the code as it is now, and that tests/model/plant can plant
# defects in scripts.
set -eu
exec "$(dirname "$0")/model/plant" --survivors
