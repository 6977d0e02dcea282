"""What the bench's workers do, by JOB_HANDLER_MODULES: nothing, or a little."""

import time

from jobs.bench.notes import taker
from jobs.handlers import JobContext, handler

NOOP, LIVE, REDRIVEN = "BENCH_NOOP", "BENCH_LIVE", "SET"


@handler(NOOP)
def noop(job: JobContext) -> None:
    """Notes when it started, and is done."""
    taker.note(job.config["n"])


@handler(LIVE)
@handler(REDRIVEN)
def a_little(job: JobContext) -> None:
    """Takes a moment, as what waits for an answer does."""
    time.sleep(0.02)
