"""The handler that does nothing, for JOB_HANDLER_MODULES of the bench's workers."""

from jobs.bench.notes import taker
from jobs.handlers import JobContext, handler

NOOP = "BENCH_NOOP"


@handler(NOOP)
def noop(job: JobContext) -> None:
    """Notes when it started, and is done."""
    taker.note(job.config["n"])
