"""Runs of rlock with random options, and the signals that can hit them."""

import json
import os
import shlex
import signal
import subprocess
import sys
from dataclasses import dataclass

from network import send

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RLOCK = os.environ.get("RLOCK_BINARY") or os.path.join(ROOT, "build", "dev", "rlock")
HOLDER = [sys.executable, "-ISE", os.path.join(HERE, "holder")]
OPTIONS = {
    "lock": [],
    "read": ["-s"],
    "write": ["-x"],
    "fair": ["--fair"],
    "fenced": ["--fenced"],
    "permit": ["--permits", "2"],
    "plain": ["--type", "plain"],
}


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def session(pid):
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return 0


@dataclass
class Shape:
    """The options of a run, and what its command does."""

    type: str = "lock"
    keys: tuple = ("lock",)
    hold: int = 20_000  # milliseconds
    status: int = 0  # the exit status of its holder
    wait: tuple = ("-n",)
    more: tuple = ()  # further options
    tree: bool = False  # the holder is a child of the command
    nested: bool = False
    strict: bool = False
    locked: bool = True
    deaf: bool = False  # the command ignores SIGTERM
    script: str = ""  # not empty: a script acquires the lock by `lock acquire`; it ends by "release" or "exit"
    once: int = 0  # the milliseconds of --once-per; 0: without
    rlock: str = RLOCK


def draw(dice, deployment):
    lease = deployment.lease
    shape = Shape(
        type=dice.choice(deployment.types),
        hold=int(
            dice.choices(
                [dice.uniform(10, 200), dice.uniform(200, lease / 2), dice.uniform(lease, 2 * lease)],
                [8, 2, 1],
            )[0]
        ),
        status=dice.choice([0, 0, 7]),
        wait=dice.choice([("-n",), ("-w", "1s"), ("-w", "5s"), ("-w", "5s")]),
        tree=dice.random() < 0.5,
        strict=deployment.replicated and dice.random() < 0.5,
    )
    several, nested = dice.random() < 0.3, dice.random() < 0.2
    words = ["rw" if shape.type in ("read", "write") else shape.type]
    if shape.type == "lock" and several:
        words = ["pair." + word for word in dice.choice(["ab", "ba", "a"])]
    shape.keys = tuple(deployment.key("strict." * shape.strict + word) for word in words)
    shape.nested = nested and shape.type in ("lock", "fair", "fenced", "write")
    if shape.strict:
        shape.more = ("--sync-replicas", "1", "--sync-timeout", "300ms")
    if shape.type != "permit" and dice.random() < 0.25:
        shape.script, shape.nested, shape.tree = dice.choice(["release", "exit"]), False, False
    elif shape.type == "lock" and deployment.remembers and dice.random() < 0.15:
        shape.keys, shape.once, shape.nested, shape.strict = (deployment.key("once"),), 1000, False, False
        shape.more = ("--once-per", f"{shape.once}ms")
    return shape


def make_run(chaos, deployment, name, shape, prefix):
    return (Script if shape.script else Run)(chaos, deployment, name, shape, prefix)


