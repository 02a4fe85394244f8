#!/bin/sh
# Five floating licences, each with a number of its own. A crash returns the seat within the lease.
set -eu
for job in 1 2 3 4 5 6; do
  rlock run --permits 5 -k seats -c 'synthesize --seat "$RLOCK_SLOT"' &
done
wait
