"""Checks every document that rlock writes against its published schema (man/schema), in every state of a key.

The published schemas allow further fields, for later versions. This test does not allow them: a field of this version must be in
the schema.

    RLOCK_BINARY=build/dev/rlock python3 tests/schemas.py
"""
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

import jsonschema

SCHEMAS = pathlib.Path(__file__).resolve().parent.parent / "man" / "schema"
DEADLINE = 60  # seconds, for one call on a loaded machine


def strict(schema):
    """The schema, but further fields are not allowed."""
    if isinstance(schema, dict):
        closed = {name: strict(part) for name, part in schema.items()}
        if "properties" in schema and "additionalProperties" not in schema:
            closed["additionalProperties"] = False
        return closed
    return [strict(part) for part in schema] if isinstance(schema, list) else schema


class Rlock:
    def __init__(self, folder):
        self.socket = os.path.join(folder, "s")
        self.server = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.socket, "--dir", folder, "--save", "",
             "--logfile", os.path.join(folder, "log")])
        self.environment = {**os.environ, "RLOCK_URL": "unix:" + self.socket, "RLOCK_CONFIG": "/dev/null",
                            "XDG_STATE_HOME": folder}
        for name in [name for name in self.environment if name.startswith(("RLOCK_STACK", "RLOCK_OWNER"))]:
            del self.environment[name]
        until = time.monotonic() + DEADLINE
        while not self.listens():
            if time.monotonic() > until:
                raise SystemExit("schemas: redis-server does not listen")
            time.sleep(0.01)
        self.checked = 0

    def listens(self):
        """Does the server accept connections? Its socket exists a moment before that."""
        with socket.socket(socket.AF_UNIX) as client:
            return client.connect_ex(self.socket) == 0

    def __call__(self, *words, expect=(0,)):
        """Runs rlock, and returns what it prints."""
        done = subprocess.run([os.environ["RLOCK_BINARY"], *words], env=self.environment, capture_output=True,
                              text=True, timeout=DEADLINE, check=False)
        if done.returncode not in expect:
            raise SystemExit(f"schemas: rlock {' '.join(words)}: {done.returncode}: {done.stderr}")
        return done.stdout

    def start(self, *words):
        return subprocess.Popen([os.environ["RLOCK_BINARY"], *words], env=self.environment,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def check(self, name, text, what):
        schema = strict(json.loads((SCHEMAS / f"{name}.schema.json").read_text()))
        jsonschema.Draft202012Validator.check_schema(schema)
        try:
            jsonschema.validate(json.loads(text), schema, cls=jsonschema.Draft202012Validator)
        except jsonschema.ValidationError as error:
            raise SystemExit(f"schemas: {what} against {name}: {error.message}\n{text}") from None
        self.checked += 1

    def document(self, name, *words, expect=(0,)):
        self.check(name, self(*words, expect=expect), "rlock " + " ".join(words))

    def record(self, *words, expect=(0,)):
        with tempfile.NamedTemporaryFile() as file, tempfile.NamedTemporaryFile() as events:
            self("run", "--status-file", file.name, "--events", events.name, *words, expect=expect)
            self.check("run", pathlib.Path(file.name).read_text(), "run " + " ".join(words))
            self.events(events.name, "an event of run " + " ".join(words))

    def events(self, file, what):
        for line in pathlib.Path(file).read_text().splitlines():
            self.check("run-event", line, what)


def eventually(fact):
    until = time.monotonic() + DEADLINE
    while not fact():
        if time.monotonic() > until:
            raise SystemExit("schemas: in vain waited for a fact")
        time.sleep(0.02)


def keys_in_every_state(rlock):
    for kind in ("lock", "fair", "fenced", "spin", "read", "write", "plain"):
        rlock.document("lock-acquire", "lock", "acquire", "--json", kind, "--type", kind, "--lease", "60s",
                       "--reason", "why", "--label", "a=b")
        rlock.document("lock-acquire", "lock", "acquire", "-n", "--json", kind, "--type", kind, "--lease", "60s",
                       expect=(0, 75))
    rlock.document("lock-acquire", "lock", "acquire", "--json", "one", "two", "--lease", "60s")
    rlock.record("-k", "kept", "--min-hold", "60s", "--", "true")
    rlock.record("-k", "done", "--once-per", "60s", "--", "true")
    rlock("sem", "init", "sem", "3")
    rlock("permit", "init", "pool", "3")
    rlock.document("permit-acquire", "permit", "acquire", "--json", "pool", "--lease", "60s", "--count", "2")
    rlock("latch", "set", "closed", "2")
    rlock("latch", "set", "opened", "1")
    rlock("latch", "down", "opened")
    waiter = rlock.start("run", "-q", "-k", "lock", "--", "true")
    fair = rlock.start("run", "-q", "--fair", "-k", "fair", "--", "true")
    eventually(lambda: all(json.loads(rlock("inspect", "--json", key))["keys"][0]["waiters"] for key in ("lock", "fair")))
    return waiter, fair


def records_of_runs(rlock):
    rlock.record("-k", "free", "--", "true")
    rlock.record("-k", "free", "--fenced", "--", "sh", "-c", "exit 3", expect=(3,))
    rlock.record("-k", "two seats", "--permits", "2", "--count", "2", "--", "true")
    rlock.record("-k", "seats", "--permits", "2", "--", "true")
    rlock.record("-n", "-k", "lock", "--", "true", expect=(75,))
    rlock.record("-k", "sem", "--", "true", expect=(65,))
    rlock.record("-k", "free", "--max-hold", "200ms", "--kill-after", "100ms", "--", "sleep", "60", expect=(124,))
    rlock.record("-k", "free", "--", "sh", "-c", "kill -9 $$", expect=(-9, 137))
    rlock.record("-k", "free", "--", "/nowhere/command", expect=(127,))
    rlock.record("-u", "unix:/nowhere/socket", "-k", "free", "--", "true", expect=(69,))
    for choice, status in (("skip", 0), ("run", 3)):
        rlock.record("-u", "unix:/nowhere/socket", "-k", "free", "--if-unreachable", choice, "--", "sh", "-c", "exit 3",
                     expect=(status,))
    rlock.record("-k", b"\xff".decode("utf-8", "surrogateescape"), "--", "true")


def events_of_scripts_and_killed_runs(rlock):
    acquire = ["sh", "-c", 'owner=$("$RLOCK_BINARY" lock acquire script --while-pid $$ --events "$0")']
    run = [os.environ["RLOCK_BINARY"], "run", "-q", "-k", "free", "--events"]
    for words in (lambda file: [*acquire, file], lambda file: [*run, file, "--", "sh", "-c", "kill -9 $PPID; sleep 60"]):
        with tempfile.NamedTemporaryFile() as file:
            subprocess.run(words(file.name), env=rlock.environment, timeout=DEADLINE, check=False)
            eventually(lambda name=file.name: '"event":"released"' in pathlib.Path(name).read_text())
            rlock.events(file.name, "an event of " + " ".join(words(file.name)))


def main():
    with tempfile.TemporaryDirectory() as folder:
        rlock = Rlock(folder)
        processes = []
        try:
            processes += keys_in_every_state(rlock)
            records_of_runs(rlock)
            events_of_scripts_and_killed_runs(rlock)
            keys = ["lock", "fair", "fenced", "spin", "read", "write", "plain", "kept", "done", "sem", "pool", "closed",
                    "opened", "free", "absent"]
            rlock.document("inspect", "inspect", "--json", *keys)
            rlock.document("inspect", "inspect", "--json")
            rlock.document("inspect", "list", "--all", "--json")
            for key in ("free", "lock", "kept"):
                rlock.document("history", "history", "--json", key, expect=(0, 1))
            for noun, key in (("sem", "sem"), ("permit", "pool"), ("sem", "absent"), ("permit", "absent")):
                rlock.document("pool-status", noun, "status", "--json", key, expect=(0, 1))
            for key in ("closed", "opened", "absent"):
                rlock.document("latch-status", "latch", "status", "--json", key, expect=(0, 1))
            rlock.document("sem-drain", "sem", "drain", "--json", "sem")
            rlock.document("unlock", "unlock", "--yes", "--json", "spin", "absent", expect=(0, 1))
            rlock.document("doctor", "doctor", "--json", expect=(0, 1))
            rlock.document("config", "config", "--json")
            rlock.document("scripts-list", "scripts", "list", "--json")
            rlock.document("server-status", "server", "status", "--json", expect=(0, 1))
            published = {path.name for path in SCHEMAS.iterdir()}
            print(f"{rlock.checked} documents keep to {len(published)} schemas")
        finally:
            for process in processes + [rlock.server]:
                process.send_signal(signal.SIGTERM)
                process.wait(DEADLINE)


if __name__ == "__main__":
    sys.exit(main())
