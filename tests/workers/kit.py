"""Handlers that do what handlers do wrong, and some that work. Loaded by `JOB_HANDLER_MODULES=tests.workers.kit`."""

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from jobs.handlers import JobContext, handler


@handler("NOOP")
def noop(job: JobContext) -> Any:
    return {"ok": True}


@handler("STEPS", version="1")
def steps(job: JobContext) -> Any:
    """Counts to `n`, a checkpoint a step; every count is written down where the test can see it."""
    n, pause = job.config.get("n", 10), job.config.get("pause", 0.1)
    start = (job.checkpoint or {}).get("done", 0)
    for step in range(start, n):
        job.log.info("step %s", step)
        job.save_checkpoint({"done": step + 1})
        job.progress((step + 1) * 100 // n, f"step {step + 1} of {n}")
        job.sleep(pause)
    return {"from": start, "to": n}


@handler("FAIL")
def fail(job: JobContext) -> Any:
    raise RuntimeError(job.config.get("error", "HTTP 503 from there"))


@handler("STEPS_THEN_FAIL")
def steps_then_fail(job: JobContext) -> Any:
    """Like STEPS, but what it ends in is an error."""
    steps(job)
    raise RuntimeError("HTTP 503 from there")


@handler("BLOCK")
def block(job: JobContext) -> Any:
    """Never looks whether it should stop."""
    time.sleep(job.config.get("seconds", 30))
    return "slept"


@handler("SPIN")
def spin(job: JobContext) -> Any:
    """Pure Python that never yields on purpose."""
    until = time.monotonic() + job.config.get("seconds", 3)
    n = 0
    while time.monotonic() < until:
        n += 1
    return n


@handler("DIE")
def die(job: JobContext) -> Any:
    os._exit(137)


@handler("SYSTEM_EXIT")
def system_exit(job: JobContext) -> Any:
    raise SystemExit(3)


@handler("RESULT")
def result(job: JobContext) -> Any:
    """Results that a database or a page has trouble with."""
    match job.config["kind"]:
        case "nul":
            return {"text": "ab\x00cd"}
        case "nul key":
            return {"k\x00ey": 1}
        case "surrogate":
            return {"text": "\ud800"}
        case "nan":
            return {"n": float("nan"), "i": float("inf")}
        case "literal":
            return {"text": r"\u0000"}
        case "deep":
            value: Any = 1
            for _ in range(100_000):
                value = [value]
            return value
        case "large":
            return "x" * 60_000_000
        case "object":
            return {"o": object()}
        case kind:
            raise ValueError(kind)


@handler("ORM")
def orm(job: JobContext) -> Any:
    from jobs.models import Job

    return Job.objects.count()


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


@handler("UNPRINTABLE")
def unprintable(job: JobContext) -> Any:
    raise Unprintable


@handler("NUL_ERROR")
def nul_error(job: JobContext) -> Any:
    raise ValueError("bad \x00 byte \ud800 " + "x" * 5_000_000)


@handler("HOLD")
def hold(job: JobContext) -> Any:
    """Holds the interpreter: no other thread of this process runs meanwhile."""
    import ctypes

    ctypes.PyDLL(None).usleep(int(job.config.get("seconds", 4) * 1_000_000))
    return "let go"


@handler("HUNGRY")
def hungry(job: JobContext) -> Any:
    """Wants more memory than there is."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (2_000_000_000, resource.RLIM_INFINITY))
    try:
        return len([bytearray(100_000_000) for _ in range(100)])
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


@handler("IDLE_IN_TRANSACTION")
def idle_in_transaction(job: JobContext) -> Any:
    """Opens a transaction, reads, and then waits for somebody else."""
    from django.db import connection, transaction

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        time.sleep(job.config["seconds"])
        cursor.execute("SELECT 2")


@handler("WANDER")
def wander(job: JobContext) -> Any:
    """Leaves its process in a folder that is no more."""
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    Path(folder).rmdir()
    return "gone"


@handler("DAEMON")
def daemon(job: JobContext) -> Any:
    """Reads what it was given to read, and leaves a process behind that holds whatever was open."""
    assert not os.read(0, 1)
    if os.fork() == 0:
        os.setsid()
        time.sleep(20)
        os._exit(0)
    return "left one behind"


@handler("FORK")
def fork(job: JobContext) -> Any:
    """Both processes come back from it, one of them with an error."""
    child = os.fork()
    if child == 0:
        raise RuntimeError("in the child")
    return child


@handler("CLOSE")
def close(job: JobContext) -> Any:
    """Closes what it prints to: its name's stream, or the files themselves."""
    if "streams" in job.config:
        sys.stdout.close()
        sys.stderr.close()
        return None
    os.closerange(0, job.config["files"])
    return None


@handler("PRINT")
def print_(job: JobContext) -> Any:
    """Prints as handlers do."""
    print(job.config["text"])  # noqa: T201 - what handlers do
    return [os.fstat(number).st_ino for number in (0, 1, 2)]
