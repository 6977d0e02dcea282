"""How fast real workers get through jobs that do nothing, all guarantees on; and what it costs to keep what is kept."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import psycopg

from jobs.bench import statements
from jobs.bench.backlogs import Pause
from jobs.bench.fill import JOBS, hold, vacuum
from jobs.bench.handlers import NOOP
from jobs.bench.notes import SlotReader, new_notes
from jobs.bench.report import Cell, Section, ratio
from jobs.bench.server import Lab
from jobs.bench.statements import Connection
from jobs.bench.workers import THREADS, Child, workers
from jobs.domain.errors import JobsError

TENANTS = 100
_LONGEST_SECONDS = 600


@dataclass(frozen=True)
class DrainOptions:
    jobs: int = 20_000
    processes: Sequence[int] = (1, 2)
    rounds: int = 1
    without_records: bool = True


@dataclass(frozen=True)
class Drained:
    """`per_s`: from the first claim to the last finish, by the rows' own times. `starts_per_s`: by the handlers' notes."""

    per_s: float
    starts_per_s: float


def run(lab: Lab, options: DrainOptions, progress: Callable[[str], None] = lambda text: None) -> Section:
    section = Section(
        "drain",
        f"{options.jobs:,} jobs that do nothing, {THREADS} threads a process, {TENANTS} tenants",
        target="two processes at least 1.5 × one; with history and counters at least 0.7 × without",
    )
    for processes in options.processes:
        progress(f"drain by {processes}")
        with_all, without = _in_turns(lab, options, processes)
        section.rows.append(_row(processes, with_all, without))
    first = section.rows[0]["jobs_per_s"]
    for row in section.rows[1:]:
        now = row["jobs_per_s"]
        row["to_one_process_ratio"] = ratio(float(now or 0), float(first or 0))
    return section


def _in_turns(lab: Lab, options: DrainOptions, processes: int) -> tuple[list[Drained], list[Drained]]:
    with_all, without = [], []
    for _ in range(options.rounds):
        with_all.append(drain(lab, options.jobs, processes))
        if options.without_records:
            without.append(drain(lab, options.jobs, processes, records=False))
    return with_all, without


def drain(lab: Lab, jobs: int, processes: int, *, records: bool = True) -> Drained:
    """One drain. `records=False` leaves out history and counters; the wake-up of workers goes with them."""
    with (
        new_notes(lab.folder, jobs) as notes,
        lab.database() as url,
        psycopg.connect(url, autocommit=True) as connection,
    ):
        params = {"count": jobs, "tenants": TENANTS, "type": NOOP}
        connection.execute(statements.on_table("fill_noop", JOBS), params)
        vacuum(connection, [JOBS])
        hold(connection, [Pause()])
        if not records:
            connection.execute('ALTER TABLE "PlatformJob" DISABLE TRIGGER USER')
        with workers(lab, url, notes, processes) as running:
            # All begin at once, told by the pause's end.
            connection.execute("UPDATE queue_pause SET lifted_at = now(), lifted_by = 'bench'")
            return _until_empty(connection, notes, jobs, running)


def _until_empty(connection: Connection, notes: SlotReader, jobs: int, running: Sequence[Child]) -> Drained:
    deadline = time.monotonic() + _LONGEST_SECONDS
    while len(notes.all()) < jobs or _drained(connection)[0] < jobs:
        dead = next((child for child in running if child.popen.poll() is not None), None)
        if dead is not None or time.monotonic() > deadline:
            raise JobsError(f"the drain did not end: {(dead or running[0]).last_words()}")
        time.sleep(0.2)
    return Drained(per_s=jobs / _drained(connection)[1], starts_per_s=notes.per_second())


def _drained(connection: Connection) -> tuple[int, float]:
    done, seconds = connection.execute(statements.text("drained")).fetchone() or (0, 0.0)
    return int(done), float(seconds or 0)


def _row(processes: int, with_all: Sequence[Drained], without: Sequence[Drained]) -> dict[str, Cell]:
    ours = max(one.per_s for one in with_all)
    bare = max((one.per_s for one in without), default=None)
    return {
        "processes": processes,
        "jobs_per_s": round(ours),
        "starts_per_s": round(max(one.starts_per_s for one in with_all)),
        "without_records_per_s": round(bare) if bare else None,
        "kept_ratio": ratio(ours, bare),
    }
