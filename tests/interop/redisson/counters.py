"""The cells of counters: permits with leases, semaphores, latches. See locks.py for what a cell is."""

import json
import time

from locks import BUSY, Case, Kind
from world import Rlock, Verb, eventually, milliseconds, rlock_once

PERMIT, SEM, LATCH = Kind("permit", ""), Kind("sem", ""), Kind("latch", "")


class Pool(Case):
    """A Case whose key holds a number. Commands to Java begin with `permit`, `sem` or `latch`, then a verb."""

    def java(self, thread, verb, *words, client="A"):
        return self.world.java.tell(client, f"{self.key}-{thread}", self.kind.name, verb, self.key, *words)

    def verb(self, verb, *words):
        """Runs rlock KIND VERB KEY ... to its end. Returns its output."""
        status, out = rlock_once(self.world.redis, self.kind.name, verb, self.key, *words)
        assert status == 0, f"rlock {self.kind.name} {verb} exits with {status}"
        return out

    def verb_waits(self, verb, *words):
        return Verb(self.world.redis, self.kind.name, verb, self.key, *words).wait()

    def refused(self, verb, *words):
        status, _ = rlock_once(self.world.redis, self.kind.name, verb, self.key, *words)
        return status == BUSY

    def java_waits(self, verb, *words):
        answer = self.java("t2", verb, *words, client="B")
        assert eventually(lambda: self.world.redis.listened(self.key)), "Java does not subscribe"
        return answer

    def available(self):
        return int(self.java("t1", "available").value())


# --- permits -----------------------------------------------------------------------------------------

def run_with_permit(case, *options):
    return Rlock(case.world.redis, "--permits", "2", *options, key=case.key, type="permit")


def permit_excludes_java(case):
    case.java("t1", "set", 2).value()
    taken = [case.java("t1", "acquire", 30000).value() for _ in range(2)]
    assert case.refused("acquire", "-n", "--lease", "30s"), "rlock got a third permit of two"
    case.java("t1", "release", taken[0]).value()
    case.verb("release", case.verb("acquire", "-n", "--lease", "30s"))


def permit_excludes_rlock(case):
    holder = run_with_permit(case, "--count", "2")
    holder.enter()
    assert case.java("t1", "try", 0, 1000).value() == "", "Java got a third permit of two"
    assert case.available() == 0
    holder.leave()
    assert holder.status() == 0, holder.complaint()
    assert case.available() == 2


def permit_wakes_java(case):
    case.java("t1", "set", 1).value()
    latencies = []
    for _ in range(case.times):
        taken = case.java("t1", "acquire", 30000).value()
        waiter = Rlock(case.world.redis, "--permits", "1", key=case.key, type="permit").wait()
        left = time.monotonic_ns()
        assert case.java("t1", "release", taken).value() == "true"
        latencies.append(milliseconds(waiter.enter() - left))
        waiter.leave()
        assert waiter.status() == 0, waiter.complaint()
    return latencies


def permit_wakes_rlock(case):
    latencies = []
    for _ in range(case.times):
        holder = run_with_permit(case, "--count", "2")
        holder.enter()
        waiter = case.java_waits("acquire", 30000)
        left = holder.leave()
        taken = waiter.value()
        latencies.append(milliseconds(waiter.at - left))
        assert holder.status() == 0, holder.complaint()
        case.java("t2", "release", taken, client="B").value()
    return latencies


def permit_given_back_java(case):
    """Java acquires a permit; rlock renews and releases it."""
    case.java("t1", "set", 2).value()
    taken = case.java("t1", "acquire", 5000).value()
    case.verb("renew", taken, "--lease", "1m")
    case.verb("release", taken)
    assert case.available() == 2
    assert case.java("t1", "release", taken).value() == "false", "Java released it once more"


def permit_given_back_rlock(case):
    """rlock acquires a permit; Java renews and releases it."""
    case.verb("init", 2)
    taken = case.verb("acquire", "--lease", "5s")
    assert case.java("t1", "renew", taken, 60000).value() == "true"
    assert case.java("t1", "release", taken).value() == "true"
    assert case.available() == 2


def classic(case):
    return case.world.release == "3.17.7"


def taken_without_room(case):
    """Checks that neither side gets a permit."""
    assert case.refused("acquire", "-n", "--lease", "30s"), "rlock got a permit"
    assert case.java("t1", "try", 0, 1000).value() == "", "Java got a permit"


def permit_resized_java(case):
    """Java's setPermits makes the pool larger while an rlock waits, and smaller."""
    case.java("t1", "resize", 1).value()
    taken = case.java("t1", "acquire", 30000).value()
    waiter = case.verb_waits("acquire", "--lease", "30s")
    left = time.monotonic_ns()
    case.java("t1", "resize", 2).value()
    status, ours, at = waiter.end()
    assert status == 0
    case.java("t1", "resize", 1).value()
    assert case.verb("status").endswith("0 of 1 available, 1 too many taken"), case.verb("status")
    case.verb("release", ours)
    taken_without_room(case)
    case.verb("release", taken)
    assert case.available() == 1
    return [milliseconds(at - left)]


