"""Judges the events that holders, runs and faults have recorded. It knows neither rlock nor Redis, and starts no process.

A history is a list of events, {"t": nanoseconds of CLOCK_BOOTTIME, "e": the name of the event, ...}:

    enter, inside, leave   events of a holder: run, key. enter also has mode (x, s, slot, in), fence and alone (did it get the
                           kernel lock?). leave also has the exit status of the holder
    start, end             events of a run: run, deployment, type, lease (ms), parent, strict, script (it acquires its lock by
                           `lock acquire`), once (--once-per in ms; 0: without). end also has status (in the form of Python: -9
                           means killed by signal 9) and record, the text of --status-file; a script has none
    hurt                   a signal that the test sent: run, who (rlock, guardian, command; script, keeper), signal
    lapse                  from, to, deployment, why: in this time the server lost writes that it had acknowledged, or its clock
                           jumped ahead
    starved                from, to: in this time the machine ran none of these processes
    fault                  kind: only counted

The rules:

    exclusion   Two stays with one key do not overlap, unless both may share it. An overlap is excused (and counted as excused)
                if the second stay begins after a lapse, and the overlap ends within the lease of the first. The first
                holder cannot learn of the lapse sooner. A `strict` run has required that replicas have its lock
                (--sync-replicas), so no failover excuses an overlap of two strict runs.
    order       A later hold has a larger fence, unless a lapse lies between the two.
    once        After a success of a run with --once-per, the next success comes when that time is over, unless a lapse lies
                between the two.
    truth       Exit status, status record and events agree.
    end         Every run ends, and no process of its command is left then, unless rlock itself was killed.
"""

import collections
import itertools
import json
import signal
from dataclasses import dataclass, field

MARGIN = 280_000_000  # nanoseconds between the end of a command that is stopped in time and the end of its lease


@dataclass
class Stay:
    run: str
    key: str
    mode: str
    enter: int
    fence: int | None
    alone: bool
    last: int
    status: int | None = None


@dataclass
class Run:
    name: str
    deployment: str = ""
    type: str = "lock"
    lease: int = 0
    parent: str | None = None
    strict: bool = False
    script: bool = False
    once: int = 0
    start: int = 0
    end: int | None = None
    status: int | None = None
    record: dict | None = None
    hurt: set = field(default_factory=set)

    def killed(self):
        return ("rlock", 9) in self.hurt


@dataclass
class Verdict:
    runs: int = 0
    holds: int = 0
    violations: list = field(default_factory=list)
    excused: list = field(default_factory=list)
    outcomes: collections.Counter = field(default_factory=collections.Counter)
    faults: collections.Counter = field(default_factory=collections.Counter)


def read(path):
    """The events of a file. Skips lines that are incomplete, because the writer was killed or the disk was full."""
    events = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            try:
                events.append(json.loads(line))
            except json.JSONDecodeError:
                continue
    return events


