"""The cells of locks with an owner. Each cell proves one property of one type in one direction, by a real run.

A cell is a function of a Case. It raises AssertionError if the property does not hold, and may return latencies in milliseconds. In
`java` cells Java acts first and rlock second; in `rlock` cells it is the other way round.
"""

import threading
import time
from dataclasses import dataclass

from world import Entries, Rlock, all_at_once, eventually, milliseconds, rlock_binary, rlock_once

BUSY, LOST = 75, 125


@dataclass(frozen=True)
class Kind:
    """A type and a type that it excludes: the first side holds `name`, and the second wants `rival`."""

    name: str
    rival: str
    classic: bool = True  # does Redisson 3.17.7 have it?


KINDS = [Kind("lock", "lock"), Kind("fair", "fair"), Kind("fenced", "fenced", classic=False), Kind("spin", "spin"),
         Kind("read", "write"), Kind("write", "read")]


class Case:
    """One cell, with short names for the actions of both sides on one key."""

    serial = 0

    def __init__(self, world, kind, times):
        Case.serial += 1
        self.world, self.kind, self.times = world, kind, times
        self.key = f"{kind.name}-{Case.serial}"

    # The actions of Java: thread t1 acts first, t2 second.
    def java(self, thread, type, verb, *words, client="A"):
        return self.world.java.tell(client, f"{self.key}-{thread}", type, verb, self.key, *words)

    def java_holds(self, *lease, client="A"):
        self.java("t1", self.kind.name, "lock", *lease, client=client).value()

    def java_leaves(self, client="A"):
        """Releases. Returns the time of the call, in nanoseconds."""
        at = time.monotonic_ns()
        self.java("t1", self.kind.name, "unlock", client=client).value()
        return at

    def java_waits(self):
        answer = self.java("t2", self.kind.rival, "lock", client="B")
        if self.kind.rival == "spin":
            time.sleep(0.03)  # a spin lock subscribes to nothing; after this time it has asked
        else:
            parked = ("B", "main", "parked", f"{self.key}-t2")
            assert eventually(lambda: self.world.java.ask(*parked) == "true"), "Java does not wait"
        return answer

    def java_gets(self, type=None):
        """Tries once to acquire the lock, and releases it. Returns whether it got it."""
        type = type or self.kind.rival
        got = self.java("t2", type, "try", client="B").value() == "true"
        if got:
            self.java("t2", type, "unlock", client="B").value()
        return got

    # The actions of rlock.
    def rlock(self, *options, type=None, nested=""):
        return Rlock(self.world.redis, *options, key=self.key, type=type or self.kind.name, nested=nested)

    def rlock_holds(self, *options, nested=""):
        holder = self.rlock(*options, nested=nested)
        holder.enter()
        return holder

    def rlock_waits(self, *options):
        return self.rlock(*options, type=self.kind.rival).wait()

    def rlock_gets(self, type=None):
        """Tries once to acquire the lock, and releases it. Returns whether it got it."""
        status, _ = rlock_once(
            self.world.redis, "run", "-nq", "--type", type or self.kind.rival, "-k", self.key, "--", "true")
        assert status in (0, BUSY), f"rlock run -n exits with {status}"
        return status == 0

    def holds(self):
        """The number of holds in the hash."""
        counts = self.world.redis.ask("HVALS", self.key)
        return sum(int(count) for count in counts if count not in ("read", "write"))

    def rivals(self):
        return {"write": ["read", "write"]}.get(self.kind.name, [self.kind.rival])


# --- mutual exclusion ---------------------------------------------------------------------------------

def excludes_java(case):
    case.java_holds()
    for rival in case.rivals():
        assert not case.rlock_gets(rival), f"rlock got {rival} while Java held {case.kind.name}"
    case.java_leaves()
    for rival in case.rivals():
        assert case.rlock_gets(rival), f"rlock did not get {rival} after Java"


def excludes_rlock(case):
    holder = case.rlock_holds()
    for rival in case.rivals():
        assert not case.java_gets(rival), f"Java got {rival} while rlock held {case.kind.name}"
    holder.leave()
    assert holder.status() == 0, holder.complaint()
    for rival in case.rivals():
        assert case.java_gets(rival), f"Java did not get {rival} after rlock"


# --- a release wakes a waiter --------------------------------------------------------------------------

def wakes_java(case):
    latencies = []
    for _ in range(case.times):
        case.java_holds()
        waiter = case.rlock_waits()
        left = case.java_leaves()
        latencies.append(milliseconds(waiter.enter() - left))
        waiter.leave()
        assert waiter.status() == 0, waiter.complaint()
    return latencies


