"""What a cap does: how many run and wait under it, what has been set before."""

import json

from jobs.conf import conf
from jobs.console.queries.counts import STATES
from jobs.console.queries.db import fetch, fetch_one
from jobs.queue.caps import Cap
from jobs.rows import Row

MOST_CHANGES = 20
MOST_TYPES = 300


def default(kind: str, name: str) -> int | None:
    """The cap of a tenant or type that has none of its own; None: unlimited."""
    if kind == "tenant":
        return conf().tenant_cap
    return type_defaults().get(name)


def type_defaults() -> dict[str, int]:
    """The caps of types that have one by default."""
    return {"DISCOVER": conf().discover_cap}


def running(kind: str, name: str) -> int:
    """What counts against the cap now: as the claim counts."""
    row = fetch_one(f"SELECT detiq_{'tenant' if kind == 'tenant' else 'type'}_running(%(name)s) AS n", {"name": name})  # noqa: S608
    return int(row["n"]) if row else 0


def waiting(kind: str, name: str) -> dict[str, int]:
    """How many are in each state, from the counters."""
    column = "tenant_id" if kind == "tenant" else "type"
    rows = fetch(
        f"SELECT state, sum(n)::bigint AS n FROM ({STATES}) c WHERE {column} = %(name)s GROUP BY 1 HAVING sum(n) > 0",  # noqa: S608
        {"name": name},
    )
    return {row["state"]: row["n"] for row in rows}


def changes(kind: str, name: str) -> list[Row]:
    """What was in force before and since when, newest first, with who set it."""
    rows = fetch(
        """SELECT at, row ->> 'cap' AS cap, coalesce(row ->> 'unlimited', 'false') = 'true' AS unlimited,
                  left(row ->> 'updated_by', 300) AS by, (row ->> 'ends_at')::timestamptz AS ends_at,
                  (row ->> 'weight')::integer AS weight, row IS NULL AS removed
             FROM gate_history WHERE source = %(source)s AND key = %(name)s ORDER BY id DESC LIMIT %(most)s""",
        {"source": f"{kind}_setting", "name": name, "most": MOST_CHANGES},
    )
    for row in rows:
        row["cap"] = Cap(None if row["cap"] is None else int(row["cap"]), row["unlimited"]).word
    return rows


def types() -> list[Row]:
    """Every type that has jobs or a setting: counts, runs, cap in force, longest run."""
    return fetch(
        f"""SELECT t.type, coalesce(c.queued, 0)::bigint AS queued, coalesce(c.retry_wait, 0)::bigint AS retry_wait,
                   coalesce(c.dead, 0)::bigint AS dead, coalesce(c.total, 0)::bigint AS total, coalesce(r.n, 0) AS running,
                   detiq_type_cap(t.type, %(caps)s::jsonb) AS cap, s.max_run_seconds, s.ends_at,
                   s.cap IS NOT NULL OR s.unlimited OR s.ends_at IS NOT NULL AS own, count(*) OVER () AS types
              FROM (SELECT type FROM tally_state GROUP BY 1 UNION SELECT type FROM tally_delta UNION
                    SELECT type FROM type_setting UNION SELECT jsonb_object_keys(%(caps)s::jsonb)) t
              LEFT JOIN (SELECT type, sum(n) FILTER (WHERE state = 'QUEUED') AS queued,
                                sum(n) FILTER (WHERE state = 'RETRY_WAIT') AS retry_wait,
                                sum(n) FILTER (WHERE state = 'DEAD_LETTERED') AS dead, sum(n) AS total
                           FROM ({STATES}) x GROUP BY 1) c ON c.type = t.type
              LEFT JOIN (SELECT type, count(*) AS n FROM "PlatformJob"
                          WHERE status IN ('RUNNING', 'CANCEL_REQUESTED') GROUP BY 1) r ON r.type = t.type
              LEFT JOIN type_setting s ON s.type = t.type
             ORDER BY coalesce(c.queued, 0) + coalesce(r.n, 0) DESC, t.type LIMIT {MOST_TYPES}""",  # noqa: S608
        {"caps": json.dumps(type_defaults())},
    )
