"""Ninety days of a queue's life, made in SQL: for measuring pages at the size they must bear.

Tenants by Zipf, types by weight, more by day than by night, incidents in which one cause prevails, retries, dead
letters, the history of every job, and the counters and failure groups that follow from it (minutes: of the last
`MINUTE_DAYS` alone).
"""

from collections.abc import Callable

import psycopg
from psycopg import sql

from jobs.bench import statements
from jobs.bench.causes import CAUSES
from jobs.bench.fill import JOBS, bare, vacuum
from jobs.bench.statements import Connection
from jobs.domain import actors
from jobs.domain.failures import POLICIES
from jobs.domain.fingerprint import fingerprint
from jobs.queue.statements import run

TENANTS = 2_000
MINUTE_DAYS = 8
RUNNING = 64
_CHUNK = 250_000
_FOLDED = 100_000
_FILLED = (
    *(JOBS, "job_history", "tally_state", "tally_type", "tally_minute", "tally_total", "tally_flow", "tally_tenant"),
    *("failure_delta", "failure_group", "failure_group_tenant", "failure_cause", "failure_tenant"),
)
_STEPS = ("jobs", "moves", "history", "tally_minutes", "tally_totals", "tally_states")


def generate(url: str, jobs: int, progress: Callable[[str], None] = lambda text: None) -> None:
    """Fills an empty, migrated database with so many jobs, as the tables' owner. The same jobs give the same data."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute("SET synchronous_commit = off; SET work_mem = '128MB'; SET jit = off")
        connection.execute(statements.text("data/prepare"))
        _causes(connection)
        with bare(connection, JOBS), bare(connection, "job_history"):
            for first in range(1, jobs + 1, _CHUNK):
                progress(f"{first - 1:,} of {jobs:,} jobs")
                _chunk(connection, jobs, first, min(jobs, first + _CHUNK - 1))
            progress("indexes")
        progress("failures by cause")
        connection.execute(statements.text("data/flow"))
        connection.execute(statements.text("data/failures"))
        while run("fold_failures", {"limit": _FOLDED, "actor": actors.SWEEP}, connection)[0]["folded"]:
            pass
        progress("statistics")
        vacuum(connection, _FILLED)


def _causes(connection: Connection) -> None:
    types = [row[0] for row in connection.execute("SELECT type FROM bench_type").fetchall()]
    with connection.cursor() as cursor:
        for number, cause in enumerate(CAUSES, 1):
            cursor.execute(
                "INSERT INTO bench_cause VALUES (%s, %s, %s, %s)",
                [number, cause.failure_type.value, POLICIES[cause.failure_type].retries, cause.message],
            )
            cursor.executemany(
                "INSERT INTO bench_print VALUES (%s, %s, %s)",
                [(one, number, fingerprint(one, cause.exception, cause.message.replace("{n}", "41"))) for one in types],
            )


def _chunk(connection: Connection, jobs: int, first: int, last: int) -> None:
    params = {
        "jobs": jobs,
        "tenants": TENANTS,
        "live": max(1, jobs // 25),
        "running": min(RUNNING, jobs // 100),
        "first": first,
        "last": last,
        "minute_days": MINUTE_DAYS,
    }
    with connection.transaction():
        connection.execute(statements.text("data/story"), params)
        for step in _STEPS:
            text = statements.text(f"data/{step}")
            query = sql.SQL(text).format(table=sql.Identifier(JOBS)) if step == "jobs" else text
            connection.execute(query, params)
        connection.execute("DROP TABLE bench_story, bench_move")
