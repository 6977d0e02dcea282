"""What a remote executor tells of a run, checked and taken.

Nothing is believed that is not signed with the secret of the run's type, lately, for this run and this event, once. What
is believed goes the way of a worker's own reports: fenced by the run, and its end through the door.
"""

import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from django.db import transaction

from jobs.conf import conf
from jobs.domain import actors
from jobs.domain.errors import InvalidInput, JobsError, RunLost
from jobs.domain.fingerprint import fingerprint
from jobs.domain.judging import LONGEST_ERROR, classified, outcome_of
from jobs.domain.outcomes import Cancelled, Completed, DeadLettered, Ended, Failure, Outcome, RetryLater
from jobs.domain.remote import (
    CALLBACK,
    MOST_BODY_BYTES,
    WINDOW_SECONDS,
    Message,
    RemoteError,
    is_nonce,
    read_checkpoint,
    read_end,
    read_json,
    read_lines,
    read_progress,
    verified,
)
from jobs.domain.rules import BUILT_IN
from jobs.domain.signs import FailureSign, sign_record
from jobs.domain.values import clean_json, clean_text
from jobs.queue import liveness, remote, rules, transitions
from jobs.queue.liveness import LogLine, Progress
from jobs.queue.remote import FoundRun

log = structlog.get_logger("jobs.remote")

LARGEST_STORED_BYTES = 16 * 1024 * 1024
LONGEST_STEP = 500
LONGEST_LOG_MESSAGE = 4_000
MOST_LOG_LINES_OF_A_RUN = 5_000


class CallbackRefused(JobsError):
    """The callback changed nothing. `status` is HTTP's, `code` a word for programs."""

    def __init__(self, status: int, code: str, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.code = code


@dataclass(frozen=True)
class Callback:
    """One request as it came in. `headers`: by lower-case name."""

    run_id: str
    event: str
    headers: Mapping[str, str]
    body: bytes


def receive(callback: Callback) -> dict[str, Any]:
    """Takes a callback; returns what is answered. Raises `CallbackRefused`; the database's errors undo all of it."""
    _check_size(callback)
    found = _verified(callback)
    digest = hashlib.sha256(callback.event.encode() + b"\n" + callback.body).hexdigest()
    with transaction.atomic():
        remote.lock(found.id)
        found = _found(callback.run_id)  # as it is now that nobody else speaks for this run
        if found.end_digest is not None:
            return _after_the_end(found, callback, digest)
        _check_open(found)
        if not remote.take(found.id, callback.headers["detiq-nonce"]):
            raise CallbackRefused(409, "replayed", "this nonce was used before; every message needs a new one")
        try:
            _TAKERS[callback.event](found, read_json(callback.body), digest)
        except InvalidInput as error:
            raise CallbackRefused(400, "bad_body", str(error)) from None
        except RunLost:
            raise _over(found) from None
    return {"ok": True, "cancel": found.status == "CANCEL_REQUESTED" and callback.event != "end"}


# --- Who speaks, and may they? ----------------------------------------------------------------------------------------


def _check_size(callback: Callback) -> None:
    most = MOST_BODY_BYTES[callback.event]
    if len(callback.body) > most:
        raise CallbackRefused(413, "too_large", f"a body of {callback.event} has at most {most:,} bytes")


def _verified(callback: Callback) -> FoundRun:
    """The run, if the callback is from its service. All that is wrong with a signature has one answer."""
    names = ("detiq-timestamp", "detiq-nonce", "detiq-signature")
    timestamp, nonce, signature = (callback.headers.get(name, "") for name in names)
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12 and is_nonce(nonce) and signature):
        raise CallbackRefused(401, "unsigned", "Detiq-Timestamp, Detiq-Nonce and Detiq-Signature are needed")
    found = _found(callback.run_id)
    message = Message(CALLBACK, callback.event, found.id, int(timestamp), nonce, callback.body)
    if not verified(message, signature, found.secrets):
        log.warning("remote.refused", run=found.id, job=found.run.job_id, remote_event=callback.event, why="signature")
        raise CallbackRefused(401, "bad_signature", "the signature does not fit this run, event, time, nonce and body")
    if abs(found.now.timestamp() - int(timestamp)) > WINDOW_SECONDS:
        raise CallbackRefused(401, "bad_time", f"Detiq-Timestamp is more than {WINDOW_SECONDS} s away from this clock")
    return found


def _found(run_id: str) -> FoundRun:
    found = remote.find(run_id)
    if found is None:
        raise CallbackRefused(404, "unknown_run", "there is no such run")
    return found


