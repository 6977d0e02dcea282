"""What live work notices while dead letters are redriven: its waits before, at a rate, and all at once."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

import psycopg

from jobs.bench import statements
from jobs.bench.fill import JOBS, bare, vacuum
from jobs.bench.handlers import LIVE
from jobs.bench.notes import new_notes
from jobs.bench.operations import TENANTS, begun
from jobs.bench.report import Cell, Section, ratio
from jobs.bench.server import Lab
from jobs.bench.statements import Connection
from jobs.bench.workers import THREADS, workers
from jobs.domain.errors import JobsError

MOST_RATIO = 1.5
LIVE_PER_SECOND = 20


@dataclass(frozen=True)
class RedriveOptions:
    """`rows` dead letters, `rate` a minute; `seconds` of live work alone before it, and of the control after it began."""

    rows: int = 50_000
    rate: int = 9_000
    seconds: float = 15.0


def run(lab: Lab, options: RedriveOptions, progress: Callable[[str], None] = lambda text: None) -> Section:
    section = Section(
        "redrive",
        f"Redrive of {options.rows:,} dead letters of {TENANTS} tenants to one worker of {THREADS} threads, 20 ms each, "
        f"beside {LIVE_PER_SECOND} live jobs a second",
        target=f"at a rate live work's p95 wait is at most {MOST_RATIO:g} × before; all at once is the control",
    )
    for rate in (options.rate, None):
        progress(f"redrive: {rate or 'all at once'}")
        section.rows.append(measure(lab, options, rate))
    return section


def measure(lab: Lab, options: RedriveOptions, rate: int | None) -> dict[str, Cell]:
    """One redrive. All at once it is watched for `seconds`, not to its end."""
    with (
        new_notes(lab.folder, 1) as notes,
        lab.database() as url,
        psycopg.connect(url, autocommit=True) as connection,
        workers(lab, url, notes, 1),
    ):
        with bare(connection, JOBS):
            params = {"count": options.rows, "tenants": TENANTS, "dead": True}
            connection.execute(statements.on_table("operation_rows", JOBS), params)
        vacuum(connection, [JOBS])
        with _live_work(url):
            time.sleep(options.seconds)
            words = ["--rate", str(rate)] if rate else []
            with begun(lab, url, "retry", "type=SET", *words) as child:
                began = time.monotonic()
                said, _ = child.communicate()
            done = time.monotonic() - began
            if child.returncode != 0:
                raise JobsError(f"the redrive did not end well: {said[-2000:]}")
            time.sleep(0 if rate else options.seconds)
            return _row(connection, rate, done)


@contextmanager
def _live_work(url: str) -> Iterator[None]:
    over = threading.Event()
    thread = threading.Thread(target=_enqueue, args=(url, over))
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _enqueue(url: str, over: threading.Event) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        number = 0
        while not over.wait(1 / LIVE_PER_SECOND):
            number += 1
            params = {"id": f"live-{number}", "tenant": f"live-{number % 10}", "type": LIVE}
            connection.execute(statements.text("insert_live"), params)


def _row(connection: Connection, rate: int | None, seconds: float) -> dict[str, Cell]:
    started, redriven = connection.execute("SELECT started_at, done FROM operation").fetchone() or (None, 0)
    (before, alone), (during, beside) = _waits(connection, started, "<"), _waits(connection, started, ">=")
    grown = ratio(during, before)
    return {
        "redrive": f"{rate:,} a minute" if rate else "all at once",
        "rows": redriven,
        "rows_per_min": round(redriven / seconds * 60),
        "live_p95_before_ms": round(before, 1),
        "live_p95_during_ms": round(during, 1),
        "live_p95_ratio": grown,
        "live_jobs": alone + beside,
        "ok": grown is not None and grown <= MOST_RATIO if rate else None,
    }


def _waits(connection: Connection, moment: datetime | None, side: str) -> tuple[float, int]:
    """Milliseconds until the start, p95, of live jobs queued before or after a moment; those that wait count until now."""
    p95, jobs = connection.execute(
        f"""SELECT coalesce(percentile_cont(0.95) WITHIN GROUP (
                       ORDER BY extract(epoch FROM coalesce("startedAt", clock_timestamp()) - "queuedAt") * 1000), 0),
                   count(*)
              FROM "PlatformJob" WHERE type = %s AND "queuedAt" {side} %s""",  # noqa: S608  (a sign)
        [LIVE, moment],
    ).fetchone() or (0.0, 0)
    return float(p95), int(jobs)
