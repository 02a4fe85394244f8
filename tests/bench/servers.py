"""The servers that a benchmark needs: private, on loopback and Unix sockets, ended with it."""

import os
import shutil
import signal
import socket
import subprocess
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def eventually(fact, seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if fact():
            return True
        time.sleep(0.005)
    return False


class Server:
    """A program that listens. Ended by stop(), by its process id."""

    def __init__(self, argv, log, ready):
        self.process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        if not eventually(lambda: self.process.poll() is not None or ready(), 20) or self.process.poll() is not None:
            self.stop()
            raise SystemExit(f"bench: {argv[0]} does not start; see {log.name}")

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def answers(family, address):
    with socket.socket(family) as probe:
        return probe.connect_ex(address) == 0


class Redis(Server):
    """redis-server, or what $RLOCK_TEST_SERVER names; persists nothing."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "redis.sock")
        self.port = free_port()
        program = os.environ.get("RLOCK_TEST_SERVER") or "redis-server"
        with open(os.path.join(folder, "redis.log"), "wb") as log:
            super().__init__(
                [program, "--port", str(self.port), "--bind", "127.0.0.1", "--unixsocket", self.path,
                 "--save", "", "--dir", folder],
                log, lambda: answers(socket.AF_UNIX, self.path))

    def requests(self):
        """How often it has read from a client: what scripts do inside is not counted, nor what comes in one write."""
        info = subprocess.run(["redis-cli", "-s", self.path, "INFO", "stats"], capture_output=True, text=True, check=True)
        return int(info.stdout.split("total_reads_processed:")[1].split()[0])


class Etcd(Server):
    """etcd with one member, its data in memory where the machine has a tmpfs: to its advantage."""

    def __init__(self, folder):
        self.memory = None
        if os.access("/dev/shm", os.W_OK):
            folder = self.memory = os.path.join("/dev/shm", os.path.basename(folder))
            os.makedirs(folder)
        port, peer = free_port(), f"http://127.0.0.1:{free_port()}"
        self.endpoint = f"http://127.0.0.1:{port}"
        with open(os.path.join(folder, "etcd.log"), "wb") as log:
            super().__init__(
                ["etcd", "--data-dir", os.path.join(folder, "etcd"), "--listen-client-urls", self.endpoint,
                 "--advertise-client-urls", self.endpoint, "--listen-peer-urls", peer,
                 "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"],
                log, lambda: answers(socket.AF_INET, ("127.0.0.1", port)) and self.healthy())

    def healthy(self):
        return subprocess.run(
            ["etcdctl", f"--endpoints={self.endpoint}", "endpoint", "health"], env={**os.environ, "ETCDCTL_API": "3"},
            capture_output=True, check=False).returncode == 0

    def stop(self):
        super().stop()
        if self.memory:
            shutil.rmtree(self.memory, ignore_errors=True)
