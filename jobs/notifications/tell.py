"""Tells the owners and admins of a tenant: their job is dead-lettered, a pause hits them, an artifact failed.

A notification's id is made of what it is about and whom it is for, and it is written in the transaction that takes the
reason away: whoever is killed in between, nothing is told twice, and nothing is forgotten.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import psycopg
import structlog
from django.db import DatabaseError

from jobs.notifications.statements import run
from jobs.queue import pauses
from jobs.queue.pauses import PauseInForce
from jobs.queue.statements import Connection, transaction
from jobs.rows import Row

log = structlog.get_logger("jobs.notifications")

DEAD_LETTERED, PAUSED, ARTIFACT_FAILED = "JOB_DEAD_LETTERED", "QUEUE_PAUSED", "ARTIFACT_FAILED"
ARTIFACT_TYPE = "ARTIFACT_INTEL"
BATCH = 500
# What cannot be told (a table of another program refuses it) is left after so many tries, and stays in its table.
MOST_TRIES = 5
MOST_TENANTS = 200
# More deaths of one tenant than so, told at once, are told together.
MOST_EACH = 10
LONGEST_TITLE, LONGEST_BODY = 200, 1_000


@dataclass(frozen=True)
class Notice:
    """Something that a tenant's owners and admins should know. `key`: what it is about; the same key is told once."""

    key: str
    type: str
    title: str
    body: str
    metadata: dict[str, Any]


def write(tenant_id: str, notices: Iterable[Notice], using: Any = None) -> int:
    """Writes them for everybody who should know, in the caller's transaction. Returns how many were new."""
    found = list(notices)
    run("for_tenant", {"tenant": tenant_id}, using)
    params = {
        "tenant": tenant_id,
        "keys": [one.key for one in found],
        "types": [one.type for one in found],
        "titles": [one.title[:LONGEST_TITLE] for one in found],
        "bodies": [one.body[:LONGEST_BODY] for one in found],
        "metadata": [json.dumps(one.metadata) for one in found],
    }
    return len(run("notify", params, using))


def artifact_failed(tenant_id: str, artifact_id: str, name: str, why: str, *, occasion: str, using: Any = None) -> int:
    """For code that finds an artifact unusable outside a job: tells once an `occasion` (any text that names it).

    The end of an ARTIFACT_INTEL job in the dead-letter queue is told by itself; no handler needs to call this for it.
    """
    key = f"artifact:{artifact_id}:{occasion}"
    notice = Notice(key, ARTIFACT_FAILED, f"Artifact {name or artifact_id} failed", why, {"artifactId": artifact_id})
    return write(tenant_id, [notice], using)


def dead_letters(using: Any = None) -> int:
    """Tells of the jobs that were dead-lettered since the last time, whoever did it. Returns how many were written."""
    total, after = 0, 0
    while True:
        with transaction(using):
            rows = run("due", {"limit": BATCH, "most_tries": MOST_TRIES, "after": after}, using)
            by_tenant: dict[str, list[Row]] = defaultdict(list)
            for row in rows:
                by_tenant[row["tenant_id"]].append(row)
            total += sum(_tell_tenant(tenant_id, mine, using) for tenant_id, mine in by_tenant.items())
        if len(rows) < BATCH:
            return total
        after = rows[-1]["id"]


def _tell_tenant(tenant_id: str, rows: list[Row], using: Any) -> int:
    """One tenant's, in a savepoint: a table that refuses them keeps nobody else's."""
    ids = {"ids": [row["id"] for row in rows]}
    try:
        with transaction(using):
            if len(rows) <= MOST_EACH:
                written = write(tenant_id, [_of_death(row) for row in rows], using)
            else:
                written = _of_many(tenant_id, rows, using)
            _mark_artifacts(tenant_id, rows, using)
    except (psycopg.OperationalError, psycopg.InterfaceError):
        raise
    except (psycopg.Error, DatabaseError) as error:
        log.warning("notifications.not_written", tenant=tenant_id, n=len(rows), error=str(error).strip()[:500])
        run("not_told", ids, using)
        return 0
    run("told", ids, using)
    return written


