"""Controls: set-ups of rlock in which two holders have one key at once. If the checker does not catch them, it proves nothing."""

import contextlib
import os
import signal
import time

import history
from crowd import RLOCK, Run, Shape
from servers import Silent, at_once, until

WITHOUT_MARGIN = os.path.join(os.path.dirname(RLOCK), "rlock_without_margin")
EACH = 5  # seconds until the next try: on a busy machine a holder may be gone before the contender writes its first line


def guardian_off(chaos, deployment, key):
    """rlock and its guardian are killed at the same time. As rlock-safety(7) says, the kernel then kills only the command's first
    process, and its child goes on."""
    run = Run(chaos, deployment, f"orphaned.{key}", Shape(keys=(key,), tree=True))
    until_inside(chaos, run, guarded=True)
    run.signal("rlock", signal.SIGSTOP)  # so that it starts no other guardian
    run.signal("guardian", signal.SIGKILL)
    run.signal("rlock", signal.SIGKILL)


def loss_ignored(chaos, deployment, key):
    """The server forgets the lock, and rlock does not stop the command. The checker excuses that for one lease only."""
    run = Run(chaos, deployment, f"deaf.{key}", Shape(keys=(key,), more=("--on-lost", "warn")))
    until_inside(chaos, run)
    at_once(deployment.flush(deployment.servers[0], 0))


def no_lock(chaos, deployment, key):
    run = Run(chaos, deployment, f"rude.{key}", Shape(keys=(key,), locked=False))
    until_inside(chaos, run)


def clock_ahead(chaos, deployment, key, rlock, seconds):
    """rlock is stopped, the command ignores the stop signal, and the server's clock jumps ahead by less than the margin. The guardian
    must kill the command before the server gives the lock to another client."""
    deployment.servers[0].set_clock(0)
    run = Run(chaos, deployment, f"deaf.{key}", Shape(keys=(key,), deaf=True, rlock=rlock))
    until_inside(chaos, run, guarded=True)
    run.signal("rlock", signal.SIGSTOP)
    deployment.servers[0].set_clock(seconds)


def margin_zero(chaos, deployment, key):
    clock_ahead(chaos, deployment, key, WITHOUT_MARGIN, 0.2)


def contender(chaos, deployment, key):
    return Run(chaos, deployment, f"contender.{key}", Shape(keys=(key,), wait=("-w", "30s")))


def quickest(chaos, deployment, key):
    """A contender that records `enter` as soon as the key is free on the server, without a process of its own: the margin is less than
    0.2 s, and a busy machine may need longer to start a process."""
    name, give_up = f"quickest.{key}", time.monotonic() + 10
    while is_held(deployment.servers[0], key) and time.monotonic() < give_up:
        time.sleep(0.001)
    chaos.note("start", run=name, deployment=deployment.name, type="lock", lease=deployment.lease)
    chaos.note("enter", run=name, key=key, mode="x", fence=None, alone=True)
    time.sleep(0.5)  # the guardian kills the other command meanwhile
    chaos.note("inside", run=name, key=key)


def is_held(server, key):
    with contextlib.suppress(Silent):
        return server.ask("EXISTS", key) == 1
    return True


CONTROLS = {  # name: (the defect, the next holder)
    "no lock": (no_lock, contender),
    "guardian off, rlock killed": (guardian_off, contender),
    "loss ignored": (loss_ignored, contender),
    "margin zero": (margin_zero, quickest),
}


def inside(chaos, run):
    return any(event["e"] == "inside" and event["run"] == run.name for event in history.read(chaos.path))


def until_inside(chaos, run, guarded=False):
    """Waits until the command of the run has begun; with `guarded`, also until the run has a guardian."""
    at_once(
        until(
            lambda: inside(chaos, run) and (not guarded or run.guardian()),
            f"the command of {run.name} runs",
        )
    )


def overlaps(chaos, excuses=("lapse", "starved")):
    events = [event for event in history.read(chaos.path) if event["e"] not in {"lapse", "starved"} - set(excuses)]
    verdict = history.Verdict()
    history.exclusion(history.History(events), verdict)
    return verdict.violations


def caught_after(chaos, deployment, control, patience=60):
    """Returns the seconds until the checker caught two holders, and its text; None: it caught none. A pause of the machine is no
    excuse here, because under load there is always one."""
    deployment.lease = 1500
    mischief, comes_next = control
    begun, tries = time.monotonic(), 0
    while time.monotonic() < begun + patience:
        tries += 1
        mischief(chaos, deployment, f"lock{tries}")
        comes_next(chaos, deployment, f"lock{tries}")
        next_try = time.monotonic() + EACH
        while time.monotonic() < next_try:
            if violations := overlaps(chaos, excuses=("lapse",)):
                return time.monotonic() - begun, violations[0]
            time.sleep(0.05)
    return None


def margin_kept(chaos, deployment):
    """Does to the real rlock what `margin zero` does. Returns the seconds until the contender was inside, and the overlaps."""
    deployment.lease = 1500
    clock_ahead(chaos, deployment, "lock", RLOCK, 0.1)
    begun = time.monotonic()
    run = contender(chaos, deployment, "lock")
    until_inside(chaos, run)
    taken = time.monotonic() - begun
    time.sleep(0.5)  # a command that still lives would write more events
    return taken, overlaps(chaos)
