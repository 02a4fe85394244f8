"""The servers of the interop cells: one private server; a Cluster of three; or a primary and a replica behind a Sentinel."""

import binascii
import os
import re
import socket
import subprocess
import tempfile
import time

MASTER = "interop"


def eventually(fact, seconds=5.0):
    """Waits until fact() is true, for at most `seconds`. Returns its last value."""
    until = time.monotonic() + seconds
    while not (value := fact()) and time.monotonic() < until:
        time.sleep(0.003)
    return value


class Resp:
    """A blocking connection to a server."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(10)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def __call__(self, *words):
        self.send(*words)
        return self.receive()

    def send(self, *words):
        raw = [str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(raw) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in raw))

    def receive(self):
        line = self.file.readline().rstrip(b"\r\n").decode()
        kind, rest = line[0], line[1:]
        if kind == "$":
            return None if rest == "-1" else self.file.read(int(rest) + 2)[:-2].decode(errors="replace")
        if kind == "*":
            return [self.receive() for _ in range(int(rest))]
        return int(rest) if kind == ":" else rest

    def close(self):
        self.file.close()
        self.socket.close()


def server_program():
    return os.environ.get("RLOCK_TEST_SERVER") or "redis-server"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def greeted(path):
    """A connection to the server with this socket; None: it does not listen yet, because the file appears a moment earlier."""
    try:
        return Resp(path)
    except OSError:
        return None


class Redis:
    """A redis-server (or $RLOCK_TEST_SERVER) on loopback and a Unix socket. It persists nothing. `more`: further settings, as
    "--name", "value"."""

    def __init__(self, folder, *more):
        self.path = os.path.join(folder, "redis.sock")
        self.port = free_port()
        program = server_program()
        self.process = subprocess.Popen(
            [program, "--port", str(self.port), "--bind", "127.0.0.1", "--unixsocket", self.path, "--save", "",
             "--dir", folder, *more], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.ask = eventually(lambda: greeted(self.path), 20)
        if not self.ask:
            self.process.kill()
            self.process.wait()
            raise RuntimeError(f"{program} does not start")
        self.url = f"redis://127.0.0.1:{self.port}"  # for Java
        self.rlock_url = f"unix://{self.path}"

    def monitor(self, _key):
        """A connection with MONITOR, which shows all commands for the key."""
        monitor = Resp(self.path)
        monitor("MONITOR")
        return monitor

    def waits(self, pid, polls=False):
        """Does the rlock with this pid wait? If its type does not poll, it must have subscribed."""
        for line in self.ask("CLIENT", "LIST").splitlines():
            facts = dict(fact.partition("=")[::2] for fact in line.split())
            if facts["name"].endswith(f":{pid}") and (
                    polls or facts["sub"] != "0" or facts.get("ssub", "0") != "0"):
                return True
        return False

    def channels(self, key, how="CHANNELS"):
        """The channels of this key that have a subscriber; with SHARDCHANNELS, those of sharded pub/sub."""
        return self.ask("PUBSUB", how, f"*{{{key}}}*")

    def listened(self, key):
        return bool(self.channels(key))

    def stop(self):
        self.ask.close()
        self.process.kill()
        self.process.wait()


class Several:
    """Servers that know each other. Questions about clients go to all of them, and commands about a key go to its server."""

    def __init__(self):
        self.servers = []

    def start(self, folder, *more):
        self.servers.append(Redis(tempfile.mkdtemp(dir=folder), *more))
        return self.servers[-1]

    def server_of(self, key):
        raise NotImplementedError

    def ask(self, *words):
        """Sends a command to the server of its key. `words`: the first argument is a key, or a pattern with its hash tag."""
        return self.server_of(words[1]).ask(*words)

    def monitor(self, key):
        return self.server_of(key).monitor(key)

    def waits(self, pid, polls=False):
        return any(server.waits(pid, polls) for server in self.servers)

    def channels(self, key, how="CHANNELS"):
        return [channel for server in self.servers for channel in server.channels(key, how)]

    def listened(self, key):
        return bool(self.channels(key) or self.channels(key, "SHARDCHANNELS"))

    def stop(self):
        for server in self.servers:
            server.stop()


class Cluster(Several):
    """Three primaries. Each has a third of the slots."""

    def __init__(self, folder):
        super().__init__()
        try:
            self.build(folder)
        except BaseException:
            self.stop()
            raise
        self.url = self.rlock_url = f"redis+cluster://127.0.0.1:{self.servers[0].port}"

    def build(self, folder):
        buses = [free_port() for _ in range(3)]
        for bus in buses:
            self.start(folder, "--cluster-enabled", "yes", "--cluster-port", str(bus), "--cluster-node-timeout", "2000")
        for number, server in enumerate(self.servers):
            server.ask("CLUSTER", "ADDSLOTSRANGE", number * 5461, number * 5461 + (5460, 5460, 5461)[number])
            server.ask("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        for server, bus in list(zip(self.servers, buses))[1:]:
            self.servers[0].ask("CLUSTER", "MEET", "127.0.0.1", server.port, bus)
        assert eventually(self.whole, 20), "the Cluster does not come up"

    def whole(self):
        told = [server.ask("CLUSTER", "INFO") for server in self.servers]
        return all("cluster_state:ok" in text and "cluster_known_nodes:3" in text for text in told)

    def server_of(self, key):
        tag = re.search(r"\{([^}]+)\}", key)
        slot = binascii.crc_hqx((tag[1] if tag else key).encode(), 0) % 16384
        return self.servers[min(slot // 5461, 2)]


class Sentinel(Several):
    """A primary and its replica, and one Sentinel whose own vote is enough."""

    def __init__(self, folder):
        super().__init__()
        self.sentinel = None
        try:
            self.build(folder)
        except BaseException:
            self.stop()
            raise
        self.url = self.rlock_url = f"redis+sentinel://127.0.0.1:{self.sentinel.port}/{MASTER}"

    def build(self, folder):
        self.primary = self.start(folder)
        self.replica = self.start(folder, "--replicaof", f"127.0.0.1 {self.primary.port}",
                                  "--repl-diskless-sync-delay", "0")
        assert eventually(lambda: "master_link_status:up" in self.replica.ask("INFO", "replication"), 20)
        self.sentinel = SentinelServer(tempfile.mkdtemp(dir=folder), self.primary.port)
        assert eventually(lambda: self.sentinel.knows("num-slaves") == "1", 20), "the Sentinel finds no replica"

    def server_of(self, _key):
        return self.primary

    def fail_over(self):
        """Kills the primary when the replica has all of its writes, and waits until the replica is promoted. Returns how many
        seconds that took."""
        assert self.primary.ask("SET", "last", "word") == "OK"
        assert self.primary.ask("WAIT", 1, 5000) == 1, "the replica lags behind"
        killed = time.monotonic()
        self.primary.stop()
        self.servers.remove(self.primary)
        self.primary = self.replica
        port = str(self.primary.port)
        assert eventually(lambda: self.sentinel.knows("port") == port, 20), "the Sentinel promotes nobody"
        self.primary.ask = Resp(self.primary.path)  # Sentinel disconnects all clients of a server that it promotes
        assert self.primary.ask("ROLE")[0] == "master" and self.primary.ask("GET", "last") == "word"
        return time.monotonic() - killed

    def stop(self):
        super().stop()
        if self.sentinel:
            self.sentinel.stop()


class SentinelServer:
    """One Sentinel."""

    def __init__(self, folder, primary):
        self.port = free_port()
        path, conf = os.path.join(folder, "sentinel.sock"), os.path.join(folder, "sentinel.conf")
        with open(conf, "w", encoding="utf8") as file:
            file.write(f"port {self.port}\nbind 127.0.0.1\nunixsocket {path}\ndir {folder}\nprotected-mode no\n"
                       f"sentinel monitor {MASTER} 127.0.0.1 {primary} 1\n"
                       f"sentinel down-after-milliseconds {MASTER} 500\n"
                       f"sentinel failover-timeout {MASTER} 3000\n")
        self.process = subprocess.Popen([server_program(), conf, "--sentinel"], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.path = path
        self.ask = eventually(lambda: greeted(self.path), 20)
        if not self.ask:
            self.stop()
            raise RuntimeError("the Sentinel does not start")

    def knows(self, fact):
        """A fact of the Sentinel about the primary: {"port": "6379", "num-slaves": "1", ...}[fact]."""
        told = self.ask("SENTINEL", "MASTER", MASTER)
        return dict(zip(told[::2], told[1::2])).get(fact)

    def stop(self):
        if self.ask:
            self.ask.close()
        self.process.kill()
        self.process.wait()


THROUGH = {"one": Redis, "cluster": Cluster, "sentinel": Sentinel}