class History:
    def __init__(self, events):
        self.runs, self.stays, self.lapses, self.starved = {}, [], [], []
        self.faults = collections.Counter()
        here = {}
        for event in sorted(events, key=lambda event: event["t"]):
            kind = event["e"]
            if kind == "enter":
                stay = Stay(
                    event["run"],
                    event["key"],
                    event["mode"],
                    event["t"],
                    event["fence"],
                    event["alone"],
                    event["t"],
                )
                here[stay.run, stay.key] = stay
                self.stays.append(stay)
            elif kind in ("inside", "leave"):
                stay = here[event["run"], event["key"]]
                stay.last, stay.status = event["t"], event.get("status")
            elif kind == "start":
                self.runs[event["run"]] = Run(
                    event["run"],
                    event["deployment"],
                    event["type"],
                    event["lease"] * 1_000_000,
                    event.get("parent"),
                    event.get("strict", False),
                    event.get("script", False),
                    event.get("once", 0) * 1_000_000,
                    event["t"],
                )
            elif kind == "end":
                run = self.runs[event["run"]]
                run.end, run.status, run.record = event["t"], event["status"], event["record"]
            elif kind == "hurt":
                self.runs[event["run"]].hurt.add((event["who"], event["signal"]))
                self.faults[f"{event['who']}: signal {event['signal']}"] += 1
            elif kind == "lapse":
                self.lapses.append(event)
            elif kind == "starved":
                self.starved.append(event)
            elif kind == "fault":
                self.faults[event["kind"]] += 1

    def related(self, one, other):
        """Is one of the runs nested in the other, at any depth?"""

        def ancestors(name):
            while name:
                yield name
                name = self.runs[name].parent if name in self.runs else None

        return one in ancestors(other) or other in ancestors(one)

    def lease_of(self, name):
        """The longest lease of this run and the runs around it."""
        run = self.runs[name]
        return max(run.lease, self.lease_of(run.parent) if run.parent else 0)

    @staticmethod
    def concerns(lapse, one, other):
        return lapse["deployment"] == one.deployment and not (
            one.strict and other.strict and lapse.get("replicated")
        )

    def lapse_between(self, first, second):
        one, other = self.runs[first.run], self.runs[second.run]
        return any(
            self.concerns(lapse, one, other) and one.start <= lapse["to"] and lapse["from"] <= second.enter
            for lapse in self.lapses
        )

    def excuse(self, first, second):
        """Why these two stays may overlap; None: there is no excuse."""
        end = min(first.last, second.last)
        one, other = self.runs[first.run], self.runs[second.run]
        for lapse in self.lapses:
            if not self.concerns(lapse, one, other):
                continue
            # The lapse may come before `enter`, because a run gets its lock a little before its command starts.
            if (
                one.start <= lapse["to"]
                and lapse["from"] <= second.enter
                and end <= lapse["to"] + self.lease_of(first.run)
            ):
                return lapse["why"]
        for starved in self.starved:
            if starved["from"] <= end and second.enter <= starved["to"] + MARGIN:
                return "starved"
        return None


def where(stay):
    return f"{stay.run} on {stay.key} ({stay.enter / 1e9:.3f} to {stay.last / 1e9:.3f})"


def exclusion(history, verdict):
    by_key = collections.defaultdict(list)
    for stay in history.stays:
        by_key[history.runs[stay.run].deployment, stay.key].append(stay)
    for stays in by_key.values():
        inside = []
        for second in stays:
            refused = not second.alone
            for first in inside:
                overlap = min(first.last, second.last) - second.enter
                if (
                    overlap < 0
                    or {first.mode, second.mode} == {"s"}
                    or history.related(first.run, second.run)
                ):
                    continue
                refused = False
                told = f"overlap of {overlap / 1e6:.1f} ms: {where(first)} and {where(second)}"
                why = history.excuse(first, second)
                (verdict.excused if why else verdict.violations).append(f"{told}: {why}" if why else told)
            if refused:
                # The kernel lock belongs to a holder that writes no more, because it is stopped or about to die.
                quiet = [
                    first
                    for first in stays
                    if first.enter < second.enter
                    and first.last < second.enter
                    and first.status is None
                    and not history.related(first.run, second.run)
                ]
                reasons = [history.excuse(first, second) for first in quiet[-4:]]
                told = f"the kernel says that {where(second)} is not alone"
                why = next((reason for reason in reasons if reason), None)
                (verdict.excused if why else verdict.violations).append(f"{told}: {why}" if why else told)
            inside = [first for first in inside if first.last >= second.enter] + [second]


def order(history, verdict):
    by_key = collections.defaultdict(list)
    for stay in history.stays:
        if stay.fence is not None and history.runs[stay.run].type == "fenced" and stay.mode != "in":
            by_key[history.runs[stay.run].deployment, stay.key].append(stay)
    for stays in by_key.values():
        for first, second in itertools.pairwise(stays):
            if second.fence > first.fence or history.lapse_between(first, second):
                continue
            verdict.violations.append(
                f"fence {second.fence} of {where(second)} after {first.fence} of {where(first)}"
            )


