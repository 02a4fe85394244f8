#!/bin/sh
# Writes under a fencing token: the database refuses a late writer. Run fencing.sql there once before.
set -eu
rlock run --fenced -k balance -c 'psql -v ON_ERROR_STOP=1 -v fence="$RLOCK_FENCE"' <<'SQL'
BEGIN;
SELECT rlock_fence('balance', :fence);
UPDATE accounts SET balance = balance + 10 WHERE name = 'savings';
COMMIT;
SQL
