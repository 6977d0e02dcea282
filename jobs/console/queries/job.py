"""One job: its row, its timeline, its attempts, its lines; every part bounded."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from jobs.conf import conf
from jobs.console import scope
from jobs.console.queries.db import fetch, fetch_one
from jobs.console.values import TREE_CHARACTERS, Shown, show
from jobs.domain.masking import mask_json
from jobs.domain.states import DEAD_LETTERED, ENDED, JobStatus, state
from jobs.rows import Row

MOST_CHANGES = 200
MOST_LINES = 200
SHOWN_CHANGES = 30
ERROR_CHARACTERS = 8_000
VALUES = ("config", "result", "checkpoint")

_JOB = """
SELECT j.id, j."tenantId" AS tenant_id, j."projectId" AS project_id, j.type, left(j.name, 1000) AS name,
       j.status::text AS status, j.dlq, j.priority,
       left(j.error, 8000) AS error, length(j.error) AS error_size, left(j."dlqReason", 1000) AS dlq_reason,
       j.progress, left(j."currentStep", 1000) AS current_step,
       j."queuedAt" AS queued_at, j."requeuedAt" AS requeued_at, j."startedAt" AS started_at,
       j."finishedAt" AS finished_at, j."heartbeatAt" AS heartbeat_at, j."workerId" AS worker_id,
       j."retryCount" AS retry_count, j."nextRetryAt" AS next_retry_at, left(j."failureType"::text, 200) AS failure_type,
       j."dlqAt" AS dlq_at, j.inline, left(j."submittedBy", 300) AS submitted_by, j."checkpointAt" AS checkpoint_at,
       left(j."uniqueKey", 500) AS unique_key, j.fingerprint, j."originId" AS origin_id, j."redriveCount" AS redrive_count,
       detiq_kept(j.checkpoint) AS has_checkpoint,
       CASE WHEN j.dlq AND detiq_kept(j.checkpoint) THEN detiq_outdated(j.type, j."checkpointVersion") END AS outdated,
       left(j."checkpointVersion", 100) AS checkpoint_version, greatest(j."progressAt", j."checkpointAt") AS moved_at,
       concat_ws(' ', j.status, j.dlq, j."checkpointAt", j."finishedAt", pg_column_size(j.config), pg_column_size(j.result),
                 pg_column_size(j.checkpoint)) AS version,
       concat_ws(' ', j.status, j.dlq, j."startedAt", j."requeuedAt", j."dlqAt", j."redriveCount", j.priority,
                 CASE WHEN j.dlq THEN detiq_kept(j.checkpoint) END) AS stamp,
       clock_timestamp() AS now
  FROM "PlatformJob" j
 WHERE j.id = %(id)s
