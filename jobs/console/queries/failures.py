"""Failed runs over a time: counted by type, failure type and tenant from the roll-ups, and the runs themselves."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from django.http import QueryDict

from jobs.console import scope
from jobs.console.paging import Cursor, Page, cut, storable
from jobs.console.queries import groups
from jobs.console.queries.db import TooSlow, database_now, fetch, fetch_one, limited, planned
from jobs.console.queries.groups import SPANS, GroupLine, Span
from jobs.console.queries.overview.sharing import Shared
from jobs.console.queries.rollups import CAUSES, FAILING_TENANTS
from jobs.rows import Row

# Causes shown at first.
FEW_GROUPS = 15
MOST_TYPES = 40
MOST_TENANTS = 12
PAGE = 50
MOST_COUNTED = 10_000
COUNT_SECONDS = 1.0
LONGEST = 300
ENDS = ("dead",)
# What stands in an address for "no failure type": the empty text would mean any.
UNCLASSIFIED = "-"


@dataclass(frozen=True)
class FailureFilter:
    """What the failure pages are narrowed to; empty means all. `failure` None: any; empty: unclassified.

    `since` and `until` pin a time, so that a number's link shows the rows that it counted; else the span ends now.
    """

    span: Span = SPANS["24h"]
    type: str = ""
    failure: str | None = None
    tenant: str = ""
    group: str = ""
    end: str = ""
    since: datetime | None = None
    until: datetime | None = None
    ignored: tuple[str, ...] = ()

    @classmethod
    def parse(cls, query: QueryDict) -> "FailureFilter":
        """Reads an address. What cannot be used is named in `ignored`, and left out."""
        ignored: list[str] = []
        texts = {name: _text(query, name, ignored) for name in ("type", "failure", "tenant", "group")}
        span = query.get("span", "24h")
        if span not in SPANS:
            ignored.append("span")
        end = query.get("end", "")
        if end and end not in ENDS:
            ignored.append("end")
        times = {name: _moment(query, name, ignored) for name in ("from", "to")}
        failure = texts["failure"]
        return cls(
            span=SPANS.get(span, SPANS["24h"]),
            type=texts["type"],
            failure=("" if failure == UNCLASSIFIED else failure) if failure else None,
            tenant=texts["tenant"],
            group=texts["group"],
            end=end if end in ENDS else "",
            since=times["from"],
            until=times["to"],
            ignored=tuple(ignored),
        )

    def params(self) -> dict[str, str]:
        """The filter as parameters of an address."""
        failure = UNCLASSIFIED if self.failure == "" else self.failure or ""
        found = {"type": self.type, "failure": failure, "tenant": self.tenant, "group": self.group, "end": self.end}
        kept = {name: value for name, value in found.items() if value}
        for name, at in (("from", self.since), ("to", self.until)):
            if at:
                kept[name] = at.astimezone(UTC).isoformat().replace("+00:00", "Z")
        return {"span": self.span.key} | kept

    def but(self, **changes: Any) -> "FailureFilter":
        """The same filter, changed."""
        return replace(self, **changes)

    def pinned(self, now: datetime) -> "FailureFilter":
        """The same with its time written out."""
        return replace(self, since=self.since or self.span.since(now), until=self.until or now)

    @property
    def narrowed(self) -> bool:
        """Is it narrowed to anything but a time?"""
        return bool(self.type or self.failure is not None or self.tenant or self.group)


def _text(query: QueryDict, name: str, ignored: list[str]) -> str:
    value = query.get(name, "")
    if value and (len(value) > LONGEST or not storable(value)):
        ignored.append(name)
        return ""
    return value


def _moment(query: QueryDict, name: str, ignored: list[str]) -> datetime | None:
    value = query.get(name, "")
    if not value:
        return None
    try:
        found = datetime.fromisoformat(value[:40])
    except ValueError:
        ignored.append(name)
        return None
    if not 2000 <= found.year <= 9000:
        ignored.append(name)
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


# --- Counted -----------------------------------------------------------------------------------------------------------


@dataclass
class Line:
    """A row of a table of counts: failed runs by failure type. `other`: the rest, as one line."""

    name: str
    kinds: dict[str, int] = field(default_factory=dict)
    dead: int = 0
    other: bool = False

    @property
    def n(self) -> int:
        """Over all failure types."""
        return sum(self.kinds.values())


@dataclass(frozen=True)
class Table:
    """Counts by line and failure type; `total` is that of all lines, also of those that `more` says are left out."""

    kinds: list[str]
    lines: list[Line]
    total: Line
    more: int = 0


@dataclass(frozen=True)
class Tables:
    """Causes and both tables of one moment, by the database's clock. `states`: how many causes are in which state."""

    at: datetime
    types: Table
    tenants: Table
    causes: list[GroupLine]
    states: dict[str, int]


