"""redis_py.py SOCKET KEY LEASE_MS: one try with redis-py's Lock; `held` until a line comes, then `released`; or `busy`."""

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
