"""Failure groups: lists of them, and one of them. From the roll-ups alone; no statement here reads the jobs."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from jobs.console import scope
from jobs.console.queries.db import fetch, fetch_one
from jobs.console.queries.rollups import CAUSES
from jobs.domain.groups import OPEN
from jobs.rows import Row

MOST_TENANTS = 1_000
SPARK_HOURS = 24
# A group is more than usual from so many failures on, when they are so many times the usual.
FEWEST_UNUSUAL = 10
UNUSUAL = 3.0


@dataclass(frozen=True)
class Span:
    """A time that a page shows, ending now. `grain` is what it is read from, and what its beginning is rounded down to."""

    key: str
    words: str
    length: timedelta
    grain: str

    def since(self, now: datetime) -> datetime:
        """When it begins (UTC)."""
        start = now - self.length
        if self.grain == "m":
            return start.replace(second=0, microsecond=0)
        if self.grain == "h":
            return start.replace(minute=0, second=0, microsecond=0)
        return start.replace(hour=0, minute=0, second=0, microsecond=0)


SPANS = {
    span.key: span
    for span in (
        Span("1h", "1 h", timedelta(hours=1), "m"),
        Span("24h", "24 h", timedelta(hours=24), "h"),
        Span("7d", "7 d", timedelta(days=7), "h"),
        Span("30d", "30 d", timedelta(days=30), "d"),
    )
}


@dataclass
class GroupLine:
    """A group in a list. `n`, `dead`, `tenants` are of the span; `usual` is of as long a time, before it; None: unknown."""

    fingerprint: str
    type: str
    failure_type: str
    sample: str
    state: str
    owner: str
    first_at: datetime
    last_at: datetime
    n: int
    dead: int
    tenants: int = 0
    usual: float | None = None
    hours: list[int] = field(default_factory=list)

    @property
    def open(self) -> bool:
        """Does it need somebody?"""
        return self.state in OPEN

    @property
    def unusual(self) -> bool:
        """Clearly more than usual."""
        return self.usual is not None and self.n >= FEWEST_UNUSUAL and self.n > UNUSUAL * self.usual


_COUNTED = f"""
SELECT fingerprint, sum(n)::bigint AS n, sum(dead)::bigint AS dead, min(type) AS type, min(failure_type) AS failure_type,
       min(at) AS first_at, max(at) AS last_at
  FROM ({CAUSES}) c
 WHERE (%(type)s = '' OR type = %(type)s) AND (%(failure)s::text IS NULL OR failure_type = %(failure)s)
 GROUP BY 1 HAVING sum(n) > 0 OR sum(dead) > 0
"""  # noqa: S608

# What is not folded yet has no group yet: it is new.
_LINES = """
SELECT c.fingerprint, coalesce(g.type, c.type) AS type, coalesce(g.failure_type, c.failure_type) AS failure_type,
       left(coalesce(g.sample, d.sample, ''), 300) AS sample, coalesce(g.state, 'NEW') AS state,
       coalesce(g.owner, '') AS owner,
       coalesce(g.first_at, c.first_at) AS first_at, coalesce(g.last_at, c.last_at) AS last_at, c.n, c.dead,
       count(*) OVER () AS total
  FROM ({counted}) c
  LEFT JOIN failure_group g USING (fingerprint)
  LEFT JOIN LATERAL (SELECT sample FROM failure_delta d WHERE d.fingerprint = c.fingerprint AND g.fingerprint IS NULL
                      LIMIT 1) d ON true
 WHERE %(states)s::text[] IS NULL OR coalesce(g.state, 'NEW') = ANY (%(states)s)
 ORDER BY (coalesce(g.state, 'NEW') IN ('NEW', 'REGRESSED')) DESC, c.n DESC, c.dead DESC, c.fingerprint
 LIMIT %(most)s
"""

_OF_TENANTS = """
SELECT fingerprint, sum(n)::bigint AS n, 0::bigint AS dead, '' AS type, '' AS failure_type, min(first_at) AS first_at,
       max(last_at) AS last_at
  FROM failure_group_tenant
 WHERE (%(tenant)s = '' OR tenant_id = %(tenant)s) AND last_at >= %(since)s AND {seen}
 GROUP BY 1
