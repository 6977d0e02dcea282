"""Runs one job in a process of its own, so that whatever it does to its process it does to itself alone.

For jobs that were lost with a worker before. The parent's thread holds the slot and the heartbeat; the child has the
handler. They speak JSON lines: the parent sends the job and, later, why to stop; the child sends what the run ended in.
"""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from dataclasses import asdict, fields
from datetime import datetime
from pathlib import Path
from typing import IO, Any, cast

import structlog

from jobs.domain import errors, outcomes
from jobs.domain.errors import StopRun
from jobs.domain.outcomes import ClaimedJob, Failure, Outcome, Run
from jobs.workers.active import ActiveRun

log = structlog.get_logger("jobs.worker")

# A run that was told to stop and does not listen is ended by force after so long: in a thread that were impossible.
STOP_SECONDS = 10.0
_LOOK_SECONDS = 0.1
# As this process was started: where a handler has gone since, and what it has done to the environment, is its own affair.
_ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
_ROOT = Path(__file__).resolve().parents[2]


class ProcessDied(Exception):
    """The process of this job ended before the job did."""


def run_isolated(active: ActiveRun) -> Outcome | None:
    """What the run ended in; None when it is no longer ours.

    Raises `ProcessDied` when the child ended without a word, and `StopRun` when it had to be ended by force.
    """
    child = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "jobs.workers.isolated_child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=_ROOT,
        env=_ENVIRONMENT,
        start_new_session=True,  # a Ctrl-C meant for the worker is the worker's to pass on
    )
    log.info("run.isolated", job=active.run.job_id, process=child.pid)
    try:
        _tell(child, {"job": job_as_json(active.job)})
        return _follow(child, active)
    finally:
        _end(child)


def _follow(child: "subprocess.Popen[bytes]", active: ActiveRun) -> Outcome | None:
    stdout = cast(IO[bytes], child.stdout)
    told_at: float | None = None
    said = b""
    with selectors.DefaultSelector() as selector:
        selector.register(stdout, selectors.EVENT_READ)
        while True:
            gone = child.poll() is not None
            if selector.select(0 if gone else _LOOK_SECONDS):
                chunk = os.read(stdout.fileno(), 1 << 20)
                if not chunk:
                    return _last_word(child, said)
                said += chunk
                if said.endswith(b"\n"):
                    return _last_word(child, said)
            elif gone:  # what it has left running may hold its end of the pipe for ever
                return _last_word(child, said)
            reason = active.stop.reason
            if reason is not None and told_at is None:
                told_at = time.monotonic()
                _tell(child, {"stop": type(reason).__name__, "text": str(reason)})
            if told_at is not None and time.monotonic() - told_at > STOP_SECONDS:
                log.warning("run.killed", job=active.run.job_id, process=child.pid)
                raise active.stop.reason or StopRun()


def _last_word(child: "subprocess.Popen[bytes]", said: bytes) -> Outcome | None:
    if said.endswith(b"\n"):
        return outcome_from_json(json.loads(said))
    code = child.wait()
    how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
    raise ProcessDied(f"worker lost (its own process ended {how})")


def _tell(child: "subprocess.Popen[bytes]", message: dict[str, Any]) -> None:
    stdin = cast(IO[bytes], child.stdin)
    with contextlib.suppress(BrokenPipeError):  # it is gone already: its output says so
        stdin.write(json.dumps(message).encode() + b"\n")
        stdin.flush()


def _end(child: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)  # with whatever it started
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


# --- The lines --------------------------------------------------------------------------------------------------------


def job_as_json(job: ClaimedJob) -> dict[str, Any]:
    """A claimed job as a line for the child."""
    started = job.run.started
    return asdict(job) | {"run": [job.run.job_id, job.run.worker, started.isoformat() if started else None]}


def job_from_json(line: dict[str, Any]) -> ClaimedJob:
    """A claimed job from the parent's line."""
    job_id, worker, started = line["run"]
    return ClaimedJob(**line | {"run": Run(job_id, worker, datetime.fromisoformat(started) if started else None)})


def outcome_as_json(outcome: Outcome | None) -> dict[str, Any]:
    """An outcome as the child's last line."""
    return {"outcome": None} if outcome is None else {"outcome": type(outcome).__name__, "fields": asdict(outcome)}


def outcome_from_json(line: dict[str, Any]) -> Outcome | None:
    """An outcome from the child's last line."""
    if line["outcome"] is None:
        return None
    kind = getattr(outcomes, line["outcome"])
    values = dict(line["fields"])
    if "failure" in {field.name for field in fields(kind)}:
        values["failure"] = Failure(**values["failure"])
    outcome: Outcome = kind(**values)
    return outcome


def stop_from_json(line: dict[str, Any]) -> StopRun:
    """Why to stop, from the parent's line."""
    kind: type[StopRun] = getattr(errors, line["stop"])
    return kind(line["text"])
