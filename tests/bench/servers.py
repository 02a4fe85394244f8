"""The servers of the benchmarks. They listen on loopback and Unix sockets, and end with the benchmark."""

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


def run_first(process=0):
    """Gives a process (0: this one) priority over all others. Returns whether that is allowed: root may."""
    try:
        os.sched_setscheduler(process, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        return False
    return True


class Server:
    """A program that listens. stop() ends it."""

    def __init__(self, argv, log, ready):
        self.argv, self.ready = argv, ready
        self.start(log)

    def start(self, log=subprocess.DEVNULL):
        self.process = subprocess.Popen(
            self.argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        if not eventually(lambda: self.process.poll() is not None or self.ready(), 20) or self.process.poll() is not None:
            self.stop()
            raise SystemExit(f"bench: {self.argv[0]} does not start")

    def run_first(self):
        """Gives it priority over all others, as if it had a machine of its own. Returns whether that is allowed."""
        return run_first(self.process.pid)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def answers(family, address):
    with socket.socket(family) as probe:
        return probe.connect_ex(address) == 0


class Askable(Server):
    """A server that redis-cli can ask, by the command line `client`."""

    def ask(self, *words):
        return subprocess.run([*self.client, *words], capture_output=True, text=True, check=True).stdout.strip()

    def stats(self):
        """How often it has read from clients, and how many connections it has accepted. Commands inside scripts do not
        count as reads, and several calls in one write count once."""
        info = self.ask("INFO", "stats")
        return [int(info.split(f"{name}:")[1].split()[0]) for name in ("total_reads_processed", "total_connections_received")]


class Redis(Askable):
    """A redis-server (or $RLOCK_TEST_SERVER). It persists nothing by default. `more`: its options."""

    def __init__(self, folder, *more):
        self.path = os.path.join(folder, "redis.sock")
        self.port = free_port()
        self.url = f"unix://{self.path}"
        self.client = ["redis-cli", "-s", self.path]
        program = os.environ.get("RLOCK_TEST_SERVER") or "redis-server"
        with open(os.path.join(folder, "redis.log"), "wb") as log:
            super().__init__(
                [program, "--port", str(self.port), "--bind", "127.0.0.1", "--unixsocket", self.path,
                 "--save", "", "--dir", folder, *more],
                log, lambda: answers(socket.AF_UNIX, self.path))

    def requests(self):
        return self.stats()[0]


class Sentinel(Askable):
    """One Sentinel, whose own vote is enough. For it a primary that is silent for a second is dead. It calls the primary `main`."""

    def __init__(self, folder, primary):
        self.port = free_port()
        path = os.path.join(folder, "sentinel.sock")  # for this program: many clients may wait to connect to its port
        self.client = ["redis-cli", "-s", path]
        config = os.path.join(folder, "sentinel.conf")
        with open(config, "w", encoding="ascii") as file:
            file.write(f"port {self.port}\nbind 127.0.0.1\nunixsocket {path}\ntcp-backlog 4096\ndir {folder}\nmaxclients 30000\n"
                       f"sentinel monitor main 127.0.0.1 {primary} 1\nsentinel down-after-milliseconds main 1000\n")
        program = os.environ.get("RLOCK_TEST_SERVER") or "redis-server"
        with open(os.path.join(folder, "sentinel.log"), "wb") as log:
            super().__init__([program, config, "--sentinel"], log,
                             lambda: answers(socket.AF_INET, ("127.0.0.1", self.port)))

    def names(self, port):
        """Is the server at this port the primary now?"""
        return str(port) in self.ask("SENTINEL", "get-master-addr-by-name", "main").split()


class Etcd(Server):
    """etcd with one member. If the machine has a tmpfs, its data is in memory, which is to its advantage."""

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