def once(history, verdict):
    by_key = collections.defaultdict(list)
    for stay in history.stays:
        run = history.runs[stay.run]
        told = run.record and run.record["outcome"] == "ran" and run.record["released"] == "yes"
        if run.once and stay.status == 0 and told and run.record["exit"] == 0:
            by_key[run.deployment, stay.key].append(stay)
    for stays in by_key.values():
        for first, second in itertools.pairwise(stays):
            if second.enter < first.last + history.runs[second.run].once and not history.lapse_between(first, second):
                verdict.violations.append(f"{where(second)} ran again too soon after {where(first)}")


def truth(history, verdict):
    stays = collections.defaultdict(list)
    for stay in history.stays:
        stays[stay.run].append(stay)
    for run in history.runs.values():
        if run.end is None:
            if run.parent is None:
                verdict.violations.append(f"{run.name} does not end")
            continue
        if run.script:
            verdict.outcomes[f"script: {run.status}"] += 1
            for what in untrue_of_script(run, stays[run.name]):
                verdict.violations.append(f"{run.name} {what}: status {run.status}")
            continue
        if run.killed():
            verdict.outcomes["killed"] += 1
            continue
        if run.record is None and not stays[run.name] and ("rlock", -run.status) in run.hurt:
            verdict.outcomes["ended by a signal before it began"] += 1
            continue
        if run.record is None:
            verdict.violations.append(f"{run.name} ended with {run.status} and no record")
            continue
        verdict.outcomes[run.record["outcome"]] += 1
        for what in untrue(run, stays[run.name]):
            verdict.violations.append(f"{run.name} {what}: status {run.status}, {json.dumps(run.record)}")


def untrue_of_script(run, stays):
    """The untrue claims of a script's exit status."""
    left = [stay.status for stay in stays if stay.status is not None]
    if run.status in (69, 75) and stays:
        yield "says that it got no lock, and was inside"
    if run.status == 0 and left != [0] * len(stays):
        yield "says that all went well, which is not so"


def untrue(run, stays):
    """The untrue claims of a run's exit status and record."""
    record, outcome = run.record, run.record["outcome"]
    left = [stay.status for stay in stays if stay.status is not None]
    if run.status >= 0 and run.status != record["exit"]:
        yield "ends otherwise than its record says"
    if run.status < 0 and record["exit"] != 128 - run.status:
        yield "was killed by a signal that its record does not name"
    if any(stay.last > run.end for stay in stays):
        yield "has ended, and its command goes on"
    if outcome == "lost" and run.status != 125:
        yield "lost its lock and ends as if not"
    if outcome != "lost" and run.status == 125 and record["command_exit"] != 125:  # the command itself may exit with 125
        yield "says 125 and has lost nothing"
    if outcome in ("busy", "unreachable", "not-started", "deadlock", "interrupted") and stays:
        yield f"says {outcome}, and its command was inside"
    if outcome == "ran" and record["command_exit"] is not None and record["command_signal"] is None:
        hit = any(who == "command" for who, _ in run.hurt)
        # Python that gets ^C while it starts exits with 1.
        interrupted = record["command_exit"] == 1 and ("rlock", signal.SIGINT) in run.hurt
        if not stays:
            if not interrupted:
                yield "says that its command ran, who never was inside"
        elif not left and not hit:
            yield "says that its command ended by itself, which it did not"
        elif left and left[0] != record["command_exit"] and not hit:
            yield f"says that its command ended otherwise than with {left[0]}"
    if left and left[0] == 0 and outcome in ("busy", "unreachable"):
        yield "says that nothing was done, which is not so"
    if run.type == "fenced" and stays and record["fence"] != stays[0].fence:
        yield f"names another fence than {stays[0].fence}"


def judge(events):
    history = History(events)
    verdict = Verdict(len(history.runs), len(history.stays), faults=history.faults)
    exclusion(history, verdict)
    order(history, verdict)
    once(history, verdict)
    truth(history, verdict)
    return verdict
