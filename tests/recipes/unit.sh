#!/bin/sh
# Only one service runs in the whole fleet. Every host has this unit of systemd:
#
#   [Service]
#   Type=exec
#   KillMode=mixed
#   Restart=on-failure
#   RestartPreventExitStatus=64 65 77 78
#   ExecStart=/usr/bin/rlock run -k leader -- /opt/service
#
# On the other hosts, rlock waits for the lock. If the leader or its host dies, one of them starts its service.
set -eu
rlock run -k leader -- service