"""


def find(job_id: str) -> Row | None:
    """The job without its values; None when there is none that may be seen."""
    row = fetch_one(_JOB + " AND " + scope.only('j."tenantId"'), {"id": job_id} | scope.params())
    if row is not None:
        for one in ("version", "stamp"):
            row[one] = hashlib.sha256(row[one].encode()).hexdigest()[:12]
        row["state"] = state(row["status"], row["dlq"])
    return row


def in_trash(job_id: str) -> Row | None:
    """When and by whom it was purged."""
    return fetch_one(
        f"SELECT purged_at, purged_by FROM job_trash WHERE job_id = %(id)s AND {scope.only('tenant_id')}",  # noqa: S608
        {"id": job_id} | scope.params(),
    )


def trashed(job_id: str) -> Row | None:
    """What the trash keeps of a job, as far as a dialog names it."""
    row = fetch_one(
        """SELECT job_id AS id, left(tenant_id, 300) AS tenant_id, left(coalesce(row ->> 'type', ''), 300) AS type,
                  left(coalesce(row ->> 'name', ''), 1000) AS name, row ->> 'status' AS status,
                  coalesce(row ->> 'dlq', 'false') = 'true' AS dlq, purged_at, left(purged_by, 300) AS purged_by,
                  0 AS priority, false AS has_checkpoint, md5(purged_at::text) AS stamp, clock_timestamp() AS now
             FROM job_trash WHERE job_id = %(id)s""",
        {"id": job_id},
    )
    if row is not None:
        row["state"] = "TRASH"
    return row


def values(job_id: str, masked: bool = True) -> dict[str, Shown | None]:
    """Config, result and checkpoint as the page shows them. Only their beginnings leave the database; their secrets are
    masked unless somebody may see them."""
    row = fetch_one(
        f"""SELECT {", ".join(f"left(v.{one}, {TREE_CHARACTERS}) AS {one}, length(v.{one}) AS {one}_size" for one in VALUES)}
              FROM (SELECT config::text AS config, result::text AS result, checkpoint::text AS checkpoint
                      FROM "PlatformJob" WHERE id = %(id)s AND {scope.only('"tenantId"')} OFFSET 0) v""",  # noqa: S608
        {"id": job_id} | scope.params(),
    )
    keys = conf().masked_keys if masked else None
    return {one: show(row[one], row[f"{one}_size"] or 0, keys) if row else None for one in VALUES}


def raw(job_id: str, name: str) -> str | None:
    """One value, whole, with its secrets masked; or the error as stored."""
    if name not in {*VALUES, "error"}:
        return None
    row = fetch_one(
        f"""SELECT {name}::text AS value FROM "PlatformJob" WHERE id = %(id)s AND {scope.only('"tenantId"')}""",  # noqa: S608
        {"id": job_id} | scope.params(),
    )
    text: str | None = row["value"] if row else None
    return text if text is None or name == "error" else mask_json(text, conf().masked_keys)[0]


@dataclass
class Attempt:
    """One run, put together from the history."""

    number: int
    started_at: datetime
    worker: str
    ended_at: datetime | None = None
    ended_as: str = ""
    error: str = ""
    failure_type: str = ""

    @property
    def ran(self) -> timedelta | None:
        """How long it took; None while it runs."""
        return max(timedelta(), self.ended_at - self.started_at) if self.ended_at else None


@dataclass
class Redrive:
    """One time that somebody took it out of the DLQ. `ended_as` empty: it has not ended since."""

    at: datetime
    actor: str
    reason: str
    ended_as: str = ""
    same_error: bool = False


@dataclass(frozen=True)
class Timeline:
    """Changes, newest first; `total` counts those not shown too."""

    changes: list[Row]
    total: int
    attempts: list[Attempt] = field(default_factory=list)
    redrives: list[Redrive] = field(default_factory=list)


def timeline(job_id: str) -> Timeline:
    """The newest changes of a job and the attempts among them."""
    rows = fetch(
        """SELECT id, from_status, from_dlq, to_status, to_dlq, at, left(actor, 300) AS actor, left(reason, 1000) AS reason,
                  left(worker_id, 300) AS worker_id, run_started_at, retry_count, left(failure_type, 100) AS failure_type,
                  fingerprint, left(detail ->> 'error', 8000) AS error, left(detail ->> 'nextRetryAt', 40) AS next_retry,
                  count(*) OVER () AS total
             FROM (SELECT * FROM job_history WHERE job_id = %(id)s ORDER BY id DESC LIMIT 2000) h
            ORDER BY id DESC LIMIT %(most)s""",
        {"id": job_id, "most": MOST_CHANGES},
    )
    for row in rows:
        row["source"] = None if row["from_status"] is None else state(row["from_status"], bool(row["from_dlq"]))
        row["target"] = None if row["to_status"] is None else state(row["to_status"], bool(row["to_dlq"]))
    return Timeline(rows, rows[0]["total"] if rows else 0, _attempts(rows), _redrives(rows))


def _redrives(newest_first: list[Row]) -> list[Redrive]:
    """The newest first. The same error again means that the redrive cured nothing."""
    found: list[Redrive] = []
    before: str | None = None
    for row in reversed(newest_first):
        if row["source"] == DEAD_LETTERED and row["target"] == JobStatus.QUEUED:
            found.append(Redrive(row["at"], row["actor"], row["reason"] or ""))
        elif row["target"] in ENDED | {DEAD_LETTERED}:
            if found and not found[-1].ended_as:
                found[-1].ended_as = row["target"]
                found[-1].same_error = row["target"] == DEAD_LETTERED and before == row["fingerprint"] is not None
            before = row["fingerprint"]
    return found[::-1]


def _attempts(newest_first: list[Row]) -> list[Attempt]:
    attempts: list[Attempt] = []
    current: Attempt | None = None
    for row in reversed(newest_first):
        if row["target"] == "RUNNING":
            current = Attempt(len(attempts) + 1, row["run_started_at"] or row["at"], row["worker_id"] or row["actor"])
            attempts.append(current)
        elif row["source"] in {"RUNNING", "CANCEL_REQUESTED"} and row["target"] != "CANCEL_REQUESTED" and current:
            current.ended_at, current.ended_as = row["at"], row["target"] or ""
            current.error, current.failure_type = row["error"] or "", row["failure_type"] or ""
            current = None
    return attempts[::-1]


def worker(worker_id: str) -> Row | None:
    """Its worker in the registry; None for another program's."""
    return fetch_one("SELECT id, heartbeat_at, stopping, stopped_at FROM worker WHERE id = %(id)s", {"id": worker_id})


def silent_holders(tenant: str, type_: str, seconds: float) -> dict[str, int]:
    """How many of the jobs that fill the caps of this tenant and this type say nothing for so long."""
    row = fetch_one(
        """SELECT count(*) FILTER (WHERE "tenantId" = %(tenant)s AND NOT inline) AS tenant,
                  count(*) FILTER (WHERE type = %(type)s) AS type
             FROM "PlatformJob"
            WHERE status IN ('RUNNING', 'CANCEL_REQUESTED') AND id >= '' AND ("tenantId" = %(tenant)s OR type = %(type)s)
              AND coalesce("heartbeatAt", "startedAt", "queuedAt") < clock_timestamp() - make_interval(secs => %(secs)s)""",
        {"tenant": tenant, "type": type_, "secs": seconds},
    )
    return dict(row or {})


def log_lines(job_id: str) -> list[Row]:
    """The last lines that the handler wrote, oldest first."""
    rows = fetch(
        """SELECT at, left(level, 20) AS level, left(message, 500) AS message
             FROM job_log WHERE job_id = %(id)s ORDER BY id DESC LIMIT %(most)s""",
        {"id": job_id, "most": MOST_LINES},
    )
    return rows[::-1]


def copies(job_id: str) -> list[Row]:
    """The latest jobs that are copies of this one."""
    return fetch(
        f"""SELECT id, "queuedAt" AS at FROM "PlatformJob" WHERE "originId" = %(id)s AND {scope.only('"tenantId"')}
             ORDER BY "queuedAt" DESC LIMIT 5""",  # noqa: S608
        {"id": job_id} | scope.params(),
    )
