"""A worker of another program, in plain SQL as the Node program writes it: claims, reports and ends without our door."""

from typing import Any

import psycopg

# One statement: counts and takes in one snapshot, which is why its own cap is not exact.
CLAIM = """
UPDATE "PlatformJob"
   SET status = 'RUNNING', "startedAt" = NOW(), "heartbeatAt" = NOW(), "workerId" = %(worker)s
 WHERE id = (SELECT id FROM "PlatformJob" p
              WHERE status = 'QUEUED' AND ("nextRetryAt" IS NULL OR "nextRetryAt" <= NOW())
                AND (type != 'DISCOVER'
                     OR (SELECT COUNT(*) FROM "PlatformJob" WHERE status = 'RUNNING' AND type = 'DISCOVER') < 2)
                AND (SELECT COUNT(*) FROM "PlatformJob" o
                      WHERE o.status = 'RUNNING' AND o."tenantId" = p."tenantId" AND o.inline = false) < %(cap)s
              ORDER BY p.priority DESC, p."queuedAt" ASC
              FOR UPDATE SKIP LOCKED LIMIT 1)
RETURNING id
"""


class NodeWorker:
    """One process of the other program. Its id is `host:pid`, and nothing fences what it writes."""

    def __init__(self, connection: psycopg.Connection[Any], worker: str = "node-a1:77", cap: int = 4) -> None:
        self.connection, self.worker, self.cap = connection, worker, cap

    def sql(self, statement: str, **params: Any) -> Any:
        return self.connection.execute(statement, params)

    def paused(self) -> bool:
        found = self.sql("""SELECT value FROM "SystemConfig" WHERE key = 'queue.paused'""").fetchone()
        return found is not None and found[0] == "true"

    def claim(self) -> str | None:
        found = self.sql(CLAIM, worker=self.worker, cap=self.cap).fetchone()
        return found[0] if found else None

    def progress(self, id: str, percent: int, step: str) -> None:
        """Asks first whether it should stop; replaces the whole result."""
        (status,) = self.sql('SELECT status::text FROM "PlatformJob" WHERE id = %(id)s', id=id).fetchone()
        if status not in ("CANCELLED", "CANCEL_REQUESTED"):
            self.sql(
                """UPDATE "PlatformJob" SET progress = %(percent)s, "currentStep" = %(step)s::text,
                          result = jsonb_build_object('step', %(step)s::text), "heartbeatAt" = NOW() WHERE id = %(id)s""",
                id=id, percent=percent, step=step,
            )  # fmt: skip

    def checkpoint(self, id: str) -> None:
        self.sql(
            """UPDATE "PlatformJob" SET checkpoint = '{"visitedUrls": [], "pendingQueue": []}', "checkpointAt" = NOW()
                WHERE id = %(id)s""",
            id=id,
        )

    def done(self, id: str) -> None:
        """Keeps worker and heartbeat, as the source does."""
        self.sql(
            """UPDATE "PlatformJob" SET status = 'DONE', "finishedAt" = NOW(), progress = 100 WHERE id = %(id)s""",
            id=id,
        )

    def fail(self, id: str, error: str, kind: str, delay: int | None) -> None:
        """Two updates: the status, then the DLQ."""
        self.sql(
            f"""UPDATE "PlatformJob" SET status = '{"RETRY_WAIT" if delay else "FAILED"}', error = %(error)s,
                       "finishedAt" = NOW(), "heartbeatAt" = NULL, "workerId" = NULL,
                       "nextRetryAt" = NOW() + make_interval(secs => %(delay)s), "retryCount" = "retryCount" + 1,
                       "failureType" = '{kind}', result = '{{"failureType": "{kind}"}}' WHERE id = %(id)s""",
            id=id, error=error, delay=delay,
        )  # fmt: skip
        if delay is None or kind == "FATAL":
            self.sql(
                """UPDATE "PlatformJob" SET dlq = true, "dlqAt" = NOW(), "dlqReason" = %(error)s WHERE id = %(id)s""",
                id=id, error=error,
            )  # fmt: skip

    def cancel(self, id: str) -> None:
        self.sql("""UPDATE "PlatformJob" SET status = 'CANCEL_REQUESTED' WHERE id = %(id)s""", id=id)

    def insert(self, id: str, type: str, status: str = "QUEUED", inline: bool = False) -> None:
        """Names what its schema has, and the column that only it knows where there is one."""
        self.sql(
            f"""INSERT INTO "PlatformJob" (id, "tenantId", "projectId", type, name, status, config, inline, "startedAt")
                VALUES (%(id)s, 'acme', NULL, %(type)s, 'x', '{status}', '{{"tenantId": "acme"}}', %(inline)s,
                        CASE WHEN %(inline)s THEN NOW() END)""",
            id=id, type=type, inline=inline,
        )  # fmt: skip
