"""Runs a job elsewhere: asks the service that its type is mapped to, says when the run is too late, stops it if need be.

The service's callbacks reach the console, which records the end through the door. No thread waits for that: once the
service took the run, the worker's follower watches over it with all others (`jobs.workers.follower`).
"""

import json
import secrets
import time
from dataclasses import dataclass
from typing import Any

import httpx2
from django.db import DatabaseError, InterfaceError, close_old_connections

from jobs.conf import conf
from jobs.domain.errors import JobCancelled, RunLost, RunTooLong, ServiceRemoved, StopRun, WorkerStopping
from jobs.domain.remote import REQUEST, Message, headers
from jobs.domain.text import clean_text
from jobs.handlers.context import JobContext
from jobs.handlers.web.errors import AddressNotAllowed
from jobs.handlers.web.guard import Guard
from jobs.handlers.web.named_hosts import NamedHostsGuard
from jobs.handlers.web.transport import guarded_client
from jobs.queue import remote
from jobs.queue.remote import Begun, RemoteStatus, RemoteTerms

USER_AGENT = "Detiq-Admin/0.1"
ACCEPTED = frozenset({200, 201, 202, 204})
# A service that does not know the run, or knows that it is over, has nothing left to stop.
STOPPED = frozenset({200, 204, 404, 410})
CANCEL_ANSWER_SECONDS = 2.0
# How long a service may take to say that it has stopped; then the run is ended without its word, and fenced off.
STOP_SECONDS = 8.0
STOP_SECONDS_OF_A_WORKER = 2.0
MOST_ANSWER_BYTES = 4_096


class RemoteRefused(Exception):
    """The service answered the request with something else than that it took the run."""

    def __init__(self, job_type: str, status: int, said: str, retry_after: str | None) -> None:
        super().__init__(f"the service for {job_type} answered HTTP {status}: {said}")
        self.status = status
        self.retry_after = retry_after


class RemoteMisconfigured(Exception):
    """The mapping, or its secret, cannot work; every job of the type fails until somebody changes it."""

    def __init__(self, job_type: str, why: str) -> None:
        super().__init__(f"invalid configuration: remote type {job_type}: {why}")


class RemoteUnreached(Exception):
    """No connection to the service, or no answer in time. A service is an operator's: one that is down is our own fault,
    and its words say so to whoever judges."""

    def __init__(self, job_type: str, why: str) -> None:
        down = "connection refused: " if "takes no connections" in why else ""
        super().__init__(f"{down}the service for {job_type} does not answer: {why}")


class RemoteSilent(Exception):
    """The service took the run and was not heard of for too long."""

    def __init__(self, job_type: str, seconds: float) -> None:
        super().__init__(f"worker lost: the service for {job_type} has said nothing for {seconds:.0f} s")


def executors_guard() -> Guard:
    """Where executors may be: public addresses over https, and the hosts of `REMOTE_ALLOWED_HOSTS`."""
    return NamedHostsGuard(conf().remote_allowed_hosts)


@dataclass
class Elsewhere:
    """A run that a service has taken: what its handler returns instead of a result."""

    job: JobContext
    terms: RemoteTerms
    begun: Begun
    call: "_Call"

    def check(self, status: RemoteStatus) -> float:
        """In how many seconds it could be too late, at the earliest. Raises `RunTooLong`, `RemoteSilent`."""
        longest, silence = self.terms.longest_run_seconds, self.terms.silence_seconds
        if status.remaining <= 0:
            raise RunTooLong(f"ran longer than the {longest} s that {self.job.type} may run elsewhere")
        if status.silent >= silence:
            raise RemoteSilent(self.job.type, status.silent)
        return min(silence - status.silent, status.remaining) + 0.05

    def stop(self, reason: BaseException) -> None:
        """Asks the service to stop, and waits a while for its word where that makes a difference."""
        words: dict[type[BaseException], str] = {
            RunLost: "lost",
            JobCancelled: "cancelled",
            WorkerStopping: "worker stops",
            RunTooLong: "too long",
            ServiceRemoved: "no longer mapped",
            RemoteSilent: "silent",
        }
        patience = STOP_SECONDS if isinstance(reason, JobCancelled) else 0.0
        patience = STOP_SECONDS_OF_A_WORKER if isinstance(reason, WorkerStopping) else patience
        if not self.call.stop(words.get(type(reason), "failed")) and patience:
            self.job.wait_lost(patience)