def wakes_rlock(case):
    latencies = []
    for _ in range(case.times):
        holder = case.rlock_holds()
        waiter = case.java_waits()
        left = holder.leave()
        waiter.value()
        latencies.append(milliseconds(waiter.at - left))
        case.java("t2", case.kind.rival, "unlock", client="B").value()
        assert holder.status() == 0, holder.complaint()
    return latencies


# --- re-entry ----------------------------------------------------------------------------------------

def reenters_java(case):
    case.java_holds()
    case.java_holds()
    assert case.holds() == 2, f"{case.holds()} holds, not 2"
    case.java_leaves()
    assert not case.rlock_gets(), "rlock got in after the first of two unlocks"
    case.java_leaves()
    assert case.rlock_gets(), "rlock did not get in after the second of two unlocks"


def reenters_rlock(case):
    inner = f"{rlock_binary()} run --type {case.kind.name} -k {case.key} -- sh -c 'echo in deep; read line || :';"
    holder = case.rlock_holds(nested=inner)
    holder.enter()
    assert case.holds() == 2, f"{case.holds()} holds, not 2"
    holder.process.stdin.write(b"\n")
    holder.process.stdin.flush()
    assert eventually(lambda: case.holds() == 1), "the inner run does not give its hold back"
    assert not case.java_gets(), "Java got in after the inner of two runs"
    holder.leave()
    assert holder.status() == 0, holder.complaint()
    assert case.java_gets(), "Java did not get in after both runs"


# --- force -------------------------------------------------------------------------------------------

def forced_java(case):
    """Java holds the lock; rlock removes it; an rlock that waits gets it."""
    case.java_holds()
    waiter = case.rlock_waits()
    start = time.monotonic_ns()
    status, _ = rlock_once(case.world.redis, "unlock", case.key, "--yes")
    assert status == 0, f"rlock unlock exits with {status}"
    latency = milliseconds(waiter.enter() - start)
    assert case.java("t1", case.kind.name, "held").value() == "false", "Java believes that it holds"
    waiter.leave()
    assert waiter.status() == 0
    return [latency]


def forced_rlock(case):
    """rlock holds the lock; Java removes it; a waiter of Java gets it; rlock stops its command."""
    holder = case.rlock_holds("--lease", "1500ms")
    waiter = case.java_waits()
    start = time.monotonic_ns()
    assert case.java("t3", case.kind.name, "force").value() == "true"
    waiter.value()
    assert holder.status() == LOST, f"rlock exits with {holder.status()}, not {LOST}"
    case.java("t2", case.kind.rival, "unlock", client="B").value()
    return [] if case.kind.rival == "spin" else [milliseconds(waiter.at - start)]


# --- order -------------------------------------------------------------------------------------------

def order(case, java_first, client="B", options=()):
    """Three waiters of each side arrive in turn. They get the lock in the order of their arrival."""
    redis = case.world.redis
    line, owners, waiters = f"redisson_lock_queue:{{{case.key}}}", [], []
    if java_first:
        case.java_holds()
    else:
        holder = case.rlock_holds()
    for i in range(6):
        if (i % 2 == 0) == java_first:
            waiters.append(case.rlock(*options, type="fair"))
            waiters[-1].leave()
        else:
            case.java(f"q{i}", "fair", "lock", client=client)
            waiters.append(case.java(f"q{i}", "fair", "unlock", client=client))
        assert eventually(lambda count=i + 1: redis.ask("LLEN", line) == count), f"waiter {i + 1} does not queue"
        owners.append(redis.ask("LINDEX", line, -1))
    entries = Entries(redis, case.key)
    if java_first:
        case.java_leaves()
    else:
        holder.leave()
    for waiter in waiters:
        if isinstance(waiter, Rlock):
            assert waiter.status() == 0, waiter.complaint()
        else:
            waiter.value()
    came = entries.owners(6)
    assert came == owners, f"came {[owners.index(owner) + 1 for owner in came]}"
    leftovers = redis.ask("KEYS", f"redisson_lock_*{{{case.key}}}*")
    assert not leftovers, f"left behind: {leftovers}"


def order_java(case):
    order(case, java_first=True)


def order_rlock(case):
    order(case, java_first=False)


def patient_order_java(case):
    """The same with a fairLockWaitTimeout of an hour on both sides."""
    order(case, True, "L", ("--fair-wait-timeout", "1h"))


def patient_order_rlock(case):
    order(case, False, "L", ("--fair-wait-timeout", "1h"))


