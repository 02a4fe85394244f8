"""The two sides of the interop cells: a JVM with a real Redisson, and the rlock binary. servers.py has their servers."""

import fcntl
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from servers import THROUGH, Redis, eventually

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "..", "..", ".."))
RELEASES = {"4.7.0": [], "3.17.7": ["-Pclassic"]}


class Missing(Exception):
    """Something is not installed on this machine."""


def all_at_once(roles, seconds):
    """Runs role(name) in `count` threads for each of `roles`, [(role, count)]. Raises AssertionError with their failures."""
    failures = []

    def work(role, name):
        try:
            role(name)
        except Exception as failure:  # the caller raises the failures of all threads
            failures.append(failure)

    workers = [threading.Thread(target=work, args=(role, f"{role.__name__}{number}"), daemon=True)
               for role, count in roles for number in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(seconds)
        assert not worker.is_alive(), "it comes to no end"
    assert not failures, failures


def milliseconds(nanoseconds):
    return nanoseconds / 1e6


class Entries:
    """The owners that acquired a lock, in the order of the server's commands."""

    def __init__(self, redis, key):
        self.key = key
        self.monitor = redis.monitor(key)

    def owners(self, count):
        """The owners of the next `count` first holds."""
        found = []
        while len(found) < count:
            words = self.monitor.receive().split('"')[1::2]
            if words and words[0].lower() in ("hset", "hsetnx") and words[1] == self.key:
                found.append(words[2])
        self.monitor.close()
        return found


class Answer:
    """The answer of the Java driver to one line; it comes later."""

    def __init__(self):
        self.done = threading.Event()
        self.text = ""
        self.at = 0  # nanoseconds of CLOCK_MONOTONIC

    def value(self, seconds=10.0):
        if not self.done.wait(seconds):
            raise AssertionError("Java does not come back")
        word, _, rest = self.text.partition(" ")
        if word != "ok":
            raise AssertionError(self.text)
        return rest

    def failed(self, seconds=10.0):
        return self.done.wait(seconds) and self.text.startswith("error")


class Java:
    """One JVM with one release of Redisson."""

    def __init__(self, release, folder):
        into = build_driver(release, folder)
        with open(os.path.join(into, "classpath"), encoding="utf8") as file:
            path = os.path.join(into, "classes") + ":" + file.read()
        self.process = subprocess.Popen(
            ["java", "-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", path, "Driver"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1)
        self.answers = {}
        self.lock = threading.Lock()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            tag, at, text = line.rstrip("\n").split(" ", 2)
            answer = self.answers[tag]
            answer.at, answer.text = int(at), text
            answer.done.set()

    def tell(self, client, thread, *words):
        """Tells a thread of Java to do something. Returns at once, with an Answer."""
        answer = Answer()
        with self.lock:
            tag = str(len(self.answers))
            self.answers[tag] = answer
            print(tag, client, thread, *words, file=self.process.stdin, flush=True)
        return answer

    def ask(self, client, thread, *words):
        return self.tell(client, thread, *words).value()

    def kill(self):
        self.process.kill()
        self.process.wait()


def build_driver(release, folder):
    """Lets Maven fetch Redisson and compile the driver. Does it again only if a source has changed. Returns the folder."""
    for program in ("java", "javac", "mvn"):
        if not shutil.which(program):
            raise Missing(f"{program} is not installed (.ci/setup interop)")
    into = os.path.join(folder, f"redisson-{release}")
    os.makedirs(into, exist_ok=True)
    with open(os.path.join(into, "lock"), "w", encoding="utf8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = os.path.join(into, "made")
        if not os.path.exists(made) or os.path.getmtime(made) < newest_source():
            done = subprocess.run(
                ["mvn", "-q", "-B", "-f", HERE, f"-Dinto={into}", *RELEASES[release], "compile"],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise Missing(f"Maven cannot build the driver for Redisson {release}:\n{done.stdout[-2000:]}")
            with open(made, "w", encoding="utf8"):
                pass
    return into


def newest_source():
    files = [os.path.join(at, name) for at, _, names in os.walk(os.path.join(HERE, "src")) for name in names]
    return max(os.path.getmtime(file) for file in [*files, os.path.join(HERE, "pom.xml")])


def rlock_binary():
    return os.environ.get("RLOCK_BINARY") or os.path.join(ROOT, "build", "dev", "rlock")


def rlock_environment(redis):
    keep = {name: value for name, value in os.environ.items()
            if not name.startswith("RLOCK_") and name not in ("REDIS_URL", "REDISCLI_AUTH", "VALKEYCLI_AUTH")}
    return {**keep, "RLOCK_URL": redis.rlock_url, "HOME": "/nonexistent"}


class Rlock:
    """`rlock run` with a shell that reports its start, and runs until leave()."""

    running = set()

    def __init__(self, redis, *options, key, type="lock", nested=""):
        self.redis = redis
        self.polls = type == "spin"
        inside = f"echo in $RLOCK_OWNER $RLOCK_FENCE; {nested} read line || :"
        self.process = subprocess.Popen(
            [rlock_binary(), "run", "--type", type, "-k", key, *options, "--", "sh", "-c", inside],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=rlock_environment(redis))
        self.pid = self.process.pid
        self.entered = queue.Queue()
        self.owner, self.fence = "", ""
        threading.Thread(target=self.read, daemon=True).start()
        Rlock.running.add(self)

    def read(self):
        for line in self.process.stdout:
            self.entered.put((time.monotonic_ns(), line.decode().split()[1:]))

    def enter(self, seconds=10.0):
        """Waits until it has the lock. Returns the time, in nanoseconds of CLOCK_MONOTONIC."""
        try:
            at, words = self.entered.get(timeout=seconds)
        except queue.Empty:
            raise AssertionError("rlock does not get the lock") from None
        self.owner, self.fence = words[0], words[1] if len(words) > 1 else ""
        return at

    def wait(self):
        """Returns when it waits for the lock."""
        if not eventually(lambda: self.redis.waits(self.pid, self.polls)):
            raise AssertionError("rlock does not wait: " + self.complaint())
        return self

    def leave(self):
        """Lets the command end. Returns the time of this call."""
        at = time.monotonic_ns()
        self.process.stdin.close()
        return at

    def status(self, seconds=10.0):
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError("rlock does not end") from None

    def complaint(self):
        if self.process.poll() is None:
            return "(it still runs)"
        return self.process.stderr.read().decode(errors="replace").strip()

    def kill(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        Rlock.running.discard(self)

    @classmethod
    def kill_all(cls):
        for rlock in list(cls.running):
            rlock.kill()


class Verb:
    """An rlock that ends by itself, such as `rlock permit acquire ...`."""

    def __init__(self, redis, *words):
        self.redis, self.words = redis, words
        self.process = subprocess.Popen([rlock_binary(), *map(str, words)], env=rlock_environment(redis), text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.ended = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        Rlock.running.add(self)
        self.pid = self.process.pid

    def read(self):
        out, complaint = self.process.communicate()
        self.ended.put((time.monotonic_ns(), out, complaint))

    def wait(self):
        """Returns when it waits."""
        assert eventually(lambda: self.redis.waits(self.pid)), f"rlock {self.words} does not wait"
        return self

    def end(self, seconds=10.0):
        """Waits for its end. Returns its exit status, its output, and the time of its end."""
        try:
            at, out, _ = self.ended.get(timeout=seconds)
        except queue.Empty:
            raise AssertionError(f"rlock {self.words} does not end") from None
        Rlock.running.discard(self)
        return self.process.wait(), out.strip(), at

    def kill(self):
        self.process.kill()
        Rlock.running.discard(self)


def rlock_once(redis, *words):
    """Runs rlock to its end. Returns its exit status and its output."""
    return Verb(redis, *words).end(60)[:2]


def offered_types():
    """The types of `rlock run`, according to its help."""
    text = subprocess.run([rlock_binary(), "run", "--help"], capture_output=True, text=True, check=True).stdout
    line = next(line for line in text.splitlines() if "--type T" in line)
    return line.partition("--type T")[2].split("[")[0].split()


def offered_verbs(noun):
    """Does `rlock NOUN` exist?"""
    return subprocess.run([rlock_binary(), noun, "--help"], capture_output=True, check=False).returncode == 0


class World:
    """The servers, a JVM with clients, and a folder. Client W has a short watchdog timeout. That of client F is longer than a
    failover. Client L has a fairLockWaitTimeout of an hour (3.17.7 has no such setting)."""

    def __init__(self, release, build, through="one"):
        self.release, self.through = release, through
        self.java = Java(release, build)  # first: if there is no JDK, no server has been started yet
        self.folder = tempfile.mkdtemp(prefix="rlock-interop-")
        self.servers = []
        try:
            self.redis = THROUGH[through](self.folder)
            self.servers.append(self.redis)
            clients = {"A": [], "B": [], "W": ["watchdog", "1500"], "F": ["watchdog", "6000"]}
            if release != "3.17.7":
                clients["L"] = ["fairwait", "3600000"]
            opened = [self.java.tell(client, "main", "open", self.redis.url, *options)
                      for client, options in clients.items()]
            for answer in opened:
                answer.value(60)
        except BaseException:
            self.close()
            raise

    def three_servers(self):
        """Three more servers, each with a client of Java: R1, R2, R3."""
        while len(self.servers) < 4:
            server = Redis(tempfile.mkdtemp(dir=self.folder))
            self.servers.append(server)
            self.java.ask(f"R{len(self.servers) - 1}", "main", "open", server.url)
        return self.servers[1:]

    def close(self):
        Rlock.kill_all()
        self.java.kill()
        for server in self.servers:
            server.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