def run(job: JobContext) -> Elsewhere:
    """Asks the service, and returns once it took the run; whose end a callback records.

    Raises `StopRun`, `RemoteRefused`, `RemoteMisconfigured`, `RemoteUnreached`.
    """
    terms = remote.terms(job.type)
    if terms is None or job.run is None:
        raise RemoteUnreached(job.type, "its mapping was removed just now")
    if not conf().public_url:
        raise RemoteMisconfigured(job.type, "DETIQ_PUBLIC_URL is not set, so the service could not call back")
    begun = remote.begin(job.run, job.type, terms.longest_run_seconds)
    elsewhere = Elsewhere(job, terms, begun, _Call(job, terms, begun))
    try:
        elsewhere.call.start()
    except (RemoteRefused, RemoteMisconfigured):
        raise  # it was not begun there
    except (StopRun, Exception) as error:
        if not (isinstance(error, RunLost) and _ended(begun)):
            elsewhere.stop(error)
        raise
    _heard(begun)
    return elsewhere


def _heard(begun: Begun) -> None:
    """It answered: from now on its silence counts. If that cannot be written, it counts from the beginning."""
    try:
        remote.heard(begun.id)
    except (DatabaseError, InterfaceError):
        close_old_connections()


def _ended(begun: Begun) -> bool:
    """Has a callback ended it already? A database that is away says nothing."""
    try:
        status = remote.statuses([begun.id]).get(begun.id)
    except (DatabaseError, InterfaceError):
        close_old_connections()
        return False
    return status is not None and status.ended


class _Call:
    """What is said to the service about one run."""

    def __init__(self, job: JobContext, terms: RemoteTerms, begun: Begun) -> None:
        self._job = job
        self._terms = terms
        self._begun = begun
        self._since = time.monotonic()

    def start(self) -> None:
        """Returns once the service took the run."""
        job, terms = self._job, self._terms
        body = {
            "run": self._begun.id,
            "job": job.id,
            "type": job.type,
            "tenantId": job.tenant_id,
            "projectId": job.project_id,
            "attempt": job.retry_count + 1,
            "config": job.config,
            "checkpoint": job.checkpoint,
            "callbackUrl": f"{conf().public_url}/remote/{self._begun.id}/",
            "deadline": self._begun.deadline_at.isoformat(),
            "silenceSeconds": terms.silence_seconds,
        }
        try:
            status, said, wait = self._post("start", body, terms.first_answer_seconds, self._job.raise_if_cancelled)
        except AddressNotAllowed as error:
            raise RemoteMisconfigured(job.type, f"host {error.host} is not allowed: {error.why}") from None
        except httpx2.InvalidURL as error:
            raise RemoteMisconfigured(job.type, f"its URL cannot be read: {error}") from None
        except httpx2.HTTPError as error:
            raise RemoteUnreached(job.type, str(error) or type(error).__name__) from None
        if status in ACCEPTED:
            return
        if 300 <= status < 400:
            raise RemoteMisconfigured(job.type, f"the service answered HTTP {status}; redirects are not followed")
        if status in (401, 403):
            raise RemoteMisconfigured(job.type, f"the service refused our signature (HTTP {status}): {said}")
        raise RemoteRefused(job.type, status, said, wait)

    def stop(self, why: str) -> bool:
        """Asks the service to stop, once; true when it says that nothing runs any more. Its absence changes nothing: it
        learns from its next callback that the run is over."""
        body = {"run": self._begun.id, "job": self._job.id, "type": self._job.type, "reason": why}
        try:
            status, _, _ = self._post("cancel", body, CANCEL_ANSWER_SECONDS, lambda: None)
        except (httpx2.HTTPError, httpx2.InvalidURL, AddressNotAllowed) as error:
            self._job.log.warning("The service could not be asked to stop: %s", error)
            return False
        return status in STOPPED

    def _post(self, event: str, body: dict[str, Any], seconds: float, check: Any) -> tuple[int, str, str | None]:
        """Status, the beginning of the answer, and the wait that it names."""
        content = json.dumps(body, separators=(",", ":")).encode()
        now = int(self._begun.now + time.monotonic() - self._since)
        message = Message(REQUEST, event, self._begun.id, now, secrets.token_urlsafe(18), content)
        with (
            guarded_client(executors_guard(), user_agent=USER_AGENT, total_seconds=seconds, check=check) as client,
            client.stream(
                "POST", self._terms.url, content=content, headers=headers(message, self._terms.secrets)
            ) as response,
        ):
            return response.status_code, _beginning(response), response.headers.get("retry-after")


def _beginning(response: httpx2.Response) -> str:
    """The first words of an answer, for people."""
    kept = bytearray()
    for piece in response.iter_raw():
        kept += piece
        if len(kept) >= MOST_ANSWER_BYTES:
            break
    text = clean_text(bytes(kept).decode("utf-8", "replace"), 500)
    return " ".join(text.split()) or "no words with it"
