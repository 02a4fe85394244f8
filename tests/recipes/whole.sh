#!/bin/sh
[ "${DB_LOCKED-}" ] || exec env DB_LOCKED=1 rlock run -k db -- "$0" "$@"
rlock lock status db && migrate "$@"
