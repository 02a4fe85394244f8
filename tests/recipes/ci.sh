#!/bin/sh
# One deployment at a time, in order of arrival, at most half an hour's wait. Whoever waits sees who deploys and why. A job
# that is cancelled ends its command and gives the lock back; a runner that dies frees it within the lease.
set -eu
rlock run --fair -w 30m --reason "build ${CI_PIPELINE_ID:-42}" -k production -- deploy
