"""Ways to claim and finish: ours through the door, plain SKIP LOCKED, and the source's own query."""

from collections.abc import Sequence
from typing import Any, Protocol

from jobs.bench import statements
from jobs.bench.backlogs import DISCOVER_CAP, TENANT_CAP
from jobs.bench.fill import JOBS, RAW, SOURCE
from jobs.bench.statements import Connection
from jobs.domain.outcomes import ClaimRequest, Completed, Ended, Run
from jobs.queue import transitions

TYPES = ["CRAWL", "DISCOVER", "PAUSED"]


class Way(Protocol):
    """Each works on a connection in autocommit; what a claim returns is what `finish` takes."""

    name: str
    table: str

    def claim(self, slots: int) -> Sequence[Any]: ...
    def finish(self, claimed: Sequence[Any]) -> None: ...


class Detiq:
    """The door, as the worker's dispatcher uses it."""

    name, table = "detiq", JOBS

    def __init__(self, connection: Connection, worker: str) -> None:
        self._connection = connection
        self._worker = worker
        self._after = ""

    def claim(self, slots: int) -> Sequence[Run]:
        return self.turn((), slots)

    def finish(self, claimed: Sequence[Run]) -> None:
        self.turn(claimed, 0)

    def turn(self, claimed: Sequence[Run], slots: int) -> Sequence[Run]:
        # Quiet, as a busy worker mostly is.
        caps = {"DISCOVER": DISCOVER_CAP}
        request = ClaimRequest(slots, TYPES, TENANT_CAP, caps, self._after, quiet=True)
        ends = [Ended(run, Completed('{"pages": 42}')) for run in claimed]
        jobs = transitions.turn(self._worker, ends, request, self._connection).jobs
        if jobs:
            self._after = max((job.tenant_id for job in jobs), key=lambda tenant: (tenant <= self._after, tenant))
        return [job.run for job in jobs]


class Raw:
    """Plain SKIP LOCKED, without caps, pauses, fairness and history."""

    name, table = "raw", RAW

    def __init__(self, connection: Connection, worker: str) -> None:
        self._connection = connection
        self._worker = worker

    def claim(self, slots: int) -> Sequence[str]:
        return self._ids("raw_claim", slots=slots)

    def finish(self, claimed: Sequence[str]) -> None:
        self._connection.execute(statements.on_table("finish_plain", RAW), {"ended": list(claimed)})

    def turn(self, claimed: Sequence[str], slots: int) -> Sequence[str]:
        return self._ids("raw_turn", slots=slots, ended=list(claimed))

    def _ids(self, name: str, **params: Any) -> Sequence[str]:
        rows = self._connection.execute(statements.text(name), params | {"worker": self._worker}).fetchall()
        return [row[0] for row in rows]


class Source:
    """The source's claim: one row a statement."""

    name, table = "source", SOURCE

    def __init__(self, connection: Connection, worker: str) -> None:
        self._connection = connection
        self._worker = worker

    def claim(self, slots: int) -> Sequence[str]:
        params = {"worker": self._worker, "tenant_cap": TENANT_CAP, "discover_cap": DISCOVER_CAP}
        rows = self._connection.execute(statements.text("source_claim"), params).fetchall()
        return [row[0] for row in rows]

    def finish(self, claimed: Sequence[str]) -> None:
        self._connection.execute(statements.on_table("finish_plain", SOURCE), {"ended": list(claimed)})
