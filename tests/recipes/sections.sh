#!/bin/sh
# A script that cannot be wrapped: it holds the lock over some of its lines only. Nobody renews such a lock, so its lease
# must be longer than the section, or be renewed in it.
set -eu
prepare
owner=$(rlock lock acquire database --lease 10m -w 5m)
trap 'rlock lock release database --owner "$owner"' EXIT
migrate
rlock lock renew database --owner "$owner"
verify
