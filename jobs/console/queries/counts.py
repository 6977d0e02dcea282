"""How many jobs are in which state: from the counters that the triggers keep, never by counting the table."""

from jobs.console import scope
from jobs.console.queries.db import Row, fetch
from jobs.console.queries.rollups import TYPES

# The folded counters and what is not folded yet, as (tenant_id, type, state, n).
STATES = """
    SELECT tenant_id, type, state, n FROM tally_state
    UNION ALL
    SELECT tenant_id, type, to_state, n FROM tally_delta WHERE to_state IS NOT NULL
    UNION ALL
    SELECT tenant_id, type, from_state, -n FROM tally_delta WHERE from_state IS NOT NULL
"""

# The changes since `since`, as (minute, tenant_id, type, from_state, to_state, failure_type, n); '' for none.
CHANGES = """
    SELECT minute, tenant_id, type, from_state, to_state, failure_type, n
      FROM tally_minute WHERE minute >= %(since)s
    UNION ALL
    SELECT minute, tenant_id, type, coalesce(from_state, ''), coalesce(to_state, ''), coalesce(failure_type, ''), n
      FROM tally_delta WHERE minute >= %(since)s
"""


def by_state(type_: str = "", tenant: str = "") -> dict[str, int]:
    """Exact counts of each state that occurs, of one type or tenant if named, for the tenants that may be seen."""
    of_tenants = f"AND (%(tenant)s = '' OR tenant_id = %(tenant)s) AND {scope.only('tenant_id')}"
    source, narrower = (STATES, of_tenants) if tenant or scope.limited() else (TYPES, "")
    rows = fetch(
        f"""SELECT state, sum(n)::bigint AS n FROM ({source}) c
             WHERE (%(type)s = '' OR type = %(type)s) {narrower}
             GROUP BY state HAVING sum(n) > 0""",  # noqa: S608  (no value is in the text)
        {"type": type_, "tenant": tenant} | scope.params(),
    )
    return {row["state"]: row["n"] for row in rows}


def by_type_and_state() -> list[Row]:
    """Exact counts by type and state."""
    return fetch(
        f"SELECT type, state, sum(n)::bigint AS n FROM ({TYPES}) c GROUP BY 1, 2 HAVING sum(n) > 0"  # noqa: S608
    )


def queued_in(type_: str | None, tenant: str | None) -> int:
    """How many wait in this scope; None means all."""
    rows = fetch(
        f"""SELECT coalesce(sum(n), 0)::bigint AS n FROM ({STATES}) c
             WHERE state = 'QUEUED' AND (%(type)s::text IS NULL OR type = %(type)s)
               AND (%(tenant)s::text IS NULL OR tenant_id = %(tenant)s)""",  # noqa: S608
        {"type": type_, "tenant": tenant},
    )
    return max(0, int(rows[0]["n"]))