def _check_open(found: FoundRun) -> None:
    if not found.ours:
        raise _over(found)
    if found.overdue:
        raise CallbackRefused(410, "overdue", "the run's deadline has passed; stop the work")


def _over(found: FoundRun) -> CallbackRefused:
    log.info("remote.late", run=found.id, job=found.run.job_id, found=found.status)
    now = f"the job is {found.status}" if found.status else "the job is gone"
    return CallbackRefused(410, "run_over", f"this run is over ({now}); stop the work")


def _after_the_end(found: FoundRun, callback: Callback, digest: str) -> dict[str, Any]:
    """The same end once more is answered as the first time: its answer may have been lost."""
    if callback.event != "end":
        raise _over(found)
    if found.end_digest != digest:
        raise CallbackRefused(409, "ended_otherwise", "another end of this run was recorded; it stands")
    return {"ok": True, "cancel": False, "repeated": True}


# --- What they say ----------------------------------------------------------------------------------------------------


def _progress(found: FoundRun, body: dict[str, Any], digest: str) -> None:
    said = read_progress(body)
    if said.percent is None and said.step is None:
        liveness.beat(found.run.worker or "", [found.run])
    else:
        step = found.step or "" if said.step is None else clean_text(said.step, LONGEST_STEP)
        percent = found.progress if said.percent is None else said.percent
        liveness.report_progress(found.run.worker or "", [Progress(found.run, percent, step)])
    remote.heard(found.id)


def _checkpoint(found: FoundRun, body: dict[str, Any], digest: str) -> None:
    text = clean_json(read_checkpoint(body), max_bytes=LARGEST_STORED_BYTES).text
    liveness.save_checkpoint(found.run, text)
    remote.heard(found.id)


def _log(found: FoundRun, body: dict[str, Any], digest: str) -> None:
    """Lines beyond a run's share are dropped, and the last one kept says so."""
    lines = read_lines(body)
    room = MOST_LOG_LINES_OF_A_RUN - found.log_lines
    kept = [(one.level, clean_text(one.message, LONGEST_LOG_MESSAGE)) for one in lines[: max(room, 0)]]
    if 0 <= room < len(lines):
        kept.append(("INFO", "More lines are not kept."))
    if kept:
        liveness.write_logs([LogLine(found.run, found.now, level, text) for level, text in kept])
    liveness.beat(found.run.worker or "", [found.run])
    remote.heard(found.id, len(kept))


def _end(found: FoundRun, body: dict[str, Any], digest: str) -> None:
    said = read_end(body)
    outcome: Outcome
    match said.outcome:
        case "done":
            clean = clean_json(said.result, max_bytes=LARGEST_STORED_BYTES)
            outcome = Completed(None if said.result is None else clean.text, "; ".join(clean.notes))
        case "cancelled":
            if found.status != "CANCEL_REQUESTED":
                raise CallbackRefused(409, "not_cancelled", "nobody asked this run to stop; it ends done or failed")
            outcome = Cancelled()
        case _:
            assert said.error is not None  # noqa: S101 - read_end gives a failed end its error
            outcome = failed(found, said.error)
    answer = transitions.finish(actors.remote(found.type), [Ended(found.run, outcome)])[0]
    if not answer.changed:
        raise RunLost
    remote.ended(found.id, digest)
    log.info("remote.ended", run=found.id, job=found.run.job_id, now=answer.now)


_TAKERS = {"progress": _progress, "checkpoint": _checkpoint, "log": _log, "end": _end}


def failed(found: FoundRun, error: RemoteError) -> RetryLater | DeadLettered:
    """By the failure policy. A type that the service names is taken; else the rules judge, as they do every error."""
    message = clean_text(error.message, LONGEST_ERROR)
    sign = FailureSign(
        message=message,
        exceptions=(clean_text(error.kind),),
        statuses=() if error.status is None else (error.status,),
        codes=() if error.code is None else (clean_text(error.code),),
    )
    judged = classified(sign, (*rules.in_force(), *BUILT_IN))
    failure_type, why, rule = judged.failure_type, judged.why, judged.rule_id
    if error.failure_type is not None:
        failure_type, why, rule = error.failure_type, "so says the service", None
    failure = Failure(
        error=clean_text(f"{error.kind}: {message}", LONGEST_ERROR),
        failure_type=failure_type.value,
        fingerprint=fingerprint(found.type, error.kind, message),
        sign=sign_record(sign, rule),
    )
    rng = random.Random()  # noqa: S311 - jitter, guards nothing
    return outcome_of(
        found.run.job_id, found.retry_count, failure, failure_type, why, conf().retry_jitter, rng, error.retry_after
    )