def tables(filter_: FailureFilter, states: list[str] | None = None, most: int = FEW_GROUPS) -> Tables:
    """The tables of a filter, and `most` of its causes in these states. Those of everything are read once for all who look,
    and are a second or two old. Raises `TooSlow`."""
    if filter_.narrowed or scope.limited() or states or most != FEW_GROUPS:
        return _read(filter_, states, most)
    return _of_everything[filter_.span.key].get()


def _read(filter_: FailureFilter, states: list[str] | None = None, most: int = FEW_GROUPS) -> Tables:
    # The roll-ups of 90 days lie in one table; the planner takes the last day for a tenth of them.
    with limited(), planned(seqscan=False):
        now = database_now()
        causes = groups.of_span(
            filter_.span,
            now,
            most=most,
            type_=filter_.type,
            failure=filter_.failure,
            tenant=filter_.tenant,
            states=states,
        )
        counted = {} if scope.limited() else groups.count_by_state(filter_.span, now)
        return Tables(now, by_type(filter_, now), by_tenant(filter_, now), causes, counted)


_of_everything = {
    key: Shared(partial(_read, FailureFilter(span=span)), longest=2.0, ahead=0.5) for key, span in SPANS.items()
}


def by_type(filter_: FailureFilter, now: datetime) -> Table:
    """Job type × failure type."""
    source, clause = (FAILING_TENANTS, "tenant_id = %(tenant)s") if filter_.tenant else (CAUSES, "true")
    if scope.limited():  # the counts by cause know no tenants
        source, clause = FAILING_TENANTS, "(%(tenant)s = '' OR tenant_id = %(tenant)s)"
    return _table(_count(source, "type", clause, filter_, now, MOST_TYPES), MOST_TYPES)


def by_tenant(filter_: FailureFilter, now: datetime) -> Table:
    """Tenant × failure type."""
    clause = "(%(tenant)s = '' OR tenant_id = %(tenant)s)"
    return _table(_count(FAILING_TENANTS, "tenant_id", clause, filter_, now, MOST_TENANTS), MOST_TENANTS)


def _count(source: str, by: str, clause: str, filter_: FailureFilter, now: datetime, most: int) -> list[Row]:
    """The counts of the `most` largest names, and those of all others under the name NULL."""
    if source is FAILING_TENANTS:
        clause += f" AND {scope.only('tenant_id')}"
    return fetch(
        f"""WITH counted AS MATERIALIZED (
                SELECT {by} AS name, failure_type, sum(n)::bigint AS n, sum(dead)::bigint AS dead FROM ({source}) c
                 WHERE {clause} AND (%(type)s = '' OR type = %(type)s)
                   AND (%(failure)s::text IS NULL OR failure_type = %(failure)s)
                 GROUP BY 1, 2
            ), placed AS (
                SELECT name, row_number() OVER (ORDER BY sum(n) DESC, sum(dead) DESC, name COLLATE "C") AS place,
                       count(*) OVER () AS lines
                  FROM counted GROUP BY 1
            )
            SELECT CASE WHEN place <= %(most)s THEN name END AS name, failure_type,
                   sum(n)::bigint AS n, sum(dead)::bigint AS dead, min(place) AS place, max(lines) AS lines
              FROM counted JOIN placed USING (name) GROUP BY 1, 2 ORDER BY place""",  # noqa: S608  (constants)
        {"grain": filter_.span.grain, "since": filter_.span.since(now), "type": filter_.type,
         "failure": filter_.failure, "tenant": filter_.tenant, "most": most} | scope.params(),
    )  # fmt: skip


