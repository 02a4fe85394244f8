#!/bin/sh
# One deployment at a time, in order of arrival. A job waits at most half an hour, and prints who deploys and why. With exec,
# the signal of a cancelled job reaches rlock, which ends its command and releases the lock. If the runner dies, the lock ends
# with its lease.
set -eu
exec rlock run --fair -w 30m --reason "build ${CI_PIPELINE_ID:-42}" -k production -- deploy
