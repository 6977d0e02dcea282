"""How fast bulk operations are when nothing holds them back, and what claims notice of it."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import psycopg
from django.conf import settings

from jobs.bench import statements
from jobs.bench.backlogs import Block
from jobs.bench.fill import JOBS, bare, vacuum
from jobs.bench.report import Cell, Section, percentile, ratio
from jobs.bench.server import Lab
from jobs.bench.statements import Connection
from jobs.bench.ways import Detiq
from jobs.domain.errors import JobsError

TARGET_PER_SECOND, LONGEST_LOCK_MS, MOST_RATIO = 5_000, 100.0, 2.0
TENANTS = 100
# Kind of work, whether its rows are dead letters, and what is asked for.
KINDS = (("purge", True, "type=SET"), ("cancel", False, "type=SET"), ("retry", True, "type=SET"))
_OWN = "detiq-bench-watch"
_WATCH_SECONDS = 0.01
_CLAIM_EVERY_SECONDS = 0.005


@dataclass(frozen=True)
class OperationsOptions:
    """`rows` of each operation; `backlog` of jobs that are claimed meanwhile; `seconds` of claims before it. `only` these
    kinds; a purge is undone, too, with `undo`.
    """

    rows: int = 100_000
    backlog: int = 50_000
    seconds: float = 5.0
    only: Sequence[str] = ()
    undo: bool = False


@dataclass
class Watched:
    """What was seen of the operation while it went on."""

    at_it: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    longest_seconds: float = 0.0


def run(lab: Lab, options: OperationsOptions, progress: Callable[[str], None] = lambda text: None) -> Section:
    section = Section(
        "operations",
        f"Bulk work on {options.rows:,} jobs of {TENANTS} tenants, at no rate, while one claimer goes on",
        target=f"at least {TARGET_PER_SECOND:,} rows a second, no batch longer than {LONGEST_LOCK_MS:g} ms, "
        f"claims' p95 at most {MOST_RATIO:g} × before",
    )
    for kind, dead, query in KINDS:
        if not options.only or kind in options.only:
            progress(f"operations: {kind}")
            section.rows += measure(lab, kind, dead, query, options)
    return section


def measure(lab: Lab, kind: str, dead: bool, query: str, options: OperationsOptions) -> list[dict[str, Cell]]:
    """One operation, and its undoing if that is asked for."""
    with lab.database() as url, psycopg.connect(url, autocommit=True, application_name=_OWN) as connection:
        _fill(connection, options, dead)
        way = Detiq(connection, "bench")
        until = time.monotonic() + options.seconds
        before = _claims(way, lambda: time.monotonic() < until)
        number, row = _measured(lab, url, connection, kind, query, before)
        rows = [row]
        if options.undo and kind == "purge":
            rows.append(_measured(lab, url, connection, "restore", f"operation={number}", before)[1])
        return rows


def _measured(
    lab: Lab, url: str, connection: Connection, kind: str, query: str, before: list[float]
) -> tuple[int, dict[str, Cell]]:
    way = Detiq(connection, "bench")
    with _watching(url) as watched, begun(lab, url, kind, query) as child:
        while child.poll() is None and not watched.at_it.wait(0.05):
            continue
        during = _claims(way, lambda: child.poll() is None)
        said, _ = child.communicate()
    if child.returncode != 0:
        raise JobsError(f"the operation did not end well: {said[-2000:]}")
    number = json.loads(said)["id"]
    return number, _row(kind, number, connection, before, during, watched)


def _fill(connection: Connection, options: OperationsOptions, dead: bool) -> None:
    block = Block(prefix="claimed", count=options.backlog)
    with bare(connection, JOBS):
        params = {"count": options.rows, "tenants": TENANTS, "dead": dead}
        connection.execute(statements.on_table("operation_rows", JOBS), params)
        connection.execute(statements.on_table("fill", JOBS), block.__dict__)
    vacuum(connection, [JOBS])


def _claims(way: Detiq, goes_on: Callable[[], bool]) -> list[float]:
    """Seconds of each claim, one after the other with a short rest, as a worker that is kept busy asks."""
    seconds = []
    while goes_on():
        began = time.perf_counter()
        claimed = way.claim(1)
        seconds.append(time.perf_counter() - began)
        way.finish(claimed)
        time.sleep(_CLAIM_EVERY_SECONDS)
    return seconds


@contextmanager
def begun(lab: Lab, url: str, kind: str, query: str, *more: str) -> Iterator[subprocess.Popen[str]]:
    """`manage.py operation start`, at work."""
    words = ["operation", "start", kind, "--filter", query, "--reason", "bench", "--yes", "--json", *more]
    with subprocess.Popen(
        [sys.executable, "manage.py", *words], cwd=settings.BASE_DIR, env=lab.environment(url), text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
    ) as child:  # fmt: skip
        try:
            yield child
        finally:
            if child.poll() is None:
                child.kill()


@contextmanager
def _watching(url: str) -> Iterator[Watched]:
    watched = Watched()
    thread = threading.Thread(target=_watch, args=(url, watched))
    thread.start()
    try:
        yield watched
    finally:
        watched.over.set()
        thread.join()


def _watch(url: str, watched: Watched) -> None:
    with psycopg.connect(url, autocommit=True, application_name=_OWN) as connection:
        while not watched.over.wait(_WATCH_SECONDS):
            row = connection.execute(statements.text("operation_watch"), {"own": _OWN}).fetchone() or (
                False,
                False,
                0.0,
            )
            freezes, runs, seconds = row
            if freezes or runs:
                watched.at_it.set()
            if runs:
                watched.longest_seconds = max(watched.longest_seconds, seconds)


def _row(
    kind: str, number: int, connection: Connection, before: list[float], during: list[float], watched: Watched
) -> dict[str, Cell]:
    done, frozen, took = connection.execute(
        """SELECT done, extract(epoch FROM started_at - created_at)::float8,
                  extract(epoch FROM finished_at - started_at)::float8 FROM operation WHERE id = %s""",
        [number],
    ).fetchone() or (0, 0.0, 1.0)
    p95 = [percentile(times, 0.95) * 1000 if times else None for times in (before, during)]
    longest, per_second, grown = watched.longest_seconds * 1000, done / took, ratio(p95[1], p95[0])
    return {
        "operation": kind,
        "rows": done,
        "rows_per_s": round(per_second),
        "frozen_s": round(frozen, 2),
        "longest_batch_ms": round(longest, 1),
        "claim_p95_before_ms": round(p95[0] or 0.0, 3),
        "claim_p95_during_ms": round(p95[1] or 0.0, 3),
        "claim_p95_ratio": grown,
        "claims": len(during),
        "ok": per_second >= TARGET_PER_SECOND and longest <= LONGEST_LOCK_MS and (grown or 0) <= MOST_RATIO,
    }
