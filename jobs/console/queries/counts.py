"""How many jobs are in which state: from the counters that the triggers keep, never by counting the table."""

from jobs.console import scope
from jobs.console.queries.db import fetch
from jobs.console.queries.rollups import TYPES
from jobs.rows import Row

# The folded counters and what is not folded yet, as (tenant_id, type, state, n).
STATES = """
    SELECT tenant_id, type, state, n FROM tally_state
    UNION ALL
    SELECT tenant_id, type, to_state, n FROM tally_delta WHERE to_state IS NOT NULL
    UNION ALL
    SELECT tenant_id, type, from_state, -n FROM tally_delta WHERE from_state IS NOT NULL
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