"""

# What others wrote of a group, and its sample, may name tenants that are not to be seen: theirs is their own latest error.
_LINES_OF_SOME = """
SELECT c.fingerprint, g.type, g.failure_type, left(coalesce(h.error, ''), 300) AS sample, g.state, '' AS owner,
       c.first_at, c.last_at, c.n, c.dead, count(*) OVER () AS total
  FROM ({counted}) c
  JOIN failure_group g USING (fingerprint)
  LEFT JOIN LATERAL (SELECT detail ->> 'error' AS error FROM job_history
                      WHERE detiq_group(type, fingerprint, left(detail ->> 'error', 2000)) = c.fingerprint AND {seen}
                        AND to_status IN ('RETRY_WAIT', 'FAILED') AND at >= %(since)s
                      ORDER BY at DESC, id DESC LIMIT 1) h ON true
 WHERE (%(states)s::text[] IS NULL OR g.state = ANY (%(states)s))
   AND (%(type)s = '' OR g.type = %(type)s) AND (%(failure)s::text IS NULL OR g.failure_type = %(failure)s)
 ORDER BY (g.state IN ('NEW', 'REGRESSED')) DESC, c.n DESC, c.fingerprint
 LIMIT %(most)s
"""


def of_span(
    span: Span,
    now: datetime,
    *,
    most: int,
    type_: str = "",
    failure: str | None = None,
    tenant: str = "",
    states: list[str] | None = None,
) -> list[GroupLine]:
    """The groups that failed in a span: new and regressed ones first, then those that failed most.

    With a tenant: those that hit it in the span, counted for it from their first failure on. Likewise for the tenants of
    somebody limited to some; what is only known over all tenants (hours, what is usual) is then left out.
    """
    params = {"grain": span.grain, "since": span.since(now), "type": type_, "failure": failure, "tenant": tenant,
              "most": most, "states": states} | scope.params()  # fmt: skip
    seen = scope.only("tenant_id")
    counted = _OF_TENANTS.format(seen=seen) if tenant or scope.limited() else _COUNTED
    rows = fetch((_LINES_OF_SOME if scope.limited() else _LINES).format(counted=counted, seen=seen), params)
    lines = [GroupLine(**{name: row[name] for name in row if name != "total"}) for row in rows]
    _complete(lines, span, now)
    return lines


def _complete(lines: list[GroupLine], span: Span, now: datetime) -> None:
    """Adds tenants, the last day's hours, and what is usual."""
    names = [line.fingerprint for line in lines]
    hit = _tenants(names, span.since(now))
    if scope.limited():
        for line in lines:
            line.tenants = hit.get(line.fingerprint, 0)
        return
    sparks = hours(names, now)
    usual = _usual(names, span, now)
    for line in lines:
        line.tenants = hit.get(line.fingerprint, 0)
        line.hours = sparks[line.fingerprint]
        line.usual = usual.get(line.fingerprint)


def _tenants(names: list[str], since: datetime) -> dict[str, int]:
    rows = fetch(
        f"""SELECT f.name, t.n FROM unnest(%(names)s::text[]) AS f (name)
            CROSS JOIN LATERAL (
                  SELECT count(*) AS n FROM (SELECT tenant_id FROM failure_group_tenant
                                              WHERE fingerprint = f.name AND last_at >= %(since)s
                                                AND {scope.only("tenant_id")}
                                              LIMIT %(most)s) x) t""",  # noqa: S608
        {"names": names, "since": since, "most": MOST_TENANTS} | scope.params(),
    )
    found = {row["name"]: row["n"] for row in rows}
    fresh = fetch(
        f"""SELECT fingerprint, array_agg(DISTINCT tenant_id) AS tenants FROM failure_delta
            WHERE fingerprint = ANY (%(names)s) AND n > 0 AND {scope.only("tenant_id")} GROUP BY 1""",  # noqa: S608
        {"names": names} | scope.params(),
    )
    for row in fresh:  # not folded yet: at least those
        found[row["fingerprint"]] = max(found.get(row["fingerprint"], 0), len(row["tenants"]))
    return found


