"""Jobs that behave as jobs do, well and badly, for JOB_HANDLER_MODULES of a soak's workers."""

import os
import random
import signal
import time
from typing import Any

from jobs.handlers import JobContext, handler

STEADY, FLAKY, STUBBORN, POISON, KILLER = "SOAK_STEADY", "SOAK_FLAKY", "SOAK_STUBBORN", "SOAK_POISON", "SOAK_KILLER"
TYPES = (STEADY, FLAKY, STUBBORN, POISON, KILLER)

_dice = random.Random()  # noqa: S311 - decides how a job behaves, guards nothing


@handler(STEADY)
def steady(job: JobContext) -> dict[str, int]:
    """A few steps with progress and checkpoints; goes on from where its last run was."""
    step = int((job.checkpoint or {}).get("step", 0))
    while step < 5:
        job.raise_if_cancelled()
        time.sleep(_dice.uniform(0, 0.05))
        step += 1
        job.progress(step * 20, f"step {step}")
        if step % 2 == 0:
            job.save_checkpoint({"step": step})
    return {"steps": step}


@handler(FLAKY)
def flaky(job: JobContext) -> None:
    """Fails one time in three for a reason that passes."""
    if _dice.random() < 1 / 3:
        raise ConnectionResetError("Connection reset by peer")


@handler(STUBBORN)
def stubborn(job: JobContext) -> None:
    """Listens to nobody for a while."""
    time.sleep(_dice.uniform(0.5, 3))


@handler(POISON)
def poison(job: JobContext) -> Any:
    """A result that PostgreSQL does not take as it is."""
    return _dice.choice(["\x00", "\ud800", float("nan"), {"\x00": [float("inf")]}])


@handler(KILLER)
def killer(job: JobContext) -> None:
    """Takes its process with it, each time."""
    os.kill(os.getpid(), signal.SIGKILL)
