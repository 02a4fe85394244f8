#!/bin/sh
# A script that cannot be wrapped: it holds the lock over some of its lines only. A keeper renews the lock, and
# stops this script before the lock can end; it ends with this script, however that ends.
set -eu
prepare
owner=$(rlock lock acquire database --while-pid $$ -w 5m) || exit
migrate
verify
rlock lock release database --owner "$owner"