def hours(names: list[str], now: datetime) -> dict[str, list[int]]:
    """Failed runs of each of the last 24 hours, the running one last."""
    first = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=SPARK_HOURS - 1)
    found: dict[str, list[int]] = defaultdict(lambda: [0] * SPARK_HOURS)
    rows = fetch(
        """SELECT fingerprint, date_trunc('hour', at, 'UTC') AS at, sum(n)::bigint AS n
             FROM (SELECT fingerprint, at, n FROM failure_cause
                    WHERE fingerprint = ANY (%(names)s) AND grain = 'h' AND at >= %(since)s
                    UNION ALL
                   SELECT fingerprint, at, n FROM failure_delta WHERE fingerprint = ANY (%(names)s) AND at >= %(since)s) c
            GROUP BY 1, 2""",
        {"names": names, "since": first},
    )
    for row in rows:
        place = int((row["at"] - first).total_seconds() // 3600)
        if 0 <= place < SPARK_HOURS:
            found[row["fingerprint"]][place] = row["n"]
    return found


def _usual(names: list[str], span: Span, now: datetime) -> dict[str, float]:
    """How often these fail in as long a time: of the seven days before the span, those since their first failure.

    Only for groups that are known for a day longer than the span.
    """
    until = span.since(now)
    since = until - timedelta(days=7)
    grain = "d" if span.grain == "d" else "h"
    rows = fetch(
        """SELECT g.fingerprint, g.first_at,
                  (SELECT coalesce(sum(n), 0)::bigint FROM failure_cause c
                    WHERE c.fingerprint = g.fingerprint AND c.grain = %(grain)s
                      AND c.at >= %(since)s AND c.at < %(until)s) AS n
             FROM failure_group g WHERE g.fingerprint = ANY (%(names)s) AND g.first_at < %(known)s""",
        {"names": names, "since": since, "until": until, "grain": grain, "known": until - timedelta(days=1)},
    )
    return {row["fingerprint"]: row["n"] * (span.length / (until - max(row["first_at"], since))) for row in rows}


# --- One group ---------------------------------------------------------------------------------------------------------


def find(fingerprint: str) -> Row | None:
    """A group, or None. One that is not folded yet is found too, as new."""
    row = fetch_one(
        """SELECT fingerprint, left(type, 300) AS type, failure_type, sample, job_id, first_at, last_at, n, dead, state,
                  owner, note, changed_at, changed_by, true AS folded
             FROM failure_group WHERE fingerprint = %(fingerprint)s""",
        {"fingerprint": fingerprint},
    )
    return row or fetch_one(
        """SELECT fingerprint, left(min(type), 300) AS type, min(failure_type) AS failure_type, min(sample) AS sample,
                  min(job_id) AS job_id, min(at) AS first_at, max(at) AS last_at, sum(n)::bigint AS n,
                  sum(dead)::bigint AS dead, 'NEW' AS state, '' AS owner, '' AS note, NULL::timestamptz AS changed_at,
                  '' AS changed_by, false AS folded
             FROM failure_delta WHERE fingerprint = %(fingerprint)s GROUP BY 1""",
        {"fingerprint": fingerprint},
    )


def tenants(fingerprint: str, most: int) -> list[Row]:
    """The tenants that a group hit most, with how many there are (counted up to 1,000)."""
    return fetch(
        """SELECT left(tenant_id, 300) AS tenant_id, n, first_at, last_at, count(*) OVER () AS total
             FROM (SELECT * FROM failure_group_tenant WHERE fingerprint = %(fingerprint)s ORDER BY last_at DESC
                    LIMIT %(limit)s) t
            ORDER BY n DESC, tenant_id LIMIT %(most)s""",
        {"fingerprint": fingerprint, "limit": MOST_TENANTS, "most": most},
    )


def changes(fingerprint: str, most: int = 50) -> list[Row]:
    """What was said of a group, newest first."""
    return fetch(
        """SELECT id, at, from_state, to_state, left(actor, 300) AS actor, left(reason, 2000) AS reason
             FROM failure_group_change WHERE fingerprint = %(fingerprint)s ORDER BY id DESC LIMIT %(most)s""",
        {"fingerprint": fingerprint, "most": most},
    )


def count_by_state(span: Span, now: datetime) -> dict[str, int]:
    """How many groups that failed in a span are in which state."""
    rows = fetch(
        """SELECT state, count(*) AS n FROM failure_group WHERE last_at >= %(since)s GROUP BY 1""",
        {"since": span.since(now)},
    )
    return {row["state"]: row["n"] for row in rows}


def days(fingerprint: str, now: datetime, length: int = 30) -> list[tuple[datetime, int]]:
    """Failed runs of each of the last days (UTC), today last."""
    first = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=length - 1)
    rows = fetch(
        """SELECT date_trunc('day', at, 'UTC') AS at, sum(n)::bigint AS n
             FROM (SELECT at, n FROM failure_cause
                    WHERE fingerprint = %(fingerprint)s AND grain = 'd' AND at >= %(since)s
                    UNION ALL
                   SELECT at, n FROM failure_delta WHERE fingerprint = %(fingerprint)s AND at >= %(since)s) c
            GROUP BY 1""",
        {"fingerprint": fingerprint, "since": first},
    )
    found = {row["at"]: row["n"] for row in rows}
    return [(day, found.get(day, 0)) for day in (first + timedelta(days=step) for step in range(length))]
