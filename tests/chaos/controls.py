"""rlock set up so that two hold one key at once, which the checker must catch, or it proves nothing."""

import signal
import time

import history
from crowd import Run, Shape
from servers import at_once, until


def guardian_off(chaos, deployment):
    """The guardian is stopped, rlock is killed: a process of the command whom the kernel does not kill goes on."""
    run = Run(chaos, deployment, "orphaned", Shape(tree=True))
    at_once(until(lambda: inside(chaos, run) and run.guardian()))
    run.signal("guardian", signal.SIGSTOP)
    run.signal("rlock", signal.SIGKILL)


def loss_ignored(chaos, deployment):
    """The server forgets the lock, and the command is not stopped: that is excused for one lease and no longer."""
    run = Run(chaos, deployment, "deaf", Shape(more=("--on-lost", "warn")))
    at_once(until(lambda: inside(chaos, run)))
    at_once(deployment.flush(deployment.servers[0], 0))


def no_lock(chaos, deployment):
    run = Run(chaos, deployment, "rude", Shape(locked=False))
    at_once(until(lambda: inside(chaos, run)))


CONTROLS = {"no lock": no_lock, "guardian off, rlock killed": guardian_off, "loss ignored": loss_ignored}


def inside(chaos, run):
    return any(event["e"] == "inside" and event["run"] == run.name for event in history.read(chaos.path))


def caught_after(chaos, deployment, control, patience=30):
    """Seconds from the control's mischief until two are caught inside, and what the checker says; nothing: never."""
    deployment.lease = 1500
    control(chaos, deployment)
    begun = time.monotonic()
    Run(chaos, deployment, "contender", Shape(wait=("-w", f"{patience}s")))
    while time.monotonic() < begun + patience:
        verdict = history.Verdict()
        history.exclusion(history.History(history.read(chaos.path)), verdict)
        if verdict.violations:
            return time.monotonic() - begun, verdict.violations[0]
        time.sleep(0.05)
    return None
