"""The cells of several locks at once: RedissonMultiLock on one server, RedissonRedLock over three. See locks.py."""

import threading
import time

from locks import BUSY, Kind
from world import Rlock, all_at_once, eventually, milliseconds, rlock_once

MULTI, RED = Kind("multi", ""), Kind("red", "")


class Together:
    """Three keys on one server, or one key on three servers. Java names them in the opposite order."""

    serial = 0

    def __init__(self, world, kind, times):
        Together.serial += 1
        self.world, self.kind, self.times = world, kind, times
        self.key = f"{kind.name}-{Together.serial}"
        self.servers = [world.redis]
        if kind is RED:
            self.servers = world.three_servers()
            self.members = ",".join(f"{client}:{self.key}" for client in ("R3", "R2", "R1"))
            self.options = [word for server in self.servers for word in ("-u", server.rlock_url)]
            self.first = self.key
        else:
            stem = f"{{{self.key}}}" if world.through == "cluster" else self.key  # all in one slot
            keys = [f"{stem}-{letter}" for letter in "abc"]
            self.members = ",".join(reversed(keys))
            self.options = [word for key in keys[1:] for word in ("-k", key)]
            self.first = keys[0]

    def java(self, verb, *words, thread="t"):
        return self.world.java.tell("A", f"{self.key}-{thread}", self.kind.name, verb, self.members, *words)

    def java_waits(self):
        answer = self.java("lock")
        parked = ("A", "main", "parked", f"{self.key}-t")
        assert eventually(lambda: self.world.java.ask(*parked) == "true"), "Java does not wait"
        return answer

    def rlock(self, *options):
        return Rlock(self.servers[0], *self.options, *options, key=self.first)

    def rlock_gets(self):
        status, _ = rlock_once(self.world.redis, "run", "-nq", "-k", self.first, *self.options, "--", "true")
        assert status in (0, BUSY), f"rlock run -n exits with {status}"
        return status == 0

    def holds(self):
        return [server.ask("EXISTS", key) for server in self.servers
                for key in ([self.key] if self.kind is RED else self.members.split(","))]


def excludes_java(case):
    case.java("lock").value()
    assert not case.rlock_gets(), "rlock got in while Java held all"
    case.java("unlock").value()
    assert case.rlock_gets(), "rlock did not get in after Java"


def excludes_rlock(case):
    holder = case.rlock()
    holder.enter()
    if case.kind is RED:  # the command starts with a majority; the last server may be slow
        eventually(lambda: case.holds() == [1, 1, 1])
    held = case.holds()
    assert held == [1, 1, 1], f"rlock does not hold all: {held}"
    assert case.java("try").value() == "false", "Java got in while rlock held all"
    holder.leave()
    assert holder.status() == 0, holder.complaint()
    assert eventually(lambda: case.holds() == [0, 0, 0]), f"left behind: {case.holds()}"
    assert case.java("try").value() == "true", "Java did not get in after rlock"
    case.java("unlock").value()


def wakes_java(case):
    latencies = []
    for _ in range(case.times):
        case.java("lock").value()
        waiter = case.rlock().wait()
        left = time.monotonic_ns()
        case.java("unlock").value()
        latencies.append(milliseconds(waiter.enter() - left))
        waiter.leave()
        assert waiter.status() == 0, waiter.complaint()
    return latencies


def wakes_rlock(case):
    latencies = []
    for _ in range(case.times):
        holder = case.rlock()
        holder.enter()
        waiter = case.java_waits()
        left = holder.leave()
        waiter.value(20)
        latencies.append(milliseconds(waiter.at - left))
        assert holder.status() == 0, holder.complaint()
        case.java("unlock").value()
    return latencies


def crosses(case):
    """Two Java threads and three rlocks acquire the same locks again and again, in opposite orders. Each gets them, one at a time."""
    inside = threading.Lock()

    def be_inside():
        assert inside.acquire(blocking=False), "two were inside"
        time.sleep(0.005)
        inside.release()

    def java(thread):
        for _ in range(3):
            case.java("lock", thread=thread).value(60)
            be_inside()
            case.java("unlock", thread=thread).value()

    def rlock(_):
        for _ in range(3):
            holder = case.rlock()
            holder.enter(60)
            be_inside()
            holder.leave()
            assert holder.status() == 0, holder.complaint()

    all_at_once([(java, 2), (rlock, 3)], 90)
    assert eventually(lambda: case.holds() == [0, 0, 0]), f"left behind: {case.holds()}"
