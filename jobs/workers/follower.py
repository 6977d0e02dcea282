"""Follows the runs that services do elsewhere, for the whole process: they hold no thread.

Heartbeats and the look for cancels are the pulse's, as for every run. What is left is here: to see that a run is over,
that it has to stop, or that its service is too late. The pulse calls `look` with every tick.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import structlog

from jobs.domain.errors import RunLost, StopRun
from jobs.domain.outcomes import Outcome
from jobs.handlers.remote import Elsewhere, RemoteSilent
from jobs.queue import remote
from jobs.queue.remote import RemoteStatus
from jobs.workers.active import ActiveRun
from jobs.workers.link import Link

log = structlog.get_logger("jobs.worker")


@dataclass(eq=False)
class _Followed:
    active: ActiveRun
    run: Elsewhere
    holds_thread: bool
    look_at: float = 0.0  # monotonic seconds
    over: threading.Event = field(default_factory=threading.Event)


class Follower:
    """All runs elsewhere of one process."""

    def __init__(
        self,
        most: int,
        judge: Callable[[ActiveRun, BaseException], Outcome | None],
        finish: Callable[[ActiveRun, Outcome | None], None],
        changed: Callable[[Link], None],
    ) -> None:
        """`most` runs are followed without a thread. `judge` says what an error makes of a run, `finish` takes its end;
        `changed` is called when `threadless` has."""
        self._most = most
        self._judge = judge
        self._finish = finish
        self._changed = changed
        self._told = 0
        self._runs: set[_Followed] = set()
        self._ending: set[_Followed] = set()
        self._lock = threading.Lock()

    @property
    def threadless(self) -> int:
        """How many runs of this process hold no thread."""
        with self._lock:
            return sum(not one.holds_thread for one in self._runs | self._ending)

    def follow(self, active: ActiveRun, run: Elsewhere) -> None:
        """From now on the run is watched. Returns at once; beyond `most`, when the run is over."""
        # An hour of a hundred runs, with checkpoints of megabytes that nobody here reads again.
        active.job = replace(active.job, config="{}", checkpoint=None)
        run.job.config, run.job.checkpoint = {}, None
        with self._lock:
            threadless = sum(not one.holds_thread for one in self._runs | self._ending)
            followed = _Followed(active, run, holds_thread=threadless >= self._most)
            self._runs.add(followed)
        if followed.holds_thread:
            followed.over.wait()

    def look(self, link: Link) -> None:
        """Ends what is over, has to stop or is too late. Raises when the database is away: then nobody is too late."""
        with self._lock:
            now = time.monotonic()
            due = [one for one in self._runs if one.look_at <= now or one.active.stop.reason is not None]
        if due:
            ids = [one.run.begun.id for one in due]
            statuses = link.call(lambda connection: remote.statuses(ids, connection))
            for one in due:
                self._see(one, statuses.get(one.run.begun.id))
        if (threadless := self.threadless) != self._told:
            self._changed(link)
            self._told = threadless

    def _see(self, one: _Followed, status: RemoteStatus | None) -> None:
        if status is None or status.ended:
            one.active.stop.set(RunLost())  # its end was told and is recorded, or its job is gone
            self._take(one)
            self._end(one, RunLost())
            return
        try:
            one.active.stop.raise_if_set()
            one.look_at = time.monotonic() + one.run.check(status)
        except (StopRun, RemoteSilent) as error:
            self._take(one)
            threading.Thread(target=self._stop, args=(one, error), name="detiq-remote-stop", daemon=True).start()

    def _take(self, one: _Followed) -> None:
        with self._lock:
            self._runs.discard(one)
            self._ending.add(one)

    def _stop(self, one: _Followed, error: BaseException) -> None:
        """In a thread of its own, which lasts seconds: a service may be slow to answer."""
        try:
            one.run.stop(error)
        except Exception:
            log.exception("remote.stop_failed", job=one.active.run.job_id)
        self._end(one, error)

    def _end(self, one: _Followed, error: BaseException) -> None:
        try:
            self._finish(one.active, self._judge(one.active, error))
        finally:
            with self._lock:
                self._ending.discard(one)
            one.over.set()