def permit_resized_rlock(case):
    """`rlock permit set` makes the pool larger while Java waits, and smaller."""
    case.verb("set", 1)
    ours = case.verb("acquire", "--lease", "30s")
    waiter = case.java_waits("acquire", 30000)
    left = time.monotonic_ns()
    case.verb("set", 2)
    taken = waiter.value()
    assert case.available() == 0
    case.verb("set", 1)
    assert case.java("t1", "release", ours).value() == "true"
    taken_without_room(case)
    assert case.java("t2", "release", taken, client="B").value() == "true"
    assert case.available() == 1
    case.verb("set", 4)
    assert case.available() == 4
    return [milliseconds(waiter.at - left)]


def permit_endless_java(case):
    """Java acquires a permit without a lease; rlock shows that, and releases it."""
    case.java("t1", "set", 1).value()
    taken = case.java("t1", "acquire").value()
    assert case.verb("status", "--id", taken).endswith("never ends")
    case.verb("release", taken)
    assert case.available() == 1


def permit_endless_rlock(case):
    """rlock acquires a permit without a lease; Java sees that, and releases it by its id."""
    case.verb("init", 1)
    ours = case.verb("acquire", "--no-lease")
    assert case.java("t1", "try", 0, 1000).value() == "", "Java got a second permit of one"
    if not classic(case):
        assert case.java("t1", "lease", ours).value() == "-1"
    assert case.java("t1", "release", ours).value() == "true"
    assert case.available() == 1


def permit_lease_java(case):
    """rlock prints how long Java's permit stays taken."""
    case.java("t1", "set", 1).value()
    taken = case.java("t1", "acquire", 600000).value()
    rest = json.loads(case.verb("status", "--id", taken, "--json"))["ttl_ms"]
    assert 590000 < rest <= 600000, rest
    case.verb("release", taken)
    status, _ = rlock_once(case.world.redis, "permit", "status", case.key, "--id", taken)
    assert status == 1, "a permit that was given back is said to be taken"


def permit_lease_rlock(case):
    """Java's getLeaseTime returns how long rlock's permit stays taken."""
    case.verb("init", 1)
    ours = case.verb("acquire", "--lease", "10m")
    rest = int(case.java("t1", "lease", ours).value())
    assert 590000 < rest <= 600000, rest
    case.verb("release", ours)
    assert case.java("t1", "lease", ours).failed(), "Java knows a permit that was given back"


def permit_dies_java(case):
    """A permit returns to the pool when its lease ends."""
    case.java("t1", "set", 1).value()
    case.java("t1", "acquire", 500).value()
    start = time.monotonic_ns()
    waiter = Rlock(case.world.redis, "--permits", "1", key=case.key, type="permit")
    latency = milliseconds(waiter.enter() - start)
    waiter.leave()
    waiter.status()
    return [latency]


def permit_dies_rlock(case):
    holder = run_with_permit(case, "--count", "2", "--lease", "1500ms")
    holder.enter()
    waiter = case.java_waits("acquire", 30000)
    killed = time.monotonic_ns()
    holder.kill()
    waiter.value()
    return [milliseconds(waiter.at - killed)]


# --- semaphores --------------------------------------------------------------------------------------

def sem_excludes_java(case):
    case.java("t1", "set", 2).value()
    case.java("t1", "acquire", 2).value()
    assert case.refused("acquire", "-n"), "rlock got a third permit of two"
    case.java("t1", "release", 2).value()
    case.verb("acquire", "-n", "--count", "2")


def sem_excludes_rlock(case):
    case.verb("init", 2)
    case.verb("acquire", "--count", "2")
    assert case.java("t1", "try", 0).value() == "false", "Java got a third permit of two"
    case.verb("release", "--count", "2")
    assert case.java("t1", "try", 0, 2).value() == "true"


def sem_wakes_java(case):
    case.java("t1", "set", 0).value()
    latencies = []
    for _ in range(case.times):
        waiter = case.verb_waits("acquire")
        left = time.monotonic_ns()
        case.java("t1", "release").value()
        status, _, at = waiter.end()
        assert status == 0
        latencies.append(milliseconds(at - left))
    return latencies


def sem_wakes_rlock(case):
    case.java("t1", "set", 0).value()
    latencies = []
    for _ in range(case.times):
        waiter = case.java_waits("acquire")
        left = time.monotonic_ns()
        case.verb("release")
        waiter.value()
        latencies.append(milliseconds(waiter.at - left))
    return latencies


# --- latches -----------------------------------------------------------------------------------------

def latch_wakes_java(case):
    """Java sets a latch and counts it down; rlock waits for it."""
    latencies = []
    for _ in range(case.times):
        assert case.java("t1", "set", 2).value() == "true"
        waiter = case.verb_waits("wait")
        case.verb("down")
        left = time.monotonic_ns()
        case.java("t1", "down").value()
        status, _, at = waiter.end()
        assert status == 0, f"rlock latch wait exits with {status}"
        latencies.append(milliseconds(at - left))
    return latencies


def latch_wakes_rlock(case):
    """rlock sets a latch and counts it down; Java waits for it."""
    latencies = []
    for _ in range(case.times):
        case.verb("set", 2)
        waiter = case.java_waits("await")
        case.java("t1", "down").value()
        left = time.monotonic_ns()
        case.verb("down")
        waiter.value()
        latencies.append(milliseconds(waiter.at - left))
    return latencies


# These cells need setPermits or getLeaseTime, which Redisson 3.17.7 does not have.
NOT_CLASSIC = (permit_resized_java, permit_lease_rlock)

# These cells need no verb but `rlock run`.
WITHOUT_VERBS = (permit_excludes_rlock, permit_wakes_java, permit_wakes_rlock, permit_dies_java, permit_dies_rlock)
