"""The roll-ups that the triggers keep, with what is not folded yet. A page reads nothing else about the past."""

LIVE = "('RUNNING', 'CANCEL_REQUESTED')"
FAILED = "('RETRY_WAIT', 'FAILED', 'DEAD_LETTERED')"

# Counters as (type, state, n).
TYPES = """
    SELECT type, state, n FROM tally_type
    UNION ALL
    SELECT type, to_state, n FROM tally_delta WHERE to_state IS NOT NULL
    UNION ALL
    SELECT type, from_state, -n FROM tally_delta WHERE from_state IS NOT NULL
"""

# Changes since `since` as (minute, type, from_state, to_state, bucket, n); '' for no state.
FLOW = """
    SELECT minute, type, from_state, to_state, bucket, n FROM tally_flow WHERE minute >= %(since)s
    UNION ALL
    SELECT minute, type, coalesce(from_state, ''), coalesce(to_state, ''), bucket, n
      FROM tally_delta WHERE minute >= %(since)s
"""

# What tenants got since `since` as (minute, tenant_id, started, seconds).
TENANTS = f"""
    SELECT minute, tenant_id, started, seconds FROM tally_tenant WHERE minute >= %(since)s
    UNION ALL
    SELECT minute, tenant_id, CASE WHEN to_state = 'RUNNING' THEN n ELSE 0 END,
           CASE WHEN from_state IN {LIVE} AND to_state IS DISTINCT FROM 'CANCEL_REQUESTED'
                THEN least(seconds, n * 900.0) ELSE 0 END
      FROM tally_delta WHERE minute >= %(since)s
"""  # noqa: S608  (constants)

# Failures since `since` in minutes, hours or days (`grain`), by cause: (at, type, failure_type, fingerprint, n, dead).
CAUSES = """
    SELECT at, type, failure_type, fingerprint, n, dead FROM failure_cause WHERE grain = %(grain)s AND at >= %(since)s
    UNION ALL
    SELECT at, type, failure_type, fingerprint, n, dead FROM failure_delta WHERE at >= %(since)s
"""

# The same by tenant: (at, type, failure_type, tenant_id, n, dead).
FAILING_TENANTS = """
    SELECT at, type, failure_type, tenant_id, n, dead FROM failure_tenant WHERE grain = %(grain)s AND at >= %(since)s
    UNION ALL
    SELECT at, type, failure_type, tenant_id, n, dead FROM failure_delta WHERE at >= %(since)s
"""
