"""redis_py.py SOCKET KEY LEASE_MS: tries once to acquire KEY with redis-py's Lock, and prints `held` or `busy`. If it holds KEY, it
reads a line, releases KEY and prints `released`."""

import sys

import redis

socket, key, lease = sys.argv[1], sys.argv[2], int(sys.argv[3])
lock = redis.Redis(unix_socket_path=socket).lock(key, timeout=lease / 1000, blocking=False)
if not lock.acquire():
    print("busy", flush=True)
    sys.exit(0)
print("held", flush=True)
sys.stdin.readline()
lock.release()
print("released", flush=True)
