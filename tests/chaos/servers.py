"""The servers of the chaos and what can befall them. A fault is a generator: it does something, yields the seconds
until its next step, and has mended everything at its end. What breaks the server's word is written into the history.
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
    """Made by the first who asks. To be preloaded into a server whose clock is to jump; nothing where there is no C compiler."""
    library = os.path.join(tempfile.mkdtemp(prefix="rlock-chaos-clock-"), "clock.so")
    atexit.register(shutil.rmtree, os.path.dirname(library))
    compiler = shutil.which("cc") or shutil.which("gcc")
    argv = [compiler, "-O1", "-shared", "-fPIC", "-o", library, os.path.join(HERE, "clock.c")]
    return library if compiler and subprocess.run(argv, check=False).returncode == 0 else None


class Silent(Exception):
    """The server does not answer."""


class Server:
    """A redis-server, or what $RLOCK_TEST_SERVER names, that keeps every acknowledged write also when it is killed."""

    def __init__(self, host, *config, port=PORT, sentinel=False):
        self.host, self.port, self.sentinel = host, port, sentinel
        self.where = f"{host.address}:{port}"
        self.folder = os.path.join(host.folder, str(port))
        self.busy = False  # with a fault: one at a time
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
        # Where all hosts are addresses of loopback, connections come from 127.0.0.1, and nobody could be told apart by that.
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
        self.process = subprocess.Popen(  # and should we be killed, it does not stay behind
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
        """Its data."""
        shutil.rmtree(os.path.join(self.folder, "appendonlydir"), ignore_errors=True)

    def set_clock(self, seconds):
        """So far ahead of the true time."""
        with open(self.clock, "r+b") as file:
            file.write(struct.pack("q", int(seconds * 1e9)))

    def ask(self, *words, patience=1.0):
        """By its own socket: it answers also where its host is cut off."""
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
        """For a person: is it there, and the end of its log."""
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
    """A step of a fault: goes on when fact() is true. `what` says what is missing when it does not come true; more() is asked then."""
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
    """Servers, how rlock reaches them, and what can befall them: {kind: fault}."""

    lease = 3000
    types = ("lock", "lock", "read", "read", "write", "fair", "fenced", "permit", "plain")
    replicated = False  # its runs may ask for replicas
    remembers = True  # its runs may say --once-per
    often = ()  # kinds of faults of which there are to be many

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
        """Servers to which something may happen now."""
        return [server for server in self.servers if not server.busy]

    def prefix(self, _dice):
        """From where a run looks at the servers."""
        return []

    def key(self, word):
        return word

    def watch(self):
        """Looks after the servers a few times a second; answers whether all is well with them."""
        return True

    # Faults, each of one server. `span`: how long.

    def kill(self, server, span):
        server.kill()
        yield span
        server.start()
        yield from until_ready(server)

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
        # What it could not write it tries again each second; a replica ends instead.
        yield from until(
            lambda: server.process.poll() is not None or self.writes(server),
            f"the server {server.where} writes again after its disk was full",
        )
        if server.process.poll() is not None:
            server.start()
            yield from until_ready(server)

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
        server.set_clock(0)  # back: leases last longer

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
        server.start()
        yield from until_ready(server)
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
    """One server. With `lapses` it breaks its word now and then."""

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
    """Five servers that know nothing of each other; at most two suffer at a time, and one that has forgotten
    everything stays away for a lease: then no majority forgets anything."""

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
        server.start()
        yield from until_ready(server)

    def faults(self):
        return {**self.usual_faults(), "data of one of five lost": self.wipe}
