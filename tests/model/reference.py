"""The queue's rules once more, as simply as they can be said: no SQL, no concurrency, nothing of the product imported.

A time that an operation sets is a `Within` until the database has answered: how long after the operation it may lie.
Comparing puts the database's value in its place, and from then on it must stay exactly that.
"""

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any

LIVE = ("RUNNING", "CANCEL_REQUESTED")
ACTIVE = (*LIVE, "QUEUED", "RETRY_WAIT")
ENDED = ("DONE", "FAILED", "CANCELLED")
STALE = timedelta(minutes=30)
JITTER = 0.1
# retries, first delay, factor, longest delay (seconds)
POLICY = {
    "TRANSIENT": (5, 30, 2, 300),
    "INFRASTRUCTURE": (3, 60, 3, 600),
    "LOGICAL": (1, 120, 1, 120),
    "FATAL": (0, 0, 1, 0),
}


@dataclass(frozen=True)
class Within:
    """A time this many seconds after the operation, at least and at most."""

    least: float = 0
    most: float = 0


NOW = Within()


@dataclass(frozen=True)
class Text:
    """Any text that begins so."""

    start: str = ""


@dataclass(frozen=True)
class OneOf:
    """One of these values: where the rules leave it open."""

    values: tuple[Any, ...]


@dataclass
class Job:
    """A row, column by column."""

    id: str
    tenant_id: str
    type: str
    config: Any
    project_id: str | None = None
    name: str = ""
    status: str = "QUEUED"
    priority: int = 0
    result: Any = None
    error: Any = None
    progress: int = 0
    current_step: str | None = None
    queued_at: Any = NOW
    requeued_at: Any = None
    started_at: Any = None
    finished_at: Any = None
    heartbeat_at: Any = None
    worker_id: str | None = None
    retry_count: int = 0
    next_retry_at: Any = None
    failure_type: str | None = None
    dlq: bool = False
    dlq_at: Any = None
    dlq_reason: Any = None
    inline: bool = False
    submitted_by: str | None = None
    checkpoint: Any = None
    checkpoint_at: Any = None
    checkpoint_version: Any = None
    unique_key: str | None = None
    fingerprint: Any = None
    origin_id: str | None = None
    redrive_count: int = 0
    lost_count: int = 0
    progress_at: Any = None

    @property
    def since(self) -> Any:
        """Since when it waits."""
        return self.requeued_at or self.queued_at

    @property
    def sign_of_life(self) -> Any:
        return self.heartbeat_at or self.started_at or self.queued_at

    @property
    def state(self) -> str:
        return "DEAD_LETTERED" if self.status == "FAILED" and self.dlq else self.status

    def back_to_the_queue(self) -> None:
        self.status, self.requeued_at = "QUEUED", NOW
        self.worker_id = self.heartbeat_at = self.started_at = self.finished_at = self.next_retry_at = None


COLUMNS = {
    "".join(part.title() if n else part for n, part in enumerate(one.name.split("_"))): one.name for one in fields(Job)
}


@dataclass(frozen=True)
class Step:
    """One row of the history."""

    job_id: str
    was: tuple[str | None, bool | None]
    becomes: tuple[str | None, bool | None]
    actor: Any
    reason: Any = None


@dataclass
class Pause:
    type: str | None = None
    tenant_id: str | None = None
    project_id: str | None = None
    ends_at: datetime | None = None
    lifted: bool = False

    @property
    def of_everything(self) -> bool:
        return (self.type, self.tenant_id, self.project_id) == (None, None, None)

    def in_force(self, now: datetime) -> bool:
        return not self.lifted and (self.ends_at is None or self.ends_at > now)

    def holds(self, job: Job) -> bool:
        pairs = ((self.type, job.type), (self.tenant_id, job.tenant_id), (self.project_id, job.project_id))
        return all(mine in (None, its) for mine, its in pairs)


