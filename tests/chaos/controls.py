"""rlock set up so that two hold one key at once, which the checker must catch, or it proves nothing."""

import os
import signal
import time

import history
from crowd import RLOCK, Run, Shape
from servers import at_once, until

WITHOUT_MARGIN = os.path.join(os.path.dirname(RLOCK), "rlock_without_margin")
EACH = 5  # seconds until the next try: on a busy machine a holder may be gone before the contender writes its first line


def guardian_off(chaos, deployment, key):
    """The guardian is stopped, rlock is killed: a process of the command whom the kernel does not kill goes on."""
    run = Run(chaos, deployment, f"orphaned.{key}", Shape(keys=(key,), tree=True))
    until_inside(chaos, run, guarded=True)
    run.signal("guardian", signal.SIGSTOP)
    run.signal("rlock", signal.SIGKILL)


def loss_ignored(chaos, deployment, key):
    """The server forgets the lock, and the command is not stopped: that is excused for one lease and no longer."""
    run = Run(chaos, deployment, f"deaf.{key}", Shape(keys=(key,), more=("--on-lost", "warn")))
    until_inside(chaos, run)
    at_once(deployment.flush(deployment.servers[0], 0))


def no_lock(chaos, deployment, key):
    run = Run(chaos, deployment, f"rude.{key}", Shape(keys=(key,), locked=False))
    until_inside(chaos, run)


def clock_ahead(chaos, deployment, key, rlock, seconds):
    """rlock does not run, and the server's clock jumps ahead by less than the margin: the guardian must kill a command that
    ignores the stop signal before the server gives the lock to somebody else."""
    deployment.servers[0].set_clock(0)
    run = Run(chaos, deployment, f"deaf.{key}", Shape(keys=(key,), deaf=True, rlock=rlock))
    until_inside(chaos, run, guarded=True)
    run.signal("rlock", signal.SIGSTOP)
    deployment.servers[0].set_clock(seconds)


def margin_zero(chaos, deployment, key):
    clock_ahead(chaos, deployment, key, WITHOUT_MARGIN, 0.2)


CONTROLS = {
    "no lock": no_lock,
    "guardian off, rlock killed": guardian_off,
    "loss ignored": loss_ignored,
    "margin zero": margin_zero,
}


def inside(chaos, run):
    return any(event["e"] == "inside" and event["run"] == run.name for event in history.read(chaos.path))


def until_inside(chaos, run, guarded=False):
    """Waits until its command has begun; `guarded`: and until its guardian is there."""
    at_once(
        until(
            lambda: inside(chaos, run) and (not guarded or run.guardian()),
            f"the command of {run.name} runs",
        )
    )


def overlaps(chaos):
    verdict = history.Verdict()
    history.exclusion(history.History(history.read(chaos.path)), verdict)
    return verdict.violations


def contender(chaos, deployment, key):
    return Run(chaos, deployment, f"contender.{key}", Shape(keys=(key,), wait=("-w", "30s")))


def caught_after(chaos, deployment, control, patience=60):
    """Seconds until two were caught inside, and what the checker says; nothing: never."""
    deployment.lease = 1500
    begun, tries = time.monotonic(), 0
    while time.monotonic() < begun + patience:
        tries += 1
        control(chaos, deployment, f"lock{tries}")
        contender(chaos, deployment, f"lock{tries}")
        next_try = time.monotonic() + EACH
        while time.monotonic() < next_try:
            if violations := overlaps(chaos):
                return time.monotonic() - begun, violations[0]
            time.sleep(0.05)
    return None


def margin_kept(chaos, deployment):
    """The mischief of `margin zero` done to the true rlock. Seconds until the contender was inside, and what was wrong."""
    deployment.lease = 1500
    clock_ahead(chaos, deployment, "lock", RLOCK, 0.1)
    begun = time.monotonic()
    run = contender(chaos, deployment, "lock")
    until_inside(chaos, run)
    taken = time.monotonic() - begun
    time.sleep(0.5)  # a command that is still there goes on writing
    return taken, overlaps(chaos)