class Run:
    """An rlock run whose command is the holder."""

    renewing = "rlock"  # the process that renews the lease
    fates = (
        ("rlock", signal.SIGKILL),
        ("rlock", signal.SIGKILL),
        ("rlock", signal.SIGSTOP),
        ("rlock", signal.SIGTERM),
        ("rlock", signal.SIGINT),
        ("guardian", signal.SIGKILL),
        ("guardian", signal.SIGSTOP),
        ("command", signal.SIGSTOP),
        ("command", signal.SIGKILL),
    )

    def __init__(self, chaos, deployment, name, shape, prefix=()):
        self.chaos, self.deployment, self.name, self.shape = chaos, deployment, name, shape
        self.hurt = False
        self.note("start", name)
        argv = [*prefix, *self.argv()]
        environment = {
            **os.environ,
            "RLOCK_URL": deployment.url(),
            "RLOCK_CHAOS": chaos.folder,
            "RLOCK_CHAOS_RUN": self.file("err"),
            "XDG_STATE_HOME": chaos.state,
        }
        with open(self.file("err"), "wb") as errors:
            errors.write((shlex.join(argv) + "\n").encode())
            errors.flush()
            self.process = subprocess.Popen(
                argv,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                start_new_session=True,
            )

    def argv(self):
        name, shape = self.name, self.shape
        if shape.nested:
            self.note("start", name + ".1", parent=name)
            command = [
                *self.holder(name, "x", 0, 0),
                *self.rlock(name + ".1"),
                *self.holder(name + ".1", "in", shape.hold, shape.status),
            ]
        else:
            command = self.inside()
        if shape.deaf:
            command = ["env", "--ignore-signal=TERM", *command]
        if shape.tree:
            command = ["sh", "-c", '"$@" & wait $!', "sh", *command]
        return [*(self.rlock(name) if shape.locked else []), *command]

    def file(self, kind, name=None):
        return os.path.join(self.chaos.runs, f"{name or self.name}.{kind}")

    def note(self, event, name, **more):
        self.chaos.note(
            event,
            run=name,
            deployment=self.deployment.name,
            type=self.shape.type,
            lease=self.deployment.lease,
            strict=self.shape.strict,
            script=bool(self.shape.script),
            once=self.shape.once,
            **more,
        )

    def inside(self):
        mode = {"read": "s", "permit": "slot"}.get(self.shape.type, "x")
        return self.holder(self.name, mode, self.shape.hold, self.shape.status)

    def how(self):
        """The options that `run` and `lock acquire` share."""
        shape = self.shape
        return [*OPTIONS[shape.type], *shape.wait, "--lease", f"{self.deployment.lease}ms", *shape.more]

    def rlock(self, name):
        shape = self.shape
        tree = (
            ["--until", "group"] if shape.tree else []
        )  # the shell may die before its child, the holder
        return [
            shape.rlock,
            "run",
            "-v",
            *self.how(),
            *tree,
            "--status-file",
            self.file("status", name),
            *(word for key in shape.keys for word in ("-k", key)),
            "--",
        ]

    def holder(self, name, mode, hold, status):
        return [*HOLDER, self.chaos.folder, name, ",".join(self.shape.keys), mode, str(hold), str(status)]

    def ended(self):
        """Has the run ended? Then records its end in the history."""
        status = self.process.poll()
        if status is None:
            return False
        try:
            with open(self.file("status"), encoding="utf-8") as file:
                record = json.load(file)
        except (OSError, json.JSONDecodeError):
            record = None
        self.chaos.note("end", run=self.name, status=status, record=record)
        return True

    def guardian(self):
        return next((pid for pid in children(self.process.pid) if session(pid) == pid), None)

    def command(self):
        return next((pid for pid in children(self.process.pid) if session(pid) == self.process.pid), None)

    def process_called(self, who):
        return {"rlock": lambda: self.process.pid, "guardian": self.guardian, "command": self.command}[who]()

    def signal(self, who, number):
        pid = self.process_called(who)
        if pid is None or self.process.poll() is not None:
            return None
        self.chaos.note("hurt", run=self.name, who=who, signal=int(number))
        target = -pid if who in ("command", "script") else pid  # the whole group, as from a terminal
        return target if send(target, number) else None

    def befall(self, dice):
        """Sends a random signal to one of its processes, once in its life. If the guardian is stopped, rlock may be killed next: by then
        rlock has continued the guardian, or the kernel continues it. (rlock-safety(7): what hits both at once is not survived.)"""
        self.hurt = True
        who, number = dice.choice(self.fates)
        span = dice.uniform(0.1, 2.0) * self.deployment.lease / 1000
        target = self.signal(who, number)
        if target and number == signal.SIGSTOP:
            yield span
            if who == "guardian" and dice.random() < 0.5:
                self.signal(self.renewing, signal.SIGKILL)
            else:
                send(target, signal.SIGCONT)


class Script(Run):
    """A script that acquires its lock by `lock acquire --while-pid $$`. The holder is a child of the script."""

    renewing = "keeper"
    fates = (
        ("script", signal.SIGKILL),
        ("script", signal.SIGSTOP),
        ("script", signal.SIGTERM),
        ("keeper", signal.SIGKILL),
        ("keeper", signal.SIGSTOP),
        ("guardian", signal.SIGKILL),
        ("guardian", signal.SIGSTOP),
    )

    def argv(self):
        acquire = [RLOCK, "lock", "acquire", "-v", *self.how(), "--export", *self.shape.keys]
        release = [RLOCK, "lock", "release", "-v", *self.shape.keys]
        text = f'''
            taken=$({shlex.join(acquire)} --while-pid $$) || exit $?
            eval "$taken"
            {shlex.join(self.inside())} & wait $!
            status=$?
            {shlex.join(release) if self.shape.script == "release" else ""}
            exit $status'''
        return ["sh", "-c", text]

    def process_called(self, who):
        if who == "script":
            return self.process.pid
        mark = f"RLOCK_CHAOS_RUN={self.file('err')}".encode()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as environ, open(f"/proc/{pid}/comm", encoding="utf-8") as comm:
                    ours = mark in environ.read(1 << 20).split(b"\0")
                    ours = ours and os.readlink(f"/proc/{pid}/exe") == os.path.realpath(RLOCK)
                    if ours and (comm.read() == "guardian\n") == (who == "guardian"):
                        return int(pid)
            except OSError:
                continue
        return None
