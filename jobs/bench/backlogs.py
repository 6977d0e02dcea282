"""The backlogs a claim is measured on."""

from collections.abc import Callable
from dataclasses import dataclass

NOISY = "noisy-"
# As the source's: whoever is at its cap runs so many.
TENANT_CAP, DISCOVER_CAP = 4, 2


@dataclass(frozen=True)
class Block:
    """Rows alike. `tenants`: spread over so many, named `tenant` and a number. `age_hours`: older blocks go first."""

    prefix: str
    count: int
    tenant: str = "t-"
    tenants: int = 1
    type: str = "CRAWL"
    project: str | None = None
    status: str = "QUEUED"
    priority: int = 0
    levels: int = 1
    age_hours: int = 1


@dataclass(frozen=True)
class Pause:
    """A pause by scope; all open: everything."""

    type: str | None = None
    tenant_id: str | None = None
    project_id: str | None = None


@dataclass(frozen=True)
class Backlog:
    """`nothing_may_run`: a claim on it finds nothing. `source_knows`: whether the source's claim obeys what blocks it."""

    name: str
    title: str
    blocks: tuple[Block, ...]
    pauses: tuple[Pause, ...] = ()
    nothing_may_run: bool = False
    source_knows: bool = True
    held_snapshot: bool = False


def even(rows: int, tenants: int) -> tuple[Block, ...]:
    return (Block("q", rows, tenants=min(tenants, rows)),)


def _noisy(rows: int) -> tuple[Block, ...]:
    few = max(rows // 100, 2_000)
    return (
        Block("run", TENANT_CAP, tenant=NOISY, status="RUNNING", age_hours=9),
        Block("old", rows - few, tenant=NOISY, age_hours=8),
        Block("q", few, tenants=1_000),
    )


def _discover(rows: int) -> tuple[Block, ...]:
    few = max(rows // 100, 2_000)
    return (
        Block("run", DISCOVER_CAP, tenant="d-", tenants=2, type="DISCOVER", status="RUNNING", age_hours=9),
        Block("old", rows - few, tenants=1_000, type="DISCOVER", age_hours=8),
        Block("q", few, tenants=1_000),
    )


def _head(rows: int, **blocked: str) -> tuple[Block, ...]:
    """One tenant whose oldest rows are held back while the newest could run."""
    few = max(rows // 100, 2_000)
    return (
        Block("old", rows - few, tenant=NOISY, age_hours=8, **blocked),  # type: ignore[arg-type]
        Block("q", few, tenant=NOISY),
    )


def _all_capped(rows: int) -> tuple[Block, ...]:
    return (
        Block("run", 1_000 * TENANT_CAP, tenants=1_000, status="RUNNING", age_hours=9),
        Block("q", rows, tenants=1_000),
    )


def _levels(rows: int) -> tuple[Block, ...]:
    """A tenant at its cap that gave every job a priority of its own, higher than everybody else's."""
    few = max(rows // 100, 2_000)
    return (
        Block("run", TENANT_CAP, tenant=NOISY, status="RUNNING", age_hours=9),
        Block("old", rows - few, tenant=NOISY, levels=1_000, age_hours=8),
        Block("q", few, tenants=1_000, priority=-1),
    )


type Make = Callable[[int], tuple[Block, ...]]


def backlogs(rows: int, finished: int = 0) -> list[Backlog]:
    """All of them, of about so many queued rows; `finished`: rows that ended long ago, beside an even one."""
    paused_type, paused_project = Pause(type="PAUSED"), Pause(project_id="held")
    found = [
        Backlog("even-10", "even over 10 tenants", even(rows, 10)),
        Backlog("even-1000", "even over 1,000 tenants", even(rows, 1_000)),
        Backlog("even-50000", "even over 50,000 tenants", even(rows, 50_000)),
        Backlog("noisy", "oldest 99 % of one tenant at its cap", _noisy(rows)),
        Backlog("discover", "oldest 99 % DISCOVER at its cap", _discover(rows)),
        Backlog("levels", "99 % at 1,000 priorities above, tenant at its cap", _levels(rows)),
        Backlog("paused-type", "99 % of a paused type at a tenant's head", _head(rows, type="PAUSED"), (paused_type,),
                source_knows=False),
        Backlog("paused-project", "99 % of a paused project at a tenant's head", _head(rows, project="held"),
                (paused_project,), source_knows=False),
        Backlog("unhandled", "99 % of a type without handler at a tenant's head", _head(rows, type="ELSEWHERE"),
                source_knows=False),
        Backlog("snapshot", "even over 1,000 tenants, an old snapshot held", even(rows, 1_000), held_snapshot=True),
        Backlog("all-capped", "idle look: 1,000 tenants at their cap", _all_capped(rows), nothing_may_run=True),
        Backlog("all-paused", "idle look: everything paused", even(rows, 1_000), (Pause(),), nothing_may_run=True,
                source_knows=False),
    ]  # fmt: skip
    if finished:
        done = Block("done", finished, tenants=1_000, status="DONE", age_hours=2_000)
        found.insert(3, Backlog("finished", f"even over 1,000 tenants, {finished:,} finished beside",
                                (done, *even(rows, 1_000))))  # fmt: skip
    return found