# --- fencing tokens ------------------------------------------------------------------------------------

def tokens(case):
    """Each hold has a larger token than the hold before it, whichever side it belongs to."""
    found = []
    for _ in range(3):
        found.append(int(case.java("t1", "fenced", "token").value()))
        case.java_leaves()
        holder = case.rlock_holds()
        found.append(int(holder.fence))
        holder.leave()
        assert holder.status() == 0
    assert found == sorted(set(found)), f"tokens {found}"


# --- shares ------------------------------------------------------------------------------------------

def shares(case, hand_overs):
    """Five threads of Java and five rlocks acquire the lock again and again. Returns how many of the hand-overs each side gets.

    Answers (Java's, rlock's, ms of the longest time between two holds).
    """
    inside = threading.Lock()
    entered = []

    def hold(side, leave):
        assert inside.acquire(blocking=False), "two were inside"
        entered.append((side, time.monotonic()))
        time.sleep(0.005)
        inside.release()
        leave()

    def java(thread):
        while len(entered) < hand_overs:
            case.java(thread, case.kind.name, "lock").value(60)
            hold("java", lambda: case.java(thread, case.kind.name, "unlock").value())

    def rlock(_):
        while len(entered) < hand_overs:
            holder = case.rlock()
            holder.enter(60)
            hold("rlock", holder.leave)
            assert holder.status() == 0, holder.complaint()

    all_at_once([(java, 5), (rlock, 5)], 120)
    sides = [side for side, _ in entered[:hand_overs]]
    longest = max(after - before for (_, before), (_, after) in zip(entered, entered[1:]))
    return sides.count("java"), sides.count("rlock"), 1000 * longest


# --- slow cells, for all types at once: watchdogs and deaths -----------------------------------------

def watchdogs(cases):
    """Each side holds a lock for two of its leases. The other side never gets it."""
    for case in cases:
        case.java_holds(client="W")
    rlocks = {}
    for case in cases:
        other = Case(case.world, case.kind, 1)
        rlocks[case] = (other, other.rlock_holds("--lease", "1500ms"))
    until = time.monotonic() + 3.2
    failures = {}
    while time.monotonic() < until:
        for case in cases:
            other, _ = rlocks[case]
            for key, who in ((case.key, "java"), (other.key, "rlock")):
                ttl = case.world.redis.ask("PTTL", key)
                if not 0 < ttl <= 1500:
                    failures[case.kind.name, who] = f"the TTL is {ttl}"
        time.sleep(0.05)
    for case in cases:
        other, holder = rlocks[case]
        if case.rlock_gets():
            failures[case.kind.name, "java"] = "rlock got in although Java's watchdog ran"
        if other.java_gets():
            failures[case.kind.name, "rlock"] = "Java got in although rlock renewed"
        case.java_leaves(client="W")
        holder.leave()
        holder.status()
    return failures


def death_of_rlock(cases):
    """rlock is killed while Java waits. Java gets the lock when rlock's guardian has released it. Returns latencies, or failures.

    If a fair waiter of 3.17.7 looks again a moment too soon, it sleeps for ever, whatever client held the lock (fixed in 3.32.0). So
    an rlock waits behind it, which finds the lock free, and wakes the head of the queue.
    """
    waiting = []
    for case in cases:
        holder = case.rlock_holds("--lease", "1500ms")
        waiter = case.java_waits()
        behind = None
        if case.kind.name == "fair" and case.world.release == "3.17.7":
            behind = case.rlock_waits("--lease", "1500ms")
        waiting.append((case, waiter, behind, time.monotonic_ns()))
        holder.kill()
    found = {}
    for case, waiter, behind, killed in waiting:
        try:
            waiter.value()
        except AssertionError as failure:
            found[case.kind.name] = failure
            continue
        found[case.kind.name] = milliseconds(waiter.at - killed)
        case.java("t2", case.kind.rival, "unlock", client="B").value()
        if behind:
            behind.enter()
            behind.leave()
            behind.status()
    return found


def death_of_java(cases):
    """The JVM is killed while rlock waits. rlock gets each lock when its lease has ended. Returns the same as death_of_rlock()."""
    waiting = []
    for case in cases:
        case.java_holds(client="W")
        waiting.append((case, case.rlock_waits()))
    killed = time.monotonic_ns()
    cases[0].world.java.kill()
    found = {}
    for case, waiter in waiting:
        try:
            found[case.kind.name] = milliseconds(waiter.enter() - killed)
        except AssertionError as failure:
            found[case.kind.name] = failure
            continue
        waiter.leave()
        waiter.status()
    return found
