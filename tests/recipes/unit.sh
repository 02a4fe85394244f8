#!/bin/sh
# Only one service runs in the whole fleet. Every host has this unit of systemd:
#
#   [Service]
#   Type=exec
#   KillMode=mixed
#   Restart=on-failure
#   RestartSec=5s
#   RestartPreventExitStatus=64 65 77 78
#   ExecStart=rlock run -w forever -k leader -- /opt/service
#
# On the other hosts, rlock waits for the lock. If the leader or its host dies, one of them starts its service.
# With -w forever, rlock also waits for a server that it cannot use. Without RestartSec, systemd gives up for good
# after five starts in ten seconds.
set -eu
rlock run -w forever -k leader -- service
