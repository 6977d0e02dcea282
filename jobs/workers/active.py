"""The runs of this process, from claim until their end is recorded."""

import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from jobs.domain.errors import JobCancelled, RunLost, RunTooLong, StopRun
from jobs.domain.outcomes import ClaimedJob, Run
from jobs.handlers.context import StopSignal


@dataclass
class ActiveRun:
    """One run: its job, how it is told to stop, and since when (this process's monotonic clock, seconds)."""

    job: ClaimedJob
    stop: StopSignal = field(default_factory=StopSignal)
    since: float = field(default_factory=time.monotonic)
    lost_said: bool = False
    ending: bool = False  # the handler is done; only its end is not yet recorded

    @property
    def run(self) -> Run:
        return self.job.run

    def database_now(self) -> datetime:
        """The database's clock, as this process knows it: the moment of the claim, and its own steady clock since then."""
        elapsed = timedelta(seconds=time.monotonic() - self.since)
        return (self.run.started or datetime.now(UTC)) + elapsed

    @property
    def lost(self) -> bool:
        return isinstance(self.stop.reason, RunLost)


class ActiveRuns:
    """All of them, for the threads that watch over them."""

    def __init__(self) -> None:
        self._runs: dict[str, ActiveRun] = {}
        self._changed = threading.Condition()

    def add(self, active: ActiveRun) -> None:
        with self._changed:
            before = self._runs.get(active.run.job_id)
            if before is not None:  # given up for lost elsewhere and claimed again, by us: the old run must end
                before.stop.set(RunLost())
            self._runs[active.run.job_id] = active

    def remove(self, run: Run) -> None:
        with self._changed:
            active = self._runs.get(run.job_id)
            if active is not None and active.run == run:
                del self._runs[run.job_id]
            self._changed.notify_all()

    def all(self) -> list[ActiveRun]:
        with self._changed:
            return list(self._runs.values())

    def working(self) -> list[ActiveRun]:
        """Those whose handler has not returned yet."""
        return [active for active in self.all() if not active.ending]

    def stop_all(self, reason: StopRun) -> None:
        for active in self.working():
            active.stop.set(reason)

    def heed(self, looked_at: list[ActiveRun], statuses: dict[str, str]) -> list[ActiveRun]:
        """Tells runs what the database says of them: cancel, or no longer ours. Returns those just found lost."""
        lost = []
        for active in looked_at:
            status = statuses.get(active.run.job_id)
            if active.ending:
                continue
            if status is None and not active.lost:
                active.stop.set(RunLost())
                lost.append(active)
            elif status == "CANCEL_REQUESTED":
                active.stop.set(JobCancelled())
        return lost

    def end_overlong(self, limits: dict[str, int]) -> None:
        """Tells runs that have passed their type's longest run time, in seconds, to stop."""
        now = time.monotonic()
        for active in self.working():
            limit = limits.get(active.job.type)
            if limit is not None and now - active.since > limit:
                active.stop.set(RunTooLong(f"ran longer than the {limit} s that {active.job.type} may"))

    def wait_until_idle(self, seconds: float) -> bool:
        """Waits until no run is left, at most so long."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._runs, timeout=max(0.0, seconds))
