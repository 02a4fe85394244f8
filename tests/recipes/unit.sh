#!/bin/sh
# A service of which one runs in the whole fleet. The unit of systemd on every host:
#
#   [Service]
#   Type=exec
#   KillMode=mixed
#   Restart=on-failure
#   RestartPreventExitStatus=64 65 77 78
#   ExecStart=/usr/bin/rlock run -k leader -- /opt/service
#
# The standby waits in rlock; when the leader ends, or its host does, the next one starts.
set -eu
rlock run -k leader -- service
