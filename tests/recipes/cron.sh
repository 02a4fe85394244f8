#!/bin/sh
# A job in the crontab of every host that runs on one of them. It runs at once or not at all, and prints nothing. It
# does not run again within four minutes, so that the hosts' clocks may differ.
#
#   */5 * * * * rlock run -nqE0 --min-hold 4m -k report -- /opt/report
set -eu
rlock run -nqE0 --min-hold 4m -k report -- report # this host
rlock run -nqE0 --min-hold 4m -k report -- report # another one, a moment later: 0, and nothing happens
rlock inspect report
