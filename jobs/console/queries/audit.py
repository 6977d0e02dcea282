"""The audit trail: pages, one entry, and rows for a file. Every read is bounded; secrets are masked by their keys."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from jobs.conf import conf
from jobs.console.filters import like, moment
from jobs.console.paging import Cursor, Page, cut, storable
from jobs.console.queries.db import fetch, fetch_one
from jobs.domain.masking import mask
from jobs.rows import Row

PAGE = 50
LONGEST = 300
# Filter → what the page calls it.
WORDS = {
    "actor": "who",
    "action": "what",
    "target": "to what",
    "tenant": "tenant",
    "text": "has",
    "from": "from",
    "to": "until",
}
_CLAUSES = {
    "actor": "actor = %(actor)s",
    "action": "action = %(action)s",
    # An entry about several jobs names them in what was before.
    "target": "(target = %(target)s OR before ? %(target)s)",
    "tenant": "tenant_id = %(tenant)s",
    "text": "(reason ILIKE %(text)s OR target ILIKE %(text)s OR after::text ILIKE %(text)s)",
    "from": "at >= %(from)s",
    "to": "at <= %(to)s",
}


@dataclass(frozen=True)
class AuditFilter:
    """What the trail is narrowed to. `ignored` names what could not be used."""

    texts: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()

    @classmethod
    def parse(cls, query: QueryDict) -> "AuditFilter":
        texts, ignored = {}, []
        for name in _CLAUSES:
            value = query.get(name, "").strip()
            if not value:
                continue
            fits = (
                len(value) <= LONGEST and storable(value) and (name not in ("from", "to") or moment(value) is not None)
            )
            if fits:
                texts[name] = value
            else:
                ignored.append(name)
        return cls(texts, tuple(ignored))

    def without(self, name: str) -> dict[str, str]:
        """The other parts."""
        return {key: value for key, value in self.texts.items() if key != name}

    def where(self) -> tuple[str, dict[str, Any]]:
        """The clause and its parameters."""
        clause = " AND ".join(["true", *(_CLAUSES[name] for name in self.texts)])
        params: dict[str, Any] = dict(self.texts)
        for name in ("from", "to"):
            if name in params:
                params[name] = moment(params[name])
        if "text" in params:
            params["text"] = like(params["text"])
        return clause, params


def page(filter_: AuditFilter, after: Cursor | None, before: Cursor | None) -> Page:
    """Entries, newest first."""
    clause, params = filter_.where()
    order = "at DESC, id DESC"
    cursor = before or after
    if cursor and cursor.id.isascii() and cursor.id.isdigit() and len(cursor.id) < 19:
        clause += f" AND (at, id) {'>' if before else '<'} (%(cursor_at)s::timestamptz, %(cursor_id)s::bigint)"
        params |= {"cursor_at": cursor.at, "cursor_id": cursor.id}
        order = "at, id" if before else order
    rows = fetch(
        f"""SELECT id, at::text AS cursor_at, at, left(actor, 300) AS actor, left(action, 100) AS action,
                   left(target, 500) AS target, left(tenant_id, 300) AS tenant_id, left(reason, 2000) AS reason,
                   left(numbers::text, 1000) AS numbers, left(address, 100) AS address, operation_id
              FROM audit_entry WHERE {clause} ORDER BY {order} LIMIT {PAGE + 1}""",  # noqa: S608
        params,
    )
    return cut(rows, PAGE, after=after, before=before)


def find(entry_id: int) -> Row | None:
    """One entry, whole."""
    row = fetch_one(
        """SELECT id, at, actor, action, left(target, 4000) AS target, tenant_id, reason, address, user_agent, operation_id,
                  left(filter::text, 200000) AS filter, left(numbers::text, 20000) AS numbers,
                  left(before::text, 200000) AS before, left(after::text, 200000) AS after
             FROM audit_entry WHERE id = %(id)s""",
        {"id": entry_id},
    )
    if row is not None:
        for name in ("filter", "numbers", "before", "after"):
            row[name] = _shown(row[name])
    return row


def _shown(text: str | None) -> Any:
    if text is None:
        return None
    try:
        return mask(json.loads(text), conf().masked_keys)
    except (ValueError, RecursionError):
        return "too long to be shown"


def actions() -> list[str]:
    """What the latest entries say was done, for the filter."""
    rows = fetch(
        """SELECT DISTINCT left(action, 100) AS action
             FROM (SELECT action FROM audit_entry ORDER BY at DESC, id DESC LIMIT 5000) a ORDER BY 1"""
    )
    return [row["action"] for row in rows]


def existing(ids: list[str]) -> set[str]:
    """Which of these ids are jobs, in the queue or in the trash."""
    rows = fetch(
        """SELECT id FROM "PlatformJob" WHERE id = ANY (%(ids)s)
            UNION SELECT job_id FROM job_trash WHERE job_id = ANY (%(ids)s)""",
        {"ids": ids},
    )
    return {row["id"] for row in rows}


NAMES = ("id", "at", "actor", "action", "target", "tenant", "reason", "filter", "numbers", "before", "after", "address",
         "user_agent", "operation")  # fmt: skip


def rows(filter_: AuditFilter, after: int | None, most: int) -> list[Row]:
    """The next rows for a file, newest first, by id: entries are only ever added."""
    clause, params = filter_.where()
    found = fetch(
        f"""SELECT id, at::text AS at, actor, action, target, tenant_id AS tenant, reason,
                   left(filter::text, 32000) AS filter,
                   left(numbers::text, 32000) AS numbers, left(before::text, 32000) AS before,
                   left(after::text, 32000) AS after, address, user_agent, operation_id AS operation
              FROM audit_entry WHERE {clause} AND (%(after)s::bigint IS NULL OR id < %(after)s)
             ORDER BY id DESC LIMIT %(most)s""",  # noqa: S608
        params | {"after": after, "most": most},
    )
    return found
