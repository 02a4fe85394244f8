#!/bin/sh
# A writer whose database refuses it when it is late: see fencing.sql, which has been run there once.
set -eu
rlock run --fenced -k balance -c 'psql -v ON_ERROR_STOP=1 -v fence="$RLOCK_FENCE"' <<'SQL'
BEGIN;
SELECT rlock_fence('balance', :fence);
UPDATE accounts SET balance = balance + 10 WHERE name = 'savings';
COMMIT;
SQL
