"""Short words for what the queue's tests do again and again."""

from typing import Any

from jobs.domain.outcomes import ClaimedJob, ClaimRequest, Ended, Failure, Outcome, Run, Turn
from jobs.queue import transitions

BOOM = Failure("boom", "TRANSIENT", "v1:boom")
TYPES = ["CRAWL", "DISCOVER", "OTHER"]


def insert(conn: Any, id: str, **columns: Any) -> str:
    """A row as another program writes it: only what is given, the rest by the database's defaults."""
    row = {"id": id, "tenantId": "acme", "type": "CRAWL", "config": "{}"} | columns
    names = ", ".join(f'"{name}"' for name in row)
    places = ", ".join(["%s"] * len(row))
    conn.execute(f'INSERT INTO "PlatformJob" ({names}) VALUES ({places})', list(row.values()))
    return id


def row(conn: Any, id: str) -> dict[str, Any]:
    cursor = conn.execute('SELECT * FROM "PlatformJob" WHERE id = %s', [id])
    found = cursor.fetchone()
    assert found is not None, f"no job {id}"
    return dict(zip([column.name for column in cursor.description], found, strict=True))


def history(conn: Any, id: str) -> list[tuple[str | None, str | None]]:
    return conn.execute("SELECT from_status, to_status FROM job_history WHERE job_id = %s ORDER BY id", [id]).fetchall()


def claim(
    conn: Any,
    slots: int = 1,
    worker: str = "w1",
    types: list[str] | None = None,
    tenant_cap: int = 4,
    type_caps: dict[str, int] | None = None,
    after: str = "",
    ends: list[Ended] | None = None,
    relief: float | None = None,
    strict: bool = False,
) -> Turn:
    caps = type_caps if type_caps is not None else {"DISCOVER": 2}
    request = ClaimRequest(slots, types or TYPES, tenant_cap, caps, after, relief=relief, strict=strict)
    return transitions.turn(worker, ends or [], request, conn)


def claim_one(conn: Any, **options: Any) -> ClaimedJob:
    jobs = claim(conn, 1, **options).jobs
    assert len(jobs) == 1
    return jobs[0]


def finish(conn: Any, run: Run, outcome: Outcome, actor: str = "w1") -> Any:
    return transitions.finish(actor, [Ended(run, outcome)], conn)[0]


def running(conn: Any, id: str = "j", worker: str = "w1", **columns: Any) -> Run:
    """A job that has just been claimed."""
    insert(conn, id, **columns)
    return claim_one(conn, worker=worker).run
