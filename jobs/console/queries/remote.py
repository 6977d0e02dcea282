"""Job types that other services run, without their secrets."""

from jobs.console.queries.db import fetch
from jobs.rows import Row

_TYPES = """
SELECT t.type, t.url, t.first_answer_seconds, t.silence_seconds, t.longest_run_seconds, t.created_by, t.created_at,
       t.updated_by, t.updated_at, CASE WHEN t.previous_until > now() THEN t.previous_until END AS previous_until,
       detiq_type_running(t.type)::integer AS running,
       (SELECT count(*) FROM worker w
         WHERE t.type = ANY (w.types) AND w.stopped_at IS NULL AND NOT w.stopping
           AND w.heartbeat_at > now() - interval '1 minute')::integer AS workers,
       (SELECT max(r.heard_at) FROM remote_run r
         WHERE r.type = t.type AND r.created_at > now() - interval '1 day') AS heard_at
  FROM remote_type t
"""


def page() -> list[Row]:
    """All of them."""
    return fetch(f"{_TYPES} ORDER BY t.type LIMIT 500")


def find(name: str) -> Row | None:
    """One of them."""
    return next(iter(fetch(f"{_TYPES} WHERE t.type = %(type)s", {"type": name})), None)
