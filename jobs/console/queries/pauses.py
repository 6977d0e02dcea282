"""Pauses of the past."""

from jobs.console.queries.db import Row, fetch
from jobs.models.pause import scope_words

MOST = 100


def ended() -> list[Row]:
    """The pauses that no longer hold anything, newest first."""
    rows = fetch(
        """SELECT id, left(type, 200) AS type, left(tenant_id, 300) AS tenant_id, left(project_id, 300) AS project_id,
                  left(reason, 1000) AS reason, left(owner, 300) AS owner, created_at, ends_at, lifted_at,
                  left(lifted_by, 300) AS lifted_by, left(lift_reason, 1000) AS lift_reason,
                  coalesce(lifted_at, ends_at) AS ended_at
             FROM queue_pause
            WHERE lifted_at IS NOT NULL OR ends_at <= clock_timestamp()
            ORDER BY coalesce(lifted_at, ends_at) DESC, id DESC LIMIT %(most)s""",
        {"most": MOST},
    )
    for row in rows:
        row["scope"] = scope_words(row["type"], row["tenant_id"], row["project_id"])
    return rows
