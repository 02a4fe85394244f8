"""Cells with a failover in the middle. One side holds a lock before it, and the other side waits. After it the lock is still held,
also a lease later, and its release wakes the waiter. locks.py has the actions of Java and rlock.

Each class is one holder and one waiter: begin() comes before the failover, shut_out() after it, as often as needed, and end() last.
end() returns the milliseconds from the release until the waiter has the lock.
"""

import time

import counters
import together
from locks import Case
from world import Rlock, milliseconds

LEASE = ("--lease", "6s")  # as long as the watchdog of client F: a failover takes one to three seconds


def java_lasts(world):
    """Do Java's watchdog and Java's waiters survive a failover? Those of 3.17.7 do not, even without rlock. So with 3.17.7 Java holds
    with a lease of a minute, and begins to wait after the failover."""
    return world.release != "3.17.7"


def java_lease(world):
    return [] if java_lasts(world) else [60000]


def woken(waiter, left):
    """An `rlock run` that waited gets the lock and ends. Returns the latency."""
    latency = milliseconds(waiter.enter() - left)
    waiter.leave()
    assert waiter.status() == 0, waiter.complaint()
    return latency


def given_back(holder):
    assert holder.status() == 0, holder.complaint()


class JavaHolds:
    def __init__(self, world, kind):
        self.case = Case(world, kind, 1)

    def begin(self):
        self.case.java_holds(*java_lease(self.case.world), client="F")
        self.waiter = self.case.rlock_waits()

    def shut_out(self):
        assert not self.case.rlock_gets(), "rlock got in although Java holds"

    def end(self):
        left = self.case.java_leaves(client="F")
        return woken(self.waiter, left)


class JavaWaits:
    """Java waits: from before the failover if its waiters survive one, else from after it."""

    waiter = None

    def wait(self):
        raise NotImplementedError

    def wait_if_it_lasts(self):
        # An RSpinLock asks again and again. A question without an answer ends its wait with an exception.
        if java_lasts(self.case.world) and self.case.kind.name != "spin":
            self.waiter = self.wait()

    def waits(self):
        return self.waiter or self.wait()


class RlockHolds(JavaWaits):
    def __init__(self, world, kind):
        self.case = Case(world, kind, 1)

    def wait(self):
        return self.case.java_waits()

    def begin(self):
        self.holder = self.case.rlock_holds(*LEASE)
        self.wait_if_it_lasts()

    def shut_out(self):
        got = self.case.java("t3", self.case.kind.rival, "try", client="B").value(20)
        assert got == "false", "Java got in although rlock holds"

    def end(self):
        waiter = self.waits()
        left = self.holder.leave()
        waiter.value()
        latency = milliseconds(waiter.at - left)
        self.case.java("t2", self.case.kind.rival, "unlock", client="B").value()
        given_back(self.holder)
        return latency


class JavaHoldsPermit:
    def __init__(self, world, kind):
        self.case = counters.Pool(world, kind, 1)

    def begin(self):
        self.case.java("t1", "set", 1).value()
        self.taken = self.case.java("t1", "acquire", 30000).value()
        self.waiter = Rlock(self.case.world.redis, "--permits", "1", key=self.case.key, type="permit").wait()

    def shut_out(self):
        assert self.case.refused("acquire", "-n", "--lease", "30s"), "rlock got a second permit of one"

    def end(self):
        left = time.monotonic_ns()
        assert self.case.java("t1", "release", self.taken).value() == "true"
        return woken(self.waiter, left)


class RlockHoldsPermit(JavaWaits):
    def __init__(self, world, kind):
        self.case = counters.Pool(world, kind, 1)

    def wait(self):
        return self.case.java_waits("acquire", 30000)

    def begin(self):
        redis = self.case.world.redis
        self.holder = Rlock(redis, "--permits", "1", *LEASE, key=self.case.key, type="permit")
        self.holder.enter()
        self.wait_if_it_lasts()

    def shut_out(self):
        assert self.case.java("t1", "try", 0, 1000).value(20) == "", "Java got a second permit of one"

    def end(self):
        waiter = self.waits()
        left = self.holder.leave()
        taken = waiter.value()
        self.case.java("t2", "release", taken, client="B").value()
        given_back(self.holder)
        return milliseconds(waiter.at - left)