@dataclass
class Cap:
    """A number, None for the default, or unlimited; with an end, what comes back."""

    cap: int | None = None
    unlimited: bool = False
    ends_at: datetime | None = None
    previous: int | None = None
    previous_unlimited: bool = False

    def at(self, now: datetime, default: int | None) -> int | None:
        ended = self.ends_at is not None and self.ends_at <= now
        cap, unlimited = (self.previous, self.previous_unlimited) if ended else (self.cap, self.unlimited)
        return None if unlimited else default if cap is None else cap


@dataclass
class Request:
    """What a worker asks for."""

    worker: str
    slots: int
    types: list[str]
    tenant_cap: int
    type_caps: dict[str, int]
    after: str = ""
    relief: float | None = None
    strict: bool = False


@dataclass(frozen=True)
class Held:
    """A run, as its worker knows it."""

    job_id: str
    worker: str | None
    started: Any


@dataclass
class Queue:
    jobs: dict[str, Job] = field(default_factory=dict)
    trash: dict[str, Job] = field(default_factory=dict)
    history: list[Step] = field(default_factory=list)  # what the last operation must have left
    pauses: dict[int, Pause] = field(default_factory=dict)
    flag: bool = False
    tenants: dict[str, Cap] = field(default_factory=dict)
    types: dict[str, Cap] = field(default_factory=dict)

    # --- Helpers ------------------------------------------------------------------------------------------------------

    def move(self, job: Job, change: Callable[[], None], actor: Any, reason: Any = None) -> None:
        was = (job.status, job.dlq)
        change()
        if (job.status, job.dlq) != was:
            self.history.append(Step(job.id, was, (job.status, job.dlq), actor, reason))

    def holder(self, key: str | None, other_than: str = "") -> str | None:
        if key is None:
            return None
        held = (job.id for job in self.jobs.values() if job.unique_key == key and job.status in ACTIVE)
        return next((id for id in held if id != other_than), None)

    # --- New jobs -----------------------------------------------------------------------------------------------------

    def add(self, job: Job, actor: Any, reason: Any = None) -> None:
        self.jobs[job.id] = job
        self.history.append(Step(job.id, (None, None), (job.status, job.dlq), actor, reason))

    # --- Claims -------------------------------------------------------------------------------------------------------

    def all_paused(self, now: datetime) -> bool:
        return self.flag or any(pause.of_everything and pause.in_force(now) for pause in self.pauses.values())

    def running(self, tenant_id: str) -> int:
        return sum(j.tenant_id == tenant_id and j.status in LIVE and not j.inline for j in self.jobs.values())

    def running_type(self, type_: str) -> int:
        return sum(j.type == type_ and j.status in LIVE for j in self.jobs.values())

    def room(self, job: Job, request: Request, now: datetime) -> bool:
        tenant = self.tenants.get(job.tenant_id, Cap()).at(now, request.tenant_cap)
        type_ = self.types.get(job.type, Cap()).at(now, request.type_caps.get(job.type))
        return (tenant is None or self.running(job.tenant_id) < tenant) and (
            type_ is None or self.running_type(job.type) < type_
        )

    def may_run(self, job: Job, request: Request, now: datetime) -> bool:
        return (
            job.status == "QUEUED"
            and is_due(job, now)
            and not self.all_paused(now)
            and not any(pause.in_force(now) and pause.holds(job) for pause in self.pauses.values())
            and self.room(job, request, now)
        )

    def able(self, request: Request, now: datetime) -> list[Job]:
        return [job for job in self.jobs.values() if job.type in request.types and self.may_run(job, request, now)]

    def claim(self, request: Request, now: datetime) -> list[str]:
        taken: list[str] = []
        if request.strict:
            while len(taken) < request.slots and (able := self.able(request, now)):
                job = min(able, key=lambda job: (-job.priority, job.queued_at, job.id))
                self.begin(job, request.worker)
                taken.append(job.id)
        else:
            for priority in self.priorities(request, now):
                self.claim_in_turn(request, now, priority, taken)
        self.due_rows_join(request, now)
        return taken

    def claim_these(self, ids: list[str], request: Request, now: datetime) -> None:
        """The same where not which jobs, only how they may be chosen is asked: each may run, and none of its tenant,
        type and priority waits longer than it; no slot stays free for want of looking."""
        assert len(ids) <= request.slots
        left = request.slots - len(ids)
        jobs = sorted((self.jobs[id] for id in ids), key=lambda job: (job.since, job.id))
        for job in jobs:
            able = self.able(request, now)
            assert job in able, f"{job} may not run"
            mine = [j for j in able if (j.tenant_id, j.type, j.priority) == (job.tenant_id, job.type, job.priority)]
            assert job is min(mine, key=lambda job: (job.since, job.id)), f"{job} does not wait longest"
            self.begin(job, request.worker)
        assert ids or not left or not self.able(request, now)
        self.due_rows_join(request, now)

    def due_rows_join(self, request: Request, now: datetime) -> None:
        """Whether the time of what has become due stays written is left open."""
        if request.slots > 0 and not self.all_paused(now):
            for job in self.jobs.values():
                if job.status == "QUEUED" and job.next_retry_at is not None and job.next_retry_at <= now:
                    job.next_retry_at = OneOf((None, job.next_retry_at))

    def priorities(self, request: Request, now: datetime) -> list[int]:
        """Highest first; for relief, beginning further down and then those above."""

        def open_to_all(type_: str) -> bool:
            cap = self.types.get(type_, Cap()).at(now, request.type_caps.get(type_))
            paused = any(p.in_force(now) and p == Pause(type_, ends_at=p.ends_at) for p in self.pauses.values())
            return not paused and (cap is None or self.running_type(type_) < cap)

        types = {type_ for type_ in request.types if open_to_all(type_)}
        present = sorted(
            {j.priority for j in self.jobs.values() if j.type in types and j.status == "QUEUED" and is_due(j, now)},
            reverse=True,
        )
        start = int((request.relief or 0) * len(present))
        return present[start:] + present[:start]

    def claim_in_turn(self, request: Request, now: datetime, priority: int, taken: list[str]) -> None:
        """Tenants take turns round the ring, from the one after the last; a tenant's jobs by how long they wait."""
        tenants = sorted({job.tenant_id for job in self.jobs.values()})
        ring = [t for t in tenants if t > request.after] + [t for t in tenants if t <= request.after]
        while len(taken) < request.slots:
            able = [job for job in self.able(request, now) if job.priority == priority]
            tenant = next((tenant for tenant in ring if any(job.tenant_id == tenant for job in able)), None)
            if tenant is None:
                return
            job = min((job for job in able if job.tenant_id == tenant), key=lambda job: (job.since, job.id))
            self.begin(job, request.worker)
            taken.append(job.id)
            place = ring.index(tenant) + 1
            ring = ring[place:] + ring[:place]

    def claim_job(self, job_id: str, request: Request, now: datetime) -> bool:
        job = self.jobs.get(job_id)
        if job is None or not self.may_run(job, request, now):
            return False
        self.begin(job, request.worker)
        return True

    def begin(self, job: Job, worker: str) -> None:
        def change() -> None:
            job.status, job.worker_id, job.inline, job.progress = "RUNNING", worker, False, 0
            job.started_at = job.heartbeat_at = NOW
            job.finished_at = job.next_retry_at = job.current_step = None

        self.move(job, change, worker)

    # --- Runs ---------------------------------------------------------------------------------------------------------

    def ours(self, run: Held) -> Job | None:
        """The job, while this run holds it."""
        job = self.jobs.get(run.job_id)
        held = job is not None and job.status in LIVE
        return job if held and (job.worker_id, job.started_at) == (run.worker, run.started) else None

    def beat(self, runs: Iterable[Held]) -> None:
        for run in runs:
            if job := self.ours(run):
                job.heartbeat_at = NOW

    def progress(self, run: Held, percent: int, step: str) -> None:
        if job := self.ours(run):
            if (job.progress, job.current_step) != (percent, step):
                job.progress_at = NOW
            job.progress, job.current_step, job.heartbeat_at = percent, step, NOW
            job.result = merged(job.result, "step", step)

    def checkpoint(self, run: Held, value: Any) -> bool:
        if job := self.ours(run):
            job.checkpoint, job.checkpoint_at, job.heartbeat_at = value, NOW, NOW
        return job is not None

    def finish(self, run: Held, kind: str, actor: str, reason: Any = None, **end: Any) -> bool:
        """`kind`: done, failed, cancelled or released. `end`: result; or error, failure_type, fingerprint."""
        job = self.ours(run)
        if job is None or (kind == "cancelled" and job.status != "CANCEL_REQUESTED"):
            return False
        if kind == "done" and job.status == "CANCEL_REQUESTED":
            reason = reason or "finished before the cancel was seen"
        self.move(job, lambda: self._end(job, kind, **end), actor, reason)
        return True

    def _end(self, job: Job, kind: str, **end: Any) -> None:
        if kind == "released" and job.status == "RUNNING":
            job.back_to_the_queue()
            return
        job.finished_at, job.worker_id, job.heartbeat_at, job.next_retry_at = NOW, None, None, None
        if kind == "done":
            job.status, job.progress, job.result = "DONE", 100, end["result"]
            job.error = job.failure_type = job.fingerprint = None
            job.lost_count = 0
        elif job.status == "CANCEL_REQUESTED":
            job.status = "CANCELLED"
        else:
            self._failed(job, **end)

    def _failed(self, job: Job, error: Any, failure_type: str, fingerprint: Any, lost: bool = False) -> None:
        """What was lost for the first time may only have run beside the job that killed its process: once more."""
        first_loss, job.lost_count = lost and job.lost_count == 0, job.lost_count + lost
        left, delay = retries_left(failure_type, job.retry_count), delay_seconds(failure_type, job.retry_count)
        job.error, job.failure_type, job.fingerprint = error, failure_type, fingerprint
        job.result = merged(job.result, "failureType", failure_type)
        job.retry_count = max(job.retry_count, 0) + 1
        if left or first_loss:
            job.status, job.next_retry_at = "RETRY_WAIT", Within(delay, delay * (1 + JITTER))
        else:
            job.status, job.dlq, job.dlq_at, job.dlq_reason = "FAILED", True, NOW, error

    # --- People -------------------------------------------------------------------------------------------------------

    def cancel(self, job_id: str, actor: str, reason: str) -> str | None:
        job = self.jobs.get(job_id)
        if job is None or job.status not in ("QUEUED", "RETRY_WAIT", "RUNNING"):
            return None
        if job.status == "RETRY_WAIT" and job.dlq:
            return None

        def change() -> None:
            job.next_retry_at = None
            if job.status == "RUNNING":
                job.status = "CANCEL_REQUESTED"
            else:
                job.status, job.finished_at = "CANCELLED", NOW

        self.move(job, change, actor, reason)
        return job.status

    def force_cancel(self, job_id: str, actor: str, reason: str) -> str | None:
        job = self.jobs.get(job_id)
        if job is None or job.status not in LIVE:
            return None

        def change() -> None:
            job.status, job.finished_at, job.heartbeat_at, job.worker_id = "CANCELLED", NOW, None, None

        self.move(job, change, actor, reason)
        return job.status

    def retry(self, job_id: str, actor: str, reason: str, keep_checkpoint: bool) -> str | None:
        job = self.jobs.get(job_id)
        if job is None or job.state != "DEAD_LETTERED" or self.holder(job.unique_key):
            return None

        def change() -> None:
            job.back_to_the_queue()
            job.dlq, job.dlq_at, job.dlq_reason = False, None, None
            job.retry_count, job.redrive_count = 0, job.redrive_count + 1
            job.lost_count = 0
            job.error = job.failure_type = job.fingerprint = None
            if not keep_checkpoint:
                job.checkpoint = job.checkpoint_at = None

        self.move(job, change, actor, reason)
        return job.status

    def run_now(self, job_id: str, actor: str, reason: str) -> str | None:
        job = self.jobs.get(job_id)
        if job is None or job.status != "RETRY_WAIT" or job.dlq:
            return None
        self.move(job, job.back_to_the_queue, actor, reason)
        return job.status

    def rerun(self, job_id: str, new_id: str, actor: str, reason: str) -> None:
        job = self.jobs[job_id]
        same = {name: deepcopy(getattr(job, name)) for name in ("tenant_id", "project_id", "type", "name", "priority")}
        copy = Job(new_id, config=deepcopy(job.config), submitted_by=actor, origin_id=job_id, **same)
        self.add(copy, actor, reason)

    def may_rerun(self, job_id: str) -> bool:
        return job_id in self.jobs and self.jobs[job_id].status in ENDED

    def requeue_orphaned(self, worker: str, actor: str, reason: str) -> list[str]:
        orphans = [j for j in self.jobs.values() if j.worker_id == worker and j.status == "RUNNING"]
        for job in orphans:
            self.move(job, job.back_to_the_queue, actor, reason)
        return [job.id for job in orphans]

    def purge(self, job_id: str, actor: str, reason: str) -> str | None:
        job = self.jobs.get(job_id)
        if job is None or job.status not in ENDED:
            return None
        self.trash[job_id] = self.jobs.pop(job_id)
        self.history.append(Step(job_id, (job.status, job.dlq), (None, None), actor, reason))
        return "TRASH"

    def restore(self, job_id: str, actor: str, reason: str) -> str | None:
        if job_id not in self.trash or job_id in self.jobs:
            return None
        job = self.jobs[job_id] = self.trash.pop(job_id)
        self.history.append(Step(job_id, (None, None), (job.status, job.dlq), actor, reason))
        return job.status

    # --- Pauses -------------------------------------------------------------------------------------------------------

    def lift(self, pause_id: int | None, now: datetime) -> bool:
        lifted = [
            pause
            for id, pause in self.pauses.items()
            if not pause.lifted and (id == pause_id or pause_id is None and pause.of_everything)
        ]
        for pause in lifted:
            pause.lifted = True
        lowers = self.flag and (pause_id is None or any(pause.of_everything for pause in lifted))
        return self._lower(now) | bool(lifted) if lowers else bool(lifted)

    def expire(self, now: datetime) -> None:
        ended = [p for p in self.pauses.values() if not p.lifted and p.ends_at is not None and p.ends_at <= now]
        for pause in ended:
            pause.lifted = True
        if any(pause.of_everything for pause in ended):
            self._lower(now)

    def _lower(self, now: datetime) -> bool:
        """The flag goes down with the last pause that set it."""
        still = any(pause.of_everything and pause.in_force(now) for pause in self.pauses.values())
        lowered, self.flag = self.flag and not still, self.flag and still
        return lowered

    # --- The sweep ----------------------------------------------------------------------------------------------------

    def sweep_light(self, now: datetime) -> None:
        for job in self.jobs.values():
            if job.status == "RETRY_WAIT" and not job.dlq and is_due(job, now):
                self.move(job, job.back_to_the_queue, "sweep")
        self.expire(now)

    def sweep_full(self, now: datetime) -> None:
        self.sweep_light(now)
        for job in self._open(lambda j: j.next_retry_at is not None and j.next_retry_at <= now):
            self.move(
                job, lambda job=job: self._counted(job, job.back_to_the_queue), "sweep", Text("failed with a retry")
            )
        for job in self._open(lambda j: j.next_retry_at is None and j.failure_type is None and j.retry_count < 5):
            self.move(job, lambda job=job: self._wait(job), "sweep", Text("failed without"))
        for job in self.jobs.values():
            for_good = job.next_retry_at is None and (job.failure_type is not None or job.retry_count >= 5)
            if (job.state == "FAILED" and for_good) or (job.status == "RETRY_WAIT" and job.dlq):
                self.move(job, lambda job=job: self._bury(job), "sweep")
        for job in self.jobs.values():
            self.move(job, lambda job=job: self._repair(job), "sweep", Text("columns"))
        for job in list(self.jobs.values()):
            self._rescue(job, now)

    def _open(self, which: Callable[[Job], bool]) -> list[Job]:
        """FAILED rows not decided yet. Whose key another one holds waits; of several, the first goes first."""
        undecided = [job for job in self.jobs.values() if job.state == "FAILED"]
        first: dict[str, str] = {}
        for job in undecided:
            if job.unique_key is not None:
                first[job.unique_key] = min(job.id, first.get(job.unique_key, job.id))
        return [
            job
            for job in undecided
            if which(job)
            and (job.unique_key is None or first[job.unique_key] == job.id and not self.holder(job.unique_key))
        ]

    def _counted(self, job: Job, change: Callable[[], None]) -> None:
        job.retry_count = max(job.retry_count, 0) + 1
        change()

    def _wait(self, job: Job) -> None:
        seconds = 60 * 2 ** max(job.retry_count, 0)
        job.status, job.next_retry_at = "RETRY_WAIT", Within(seconds, seconds)
        job.retry_count, job.worker_id, job.heartbeat_at = max(job.retry_count, 0) + 1, None, None

    def _bury(self, job: Job) -> None:
        job.status, job.dlq = "FAILED", True
        job.dlq_at, job.dlq_reason = job.dlq_at or NOW, job.dlq_reason or job.error
        job.finished_at = job.finished_at or NOW
        job.next_retry_at = job.worker_id = job.heartbeat_at = None

    def _repair(self, job: Job) -> None:
        """Columns that cannot be true together."""
        if job.status == "QUEUED":
            job.worker_id = None
        if job.dlq and job.status in (*LIVE, "QUEUED", "DONE", "CANCELLED"):
            job.dlq, job.dlq_at, job.dlq_reason = False, None, None
        if job.status in ("DONE", "CANCELLED") and job.finished_at is None:
            job.finished_at = Within(-3600, 0)  # when the history says that it ended
        if job.state == "DEAD_LETTERED":
            job.next_retry_at = None
        if job.status in LIVE:
            job.progress, job.retry_count = min(max(job.progress, 0), 100), max(job.retry_count, 0)

    def _rescue(self, job: Job, now: datetime) -> None:
        run = Held(job.id, job.worker_id, job.started_at)
        ownerless = job.status == "CANCEL_REQUESTED" and job.worker_id is None and not job.inline
        if job.status not in LIVE or not (ownerless or job.sign_of_life < now - STALE):
            return
        if job.status == "CANCEL_REQUESTED":
            self.finish(run, "cancelled", "sweep", Text("its worker is gone"))
        else:
            end = {
                "error": Text("worker lost ("),
                "failure_type": "INFRASTRUCTURE",
                "fingerprint": Text("v"),
                "lost": True,
            }
            self.finish(run, "failed", "sweep", OneOf((None, Text())), **end)


def is_due(job: Job, now: datetime) -> bool:
    return job.next_retry_at is None or job.next_retry_at <= now


def merged(result: Any, key: str, value: Any) -> Any:
    """Into an object; anything else stays what it is."""
    return {**(result or {}), key: value} if result is None or isinstance(result, dict) else result


def retries_left(failure_type: str, retry_count: int) -> int:
    return max(POLICY[failure_type][0] - max(retry_count, 0), 0)


def delay_seconds(failure_type: str, retry_count: int) -> float:
    _, first, factor, longest = POLICY[failure_type]
    return float(min(first * factor ** max(retry_count, 0), longest))