def _table(rows: list[Row], most: int) -> Table:
    lines: dict[str, Line] = {}
    total = Line("")
    for row in rows:
        name = row["name"]
        for one in (total,) if name is None else (total, lines.setdefault(name, Line(name))):
            one.dead += row["dead"]
            if row["n"]:
                one.kinds[row["failure_type"]] = one.kinds.get(row["failure_type"], 0) + row["n"]
    kinds = sorted(total.kinds, key=lambda kind: (-total.kinds[kind], kind))
    more = max(0, rows[0]["lines"] - most) if rows else 0
    return Table(kinds, list(lines.values()), total, more)


# --- The runs ----------------------------------------------------------------------------------------------------------


def runs(filter_: FailureFilter, after: Cursor | None, before: Cursor | None) -> Page:
    """One page of failed runs, newest first, with a pinned time. Raises `TooSlow`."""
    clause, params = _where(filter_)
    order = "at DESC, id DESC"
    cursor = before or after
    if cursor and cursor.id.isascii() and cursor.id.isdigit():
        clause += f" AND (at, id) {'>' if before else '<'} (%(at)s::timestamptz, %(id)s::bigint)"
        params |= {"at": cursor.at, "id": cursor.id}
        order = "at, id" if before else order
    sql = f"""SELECT id, at::timestamptz::text AS cursor_at, at, job_id, left(tenant_id, 300) AS tenant_id,
                     left(type, 200) AS type, from_status, to_status, to_dlq, retry_count,
                     left(failure_type, 100) AS failure_type, left(detail ->> 'error', 300) AS error, run_started_at,
                     left(worker_id, 200) AS worker_id
                FROM job_history WHERE {clause} ORDER BY {order} LIMIT {PAGE + 1}"""  # noqa: S608  (no value is in the text)
    with limited():
        return cut(fetch(sql, params), PAGE, after=after, before=before)


def count_runs(filter_: FailureFilter) -> int | None:
    """How many there are, counted up to `MOST_COUNTED`; None when that takes too long."""
    clause, params = _where(filter_)
    try:
        with limited(COUNT_SECONDS):
            row = fetch_one(
                f"SELECT count(*) AS n FROM (SELECT 1 FROM job_history WHERE {clause} LIMIT {MOST_COUNTED}) r",  # noqa: S608
                params,
            )
    except TooSlow:
        return None
    return int(row["n"]) if row else 0


def _where(filter_: FailureFilter) -> tuple[str, dict[str, Any]]:
    """The rows of the history that a filter counts; each clause fits an index that holds failures alone."""
    parts = ["to_status IN ('RETRY_WAIT', 'FAILED')", scope.only("tenant_id")]
    params: dict[str, Any] = dict(scope.params())
    if filter_.end == "dead":
        parts.append("to_status = 'FAILED' AND to_dlq AND from_status IS NOT NULL")
    else:
        parts.append("from_status IN ('RUNNING', 'CANCEL_REQUESTED')")
    if filter_.type:
        parts.append("type = %(type)s")
    if filter_.failure is not None:
        parts.append("coalesce(left(failure_type, 100), '') = %(failure)s")
    if filter_.tenant:
        parts.append("tenant_id = %(tenant)s")
    if filter_.group:
        parts.append("detiq_group(type, fingerprint, left(detail ->> 'error', 2000)) = %(group)s")
    for name, sign in (("since", ">="), ("until", "<=")):
        if getattr(filter_, name):
            parts.append(f"at {sign} %({name}_at)s")
            params[f"{name}_at"] = getattr(filter_, name)
    names = {"type": filter_.type, "failure": filter_.failure, "tenant": filter_.tenant, "group": filter_.group}
    return " AND ".join(parts), params | names
