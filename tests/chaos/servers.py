"""The servers of the chaos test, and their faults. A fault is a generator: it does something, yields the seconds until its next
step, and has repaired everything at its end. If it loses acknowledged writes, it records a lapse in the history.
"""

import atexit
import functools
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

from network import Network, die, send

HERE = os.path.dirname(os.path.realpath(__file__))
PORT = 6379


@functools.cache
def clock_library():
    """The library that is preloaded into servers, so that their clocks can jump. Compiled once; None if there is no C compiler."""
    library = os.path.join(tempfile.mkdtemp(prefix="rlock-chaos-clock-"), "clock.so")
    atexit.register(shutil.rmtree, os.path.dirname(library))
    compiler = shutil.which("cc") or shutil.which("gcc")
    argv = [compiler, "-O1", "-shared", "-fPIC", "-o", library, os.path.join(HERE, "clock.c")]
    return library if compiler and subprocess.run(argv, check=False).returncode == 0 else None


class Silent(Exception):
    """The server does not answer."""


class Server:
    """A redis-server (or $RLOCK_TEST_SERVER). It keeps every acknowledged write, even if it is killed."""

    def __init__(self, host, *config, port=PORT, sentinel=False):
        self.host, self.port, self.sentinel = host, port, sentinel
        self.where = f"{host.address}:{port}"
        self.folder = os.path.join(host.folder, str(port))
        self.busy = False  # True: it has a fault; one at a time
        os.mkdir(self.folder)
        self.socket = os.path.join(self.folder, "socket")
        self.clock = os.path.join(self.folder, "clock")
        self.conf = os.path.join(self.folder, "conf")
        with open(self.clock, "wb") as file:
            file.write(bytes(8))
        lines = [
            f"port {port}",
            f"bind {host.address}",
            f"unixsocket {self.socket}",
            f"dir {self.folder}",
            f"logfile {self.folder}/log",
            "protected-mode no",
            *config,
        ]
        # If all hosts are addresses of loopback, all connections come from 127.0.0.1. So each server must announce its own.
        if sentinel:
            lines += [f"sentinel announce-ip {host.address}"]
        else:
            lines += [f"replica-announce-ip {host.address}", f"cluster-announce-ip {host.address}"]
            lines += ['save ""', "appendonly yes", "appendfsync no", "repl-diskless-sync-delay 0"]
        with open(self.conf, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        self.process = None
        self.start()

    def start(self):
        environment = dict(os.environ)
        if not self.sentinel and (library := clock_library()):
            environment |= {"LD_PRELOAD": library, "CHAOS_CLOCK": self.clock}
        program = os.environ.get("RLOCK_TEST_SERVER") or "redis-server"
        self.process = subprocess.Popen(  # setpriv: if we are killed, the server ends too
            [
                "setpriv",
                "--pdeathsig",
                "KILL",
                "--",
                *self.host.prefix,
                program,
                self.conf,
                *(["--sentinel"] if self.sentinel else []),
            ],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def kill(self):
        die(self.process)

    def forget(self):
        """Deletes its data."""
        shutil.rmtree(os.path.join(self.folder, "appendonlydir"), ignore_errors=True)

    def set_clock(self, seconds):
        """Sets its clock this far ahead of the true time."""
        with open(self.clock, "r+b") as file:
            file.write(struct.pack("q", int(seconds * 1e9)))

    def ask(self, *words, patience=1.0):
        """Sends a command through its Unix socket, so it answers even if its host is cut off. Returns the reply."""
        try:
            with socket.socket(socket.AF_UNIX) as line:
                line.settimeout(patience)
                line.connect(self.socket)
                raw = [str(word).encode() for word in words]
                line.sendall(
                    b"*%d\r\n" % len(raw) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in raw)
                )
                with line.makefile("rb") as file:
                    return self.reply(file)
        except OSError as error:
            raise Silent(f"{self.where}: {error}") from error

    def reply(self, file):
        line = file.readline().rstrip(b"\r\n").decode()
        kind, rest = line[:1], line[1:]
        if kind == "$":
            return None if rest == "-1" else file.read(int(rest) + 2)[:-2].decode(errors="replace")
        if kind == "*":
            return [self.reply(file) for _ in range(int(rest))]
        if not kind:
            raise Silent(f"{self.where}: the connection ended")
        return int(rest) if kind == ":" else line if kind == "-" else rest

    def last_words(self):
        """Text for a person: does it run, and the end of its log."""
        status = self.process.poll()
        said = "; it runs" if status is None else f"; it has ended with {status}"
        try:
            with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as file:
                return f"{said}; its log ends with:\n{''.join(file.readlines()[-25:])}"
        except OSError:
            return said + "; it has no log"

    def ready(self):
        try:
            return self.ask("PING", patience=0.2) == "PONG"
        except Silent:
            return False


def until(fact, what, seconds=60.0, more=lambda: ""):
    """A step of a fault that waits until fact() is true. If it does not become true, the test ends with `what` and the text of more()."""
    end = time.monotonic() + seconds
    while not fact():
        if time.monotonic() > end:
            raise SystemExit(f"chaos: not within {seconds:.0f} s: {what}{more()}")
        yield 0.05


def until_ready(server):
    return until(server.ready, f"the server {server.where} answers", more=server.last_words)


def at_once(steps):
    for pause in steps:
        time.sleep(pause)


class Deployment:
    """Servers, the URL by which rlock reaches them, and their faults, {kind: fault}."""

    lease = 3000
    types = ("lock", "lock", "read", "read", "write", "fair", "fenced", "permit", "plain")
    replicated = False  # may runs use --sync-replicas?
    remembers = True  # may runs use --once-per?
    often = ()  # the kinds of faults that are drawn more often

    def __init__(self, chaos, name, count):
        self.chaos, self.name = chaos, name
        self.folder = os.path.join(chaos.folder, name)
        os.mkdir(self.folder)
        self.network = Network(self.folder, chaos.serial)
        self.servers = []
        self.build(count)
        for server in self.servers:
            at_once(until_ready(server))

    def build(self, count):
        self.servers = [Server(self.network.host()) for _ in range(count)]

    def end(self):
        for server in self.all_servers():
            server.kill()
        self.network.end()

    def all_servers(self):
        return self.servers

    def free(self):
        """The servers that may get a fault now."""
        return [server for server in self.servers if not server.busy]

    def prefix(self, _dice):
        """Words before the command of a run: the host on which it runs. Empty: the host of this program."""
        return []

    def key(self, word):
        return word

    def watch(self):
        """Called a few times a second. Returns whether all is well with the servers."""
        return True

    # Faults of one server. `span`: how long the fault lasts.

    def start(self, server):
        """Starts the server again. If Redis was killed soon after its disk was full, it may fail to read its own file. Then
        it starts without data."""
        begun = self.chaos.now()
        server.start()
        yield from until(
            lambda: server.ready() or server.process.poll() is not None,
            f"the server {server.where} answers",
            more=server.last_words,
        )
        if server.process.poll() is None:
            return
        assert "Bad file format" in server.last_words(), server.last_words()
        server.forget()
        server.start()
        yield from until_ready(server)
        self.lapse(begun, "the server could not read its own file")

    def kill(self, server, span):
        server.kill()
        yield span
        yield from self.start(server)

    def freeze(self, server, span):
        send(server.process.pid, signal.SIGSTOP)
        yield span
        send(server.process.pid, signal.SIGCONT)

    def cut(self, server, span):
        server.host.cut(True)
        yield span
        server.host.cut(False)

    def fill(self, server, span):
        server.host.fill(True)
        yield span
        server.host.fill(False)
        # Redis tries again each second to write. A replica exits instead.
        yield from until(
            lambda: server.process.poll() is not None or self.writes(server),
            f"the server {server.where} writes again after its disk was full",
        )
        if server.process.poll() is not None:
            yield from self.start(server)

    @staticmethod
    def writes(server):
        try:
            return "aof_last_write_status:ok" in server.ask("INFO", "persistence", patience=0.2)
        except Silent:
            return False

    def hang_up(self, server, _span):
        server.ask("CLIENT", "KILL", "TYPE", "normal")
        yield 0

    def hang_up_pubsub(self, server, _span):
        server.ask("CLIENT", "KILL", "TYPE", "pubsub")
        yield 0

    def forget_scripts(self, server, _span):
        server.ask("SCRIPT", "FLUSH")
        yield 0

    def out_of_memory(self, server, span):
        server.ask("CONFIG", "SET", "maxmemory", "1")
        yield span
        server.ask("CONFIG", "SET", "maxmemory", "0")

    def clock_ahead(self, server, span):
        self.jump(server, 1 + span)
        yield span
        server.set_clock(0)  # a jump back is no lapse, because it only prolongs leases

    def clock_back(self, server, span):
        server.set_clock(-1 - span)
        yield span
        self.jump(server, 0)

    def jump(self, server, seconds):
        begun = self.chaos.now()
        server.set_clock(seconds)
        self.lapse(begun, "the server's clock jumped ahead")

    def wipe(self, server, span):
        begun = self.chaos.now()
        server.kill()
        server.forget()
        yield span
        yield from self.start(server)
        self.lapse(begun, "the server was killed and had lost its data")

    def flush(self, server, _span):
        begun = self.chaos.now()
        server.ask("FLUSHALL")
        self.lapse(begun, "somebody flushed the server")
        yield 0

    def lapse(self, begun, why, **more):
        self.chaos.note(
            "lapse", **{"from": begun, "to": self.chaos.now(), "deployment": self.name, "why": why}, **more
        )

    def usual_faults(self):
        faults = {
            "server killed": self.kill,
            "server stopped": self.freeze,
            "connections ended": self.hang_up,
            "pubsub connections ended": self.hang_up_pubsub,
            "scripts forgotten": self.forget_scripts,
            "out of memory": self.out_of_memory,
        }
        if self.network.real:
            faults |= {"partition": self.cut, "disk full": self.fill}
        return faults

    def clock_faults(self):
        return {"clock ahead": self.clock_ahead, "clock back": self.clock_back} if clock_library() else {}


class One(Deployment):
    """One server. With `lapses` it also loses data, and its clock jumps."""

    def __init__(self, chaos, name, lapses):
        self.lapses = lapses
        super().__init__(chaos, name, 1)

    def url(self):
        return f"redis://{self.servers[0].where}"

    def faults(self):
        faults = self.usual_faults()
        if self.lapses:
            faults |= {"data lost": self.wipe, "flushed": self.flush, **self.clock_faults()}
        return faults


class Masters(Deployment):
    """Five independent servers. At most two have a fault at a time, and a server that lost its data stays away for a lease. So a
    majority never forgets a lock."""

    remembers = False  # --once-per needs one server, Sentinel or a Cluster
    types = ("lock", "lock", "read", "read", "write", "fair", "plain")

    def __init__(self, chaos, name):
        super().__init__(chaos, name, 5)

    def url(self):
        return " ".join(f"redis://{server.where}" for server in self.servers)

    def free(self):
        free = super().free()
        return free if len(free) > 3 else []

    def wipe(self, server, span):
        server.kill()
        server.forget()
        yield span + self.lease / 1000 + 0.5
        yield from self.start(server)

    def faults(self):
        return {**self.usual_faults(), "data of one of five lost": self.wipe}
