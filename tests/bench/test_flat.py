"""What a claim reads does not grow with what waits: pages touched, which no busy machine changes."""

import json

import psycopg
import pytest

from jobs.bench.backlogs import DISCOVER_CAP, TENANT_CAP, Backlog, backlogs
from jobs.bench.fill import JOBS, fill, hold
from jobs.bench.server import Lab
from jobs.bench.ways import TYPES
from jobs.queue.adoption import steps
from jobs.queue.statements import statement

SMALL, LARGE = 3_000, 20_000
# An index of ten times the rows may be a level deeper.
MOST_GROWTH, SLACK = 1.5, 30
NAMES = [one.name for one in backlogs(SMALL) if not one.held_snapshot]


@pytest.mark.parametrize("name", NAMES)
def test_a_claim_reads_no_more_pages_of_a_larger_backlog(lab: Lab, name: str) -> None:
    small, large = (
        pages(lab, backlog) for rows in (SMALL, LARGE) for backlog in backlogs(rows) if backlog.name == name
    )
    assert large <= small * MOST_GROWTH + SLACK, f"{small} pages at {SMALL:,} rows, {large} at {LARGE:,}"


# What was in the table when it was last analysed: (tenants of ended jobs, how many of them), or never.
STALE = {"never": None, "empty": (1, 0), "one job": (1, 1), "one tenant": (1, SMALL), "all ended": (200, SMALL)}


@pytest.mark.parametrize("known", STALE)
def test_a_claim_reads_no_more_pages_of_a_burst_that_the_statistics_do_not_know(lab: Lab, known: str) -> None:
    few, many = (burst(lab, rows, known) for rows in (SMALL, LARGE))
    for order, small, large in zip(("in turns", "strict"), few, many, strict=True):
        assert large <= small * MOST_GROWTH + SLACK, f"{order}: {small} pages at {SMALL:,} rows, {large} at {LARGE:,}"


def burst(lab: Lab, rows: int, known: str) -> tuple[int, int]:
    """Pages touched by one claim of many jobs that came after the table was analysed, in turns and in the strict order."""
    insert = """INSERT INTO "PlatformJob" (id, "tenantId", type, status, "finishedAt")
                SELECT %s || n, 't-' || n %% %s, %s, %s, CASE WHEN %s = 'DONE' THEN now() END FROM generate_series(1, %s) n"""
    with lab.database() as url, psycopg.connect(url, autocommit=True) as connection:
        connection.execute('ALTER TABLE "PlatformJob" SET (autovacuum_enabled = off)')
        if (seen := STALE[known]) is not None:
            connection.execute(insert, ["d", seen[0], TYPES[0], "DONE", "DONE", seen[1]])
            connection.execute('VACUUM ANALYZE "PlatformJob"')
        connection.execute(insert, ["q", 100, TYPES[0], "QUEUED", "QUEUED", rows])
        in_turns = least(connection)
        connection.execute((steps.SQL / steps.STRICT).read_text())
        return in_turns, least(connection, strict=True)


def pages(lab: Lab, backlog: Backlog) -> int:
    """Pages touched by one claim, once the session knows its plans. Nothing is kept of what it claims."""
    with lab.database() as url, psycopg.connect(url, autocommit=True) as connection:
        fill(connection, backlog.blocks, [JOBS])
        hold(connection, backlog.pauses)
        return least(connection)


def least(connection, *, strict: bool = False) -> int:
    found = []
    for _ in range(10):
        with connection.transaction(force_rollback=True):
            found.append(explained(connection, strict))
    return min(found)


def explained(connection, strict: bool) -> int:
    params = {
        "worker": "w", "ends": "[]", "slots": 1, "types": TYPES, "tenant_cap": TENANT_CAP,
        "type_caps": json.dumps({"DISCOVER": DISCOVER_CAP}), "after": "", "relief": None, "strict": strict, "quiet": False,
    }  # fmt: skip
    query = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement('turn').text}"
    plan = connection.execute(query, params).fetchone()[0][0]["Plan"]
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
