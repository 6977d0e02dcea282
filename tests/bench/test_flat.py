"""What a claim reads does not grow with what waits: pages touched, which no busy machine changes."""

import json

import psycopg
import pytest

from jobs.bench.backlogs import DISCOVER_CAP, TENANT_CAP, Backlog, backlogs
from jobs.bench.fill import JOBS, fill, hold
from jobs.bench.server import Lab
from jobs.bench.ways import TYPES
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


def pages(lab: Lab, backlog: Backlog) -> int:
    """Pages touched by one claim, once the session knows its plans. Nothing is kept of what it claims."""
    with lab.database() as url, psycopg.connect(url, autocommit=True) as connection:
        fill(connection, backlog.blocks, [JOBS])
        hold(connection, backlog.pauses)
        found = []
        for _ in range(10):
            with connection.transaction(force_rollback=True):
                found.append(explained(connection))
        return min(found)


def explained(connection) -> int:
    params = {
        "worker": "w", "ends": "[]", "slots": 1, "types": TYPES, "tenant_cap": TENANT_CAP,
        "type_caps": json.dumps({"DISCOVER": DISCOVER_CAP}), "after": "", "relief": None, "strict": False, "quiet": False,
    }  # fmt: skip
    query = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement('turn').text}"
    plan = connection.execute(query, params).fetchone()[0][0]["Plan"]
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