def _of_many(tenant_id: str, rows: list[Row], using: Any) -> int:
    """So many deaths at once are one outage: one notification an hour counts them."""
    types = Counter(row["type"] for row in rows).most_common(3)
    error = _first_line(rows[0]["error"]) or "no error was kept"
    run("for_tenant", {"tenant": tenant_id}, using)
    params = {
        "tenant": tenant_id,
        "key": f"dead-many:{tenant_id}:{rows[0]['at']:%Y-%m-%dT%H}",
        "type": DEAD_LETTERED,
        "jobs": len(rows),
        "said": " failed and will not be tried again",
        "body": f"The last ones: {', '.join(f'{n:,} {type_}' for type_, n in types)}. One of them: {error}"[
            :LONGEST_BODY
        ],
    }
    return len(run("notify_many", params, using))


def _mark_artifacts(tenant_id: str, rows: list[Row], using: Any) -> None:
    """An analysis whose process died each time, or ran too long, could not mark its artifact itself."""
    found = [row["artifact_id"] for row in rows if row["type"] == ARTIFACT_TYPE and row["artifact_id"]]
    if found:
        run("mark_artifacts", {"tenant": tenant_id, "ids": found}, using)


def _of_death(row: Row) -> Notice:
    error = _first_line(row["error"]) or "no error was kept"
    said = {
        "jobId": row["job_id"],
        "jobType": row["type"],
        "failureType": row["failure_type"],
        "at": row["at"].isoformat(),
    }
    # The moment is part of it: a job that is retried and dies again has died twice.
    key = f"dead:{row['job_id']}:{row['id']}"
    name = row["name"] or row["job_id"]
    if row["type"] == ARTIFACT_TYPE and row["artifact_id"]:
        said |= {"artifactId": row["artifact_id"]}
        return Notice(
            key, ARTIFACT_FAILED, f"Artifact {row['artifact_name'] or name} could not be analysed", error, said
        )
    return Notice(key, DEAD_LETTERED, f"{row['type']} {name} failed and will not be tried again", error, said)


def paused(using: Connection | None = None) -> int:
    """Tells the tenants that a pause hits, once each. Returns how many notifications were written."""
    in_force = {_key(one): one for one in pauses.active(using)}
    if not in_force:
        return 0
    params = {
        "pauses": list(in_force),
        "types": [one.type for one in in_force.values()],
        "tenants": [one.tenant_id for one in in_force.values()],
        "projects": [one.project_id for one in in_force.values()],
        "limit": MOST_TENANTS,
    }
    return sum(
        _tell_of_pause(in_force[row["pause"]], row["tenant_id"], using) for row in run("pauses_hit", params, using)
    )


def _tell_of_pause(pause: PauseInForce, tenant_id: str, using: Any) -> int:
    key = _key(pause)
    with transaction(using):
        if not run("told_of_pause", {"pause": key, "tenant": tenant_id}, using):
            return 0
        return write(tenant_id, [_of_pause(pause, tenant_id)], using)


def _of_pause(pause: PauseInForce, tenant_id: str) -> Notice:
    """What was written about all tenants may name others: its reason is for the tenant's own pauses alone."""
    own = pause.tenant_id == tenant_id
    ends = f"It ends at {pause.ends_at:%Y-%m-%d %H:%M} UTC." if pause.ends_at else "It has no end yet."
    what = pause.scope if own else (f"Jobs of type {pause.type}" if pause.type else "All jobs")
    reason = f" Reason: {pause.reason}" if own else ""
    said = {"pauseId": pause.id, "jobType": pause.type, "endsAt": pause.ends_at.isoformat() if pause.ends_at else None}
    title = f"Paused: {what}"
    return Notice(_key(pause), PAUSED, title, f"New jobs wait; running ones finish. {ends}{reason}", said)


def _key(pause: PauseInForce) -> str:
    return f"pause:{pause.id}" if pause.id is not None else f"flag:{pause.since.isoformat()}"


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