class JavaCounts:
    """Java holds the only permit of a semaphore, or has set a latch with the count 1."""

    def __init__(self, world, kind):
        self.case = counters.Pool(world, kind, 1)
        self.latch = kind is counters.LATCH

    def begin(self):
        self.case.java("t1", "set", 1).value()
        if not self.latch:
            self.case.java("t1", "acquire").value()
        self.waiter = self.case.verb_waits("wait" if self.latch else "acquire")

    def shut_out(self):
        if self.latch:
            assert self.case.java("t1", "count").value(20) == "1"
        else:
            assert self.case.refused("acquire", "-n"), "rlock got a second permit of one"
        assert self.waiter.process.poll() is None, "rlock waits no more"

    def end(self):
        left = time.monotonic_ns()
        self.case.java("t1", "down" if self.latch else "release").value()
        status, _, at = self.waiter.end()
        assert status == 0, f"rlock exits with {status}"
        return milliseconds(at - left)


class RlockCounts(JavaWaits):
    def __init__(self, world, kind):
        self.case = counters.Pool(world, kind, 1)
        self.latch = kind is counters.LATCH

    def wait(self):
        return self.case.java_waits("await" if self.latch else "acquire")

    def begin(self):
        if self.latch:
            self.case.verb("set", 1)
        else:
            self.case.verb("init", 1)
            self.case.verb("acquire")
        self.wait_if_it_lasts()

    def shut_out(self):
        if not self.latch:
            assert self.case.java("t1", "try", 0).value(20) == "false", "Java got a second permit of one"
        assert not (self.waiter and self.waiter.done.is_set()), "Java waits no more"

    def end(self):
        waiter = self.waits()
        left = time.monotonic_ns()
        self.case.verb("down" if self.latch else "release")
        waiter.value()
        return milliseconds(waiter.at - left)


class JavaHoldsAll:
    """Java holds three keys at once."""

    def __init__(self, world, kind):
        self.case = together.Together(world, kind, 1)

    def begin(self):
        self.case.java("lock", *java_lease(self.case.world)).value()
        self.waiter = self.case.rlock().wait()

    def shut_out(self):
        assert not self.case.rlock_gets(), "rlock got in although Java holds all"

    def end(self):
        left = time.monotonic_ns()
        self.case.java("unlock").value()
        return woken(self.waiter, left)


class RlockHoldsAll(JavaWaits):
    def __init__(self, world, kind):
        self.case = together.Together(world, kind, 1)

    def wait(self):
        return self.case.java_waits()

    def begin(self):
        self.holder = self.case.rlock(*LEASE)
        self.holder.enter()
        self.wait_if_it_lasts()

    def shut_out(self):
        assert self.case.java("try", thread="t3").value(20) == "false", "Java got in although rlock holds all"

    def end(self):
        waiter = self.waits()
        left = self.holder.leave()
        waiter.value(20)
        self.case.java("unlock").value()
        given_back(self.holder)
        return milliseconds(waiter.at - left)


def pairs(world, kinds, counted, several):
    """[(kind, side, pair)]; side 0: Java holds."""
    chosen = [(kind, (JavaHolds, RlockHolds)) for kind in kinds]
    for kind in (counters.PERMIT, counters.SEM, counters.LATCH):
        if kind.name in counted:
            permit = kind is counters.PERMIT
            chosen.append((kind, (JavaHoldsPermit, RlockHoldsPermit) if permit else (JavaCounts, RlockCounts)))
    if several:
        chosen.append((together.MULTI, (JavaHoldsAll, RlockHoldsAll)))
    return [(kind, side, make(world, kind)) for kind, sides in chosen for side, make in enumerate(sides)]
