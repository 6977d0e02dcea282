"""The ledger's rows, counts and contradictions. Every read is bounded."""

from dataclasses import dataclass, replace
from typing import Any, Self
from urllib.parse import urlencode

from jobs.conf import conf
from jobs.console import scope
from jobs.console.paging import Cursor, Page, cut, storable
from jobs.console.queries.db import fetch, fetch_one
from jobs.domain.errors import InvalidInput
from jobs.domain.masking import mask_text
from jobs.ledger import outbox
from jobs.ledger.contradictions import KINDS
from jobs.ledger.contradictions import find as find_contradictions
from jobs.rows import Row

PAGE = 50
MOST = 10_000
STATES = {"failed": "Failed", "exhausted": "Exhausted", "pending": "Waiting", "running": "Running",
          "succeeded": "Succeeded"}  # fmt: skip
STUCK = ("failed", "exhausted")
FIELDS = {"company": "company_id", "document": "document_id", "hook": "hook_type"}
_WHERE = {
    "failed": "status = 'failed'",
    "exhausted": "status = 'pending' AND attempts > 0 AND attempts >= %(max_attempts)s",
    "pending": "status = 'pending' AND attempts < %(max_attempts)s",
    "running": "status = 'running'",
    "succeeded": "status = 'succeeded'",
}
_COLUMNS = """id, company_id, document_id, left(hook_type, 200) AS hook_type, left(status, 40) AS status, attempts,
    left(last_error, 2000) AS last_error, left(payload_json, 2000) AS payload, created_at, updated_at, completed_at,
    next_attempt_at, ran_with"""


@dataclass(frozen=True)
class LedgerFilter:
    """Which events: a state, and what they are of."""

    state: str = "failed"
    company: str = ""
    document: str = ""
    hook: str = ""

    @classmethod
    def parse(cls, query: Any) -> Self:
        """From an address; what cannot be used is left out."""
        texts = {name: query.get(name, "").strip()[:300] for name in FIELDS}
        state = query.get("state", "failed")
        kept = {name: text for name, text in texts.items() if storable(text)}
        return cls(state=state if state in STATES else "failed", **kept)

    @classmethod
    def strict(cls, query: Any) -> Self:
        """From a form that acts: what cannot be used is refused, or more than was meant would be meant.

        Raises `InvalidInput` that names the part.
        """
        found = cls.parse(query)
        for name in FIELDS:
            if query.get(name, "").strip() != getattr(found, name):
                raise InvalidInput(name, "it cannot be used")
        return found

    @property
    def texts(self) -> dict[str, str]:
        """What it is narrowed to."""
        return {name: value for name in FIELDS if (value := getattr(self, name))}

    def url(self, path: str = "/ledger/", **more: str) -> str:
        """Its address."""
        return path + "?" + urlencode({"state": self.state} | self.texts | more)

    def but(self, **changes: str) -> "LedgerFilter":
        """The same with something else."""
        return replace(self, **changes)

    def where(self, max_attempts: int) -> tuple[str, Row]:
        """Its condition and parameters."""
        clause = f"{_WHERE[self.state]} AND {scope.only('company_id')}"
        params = {"max_attempts": max_attempts} | scope.params() | self.texts
        return clause + "".join(f" AND {FIELDS[name]} = %({name})s" for name in self.texts), params


def counts(max_attempts: int) -> list[Row]:
    """By hook type, each kind counted up to 10,000; the succeeded are those of the last hour."""
    within = scope.current()
    return outbox.status_counts(max_attempts, MOST, None if within is None else sorted(within))


def events(filter_: LedgerFilter, max_attempts: int, after: Cursor | None, before: Cursor | None) -> Page:
    """Events under a filter, newest first: by their last change, the waiting by when they were written."""
    clause, params = filter_.where(max_attempts)
    return _page(clause, params, "created_at" if filter_.state == "pending" else "updated_at", after, before)


def story(company: str, document: str, after: Cursor | None, before: Cursor | None) -> Page:
    """All events of a document, newest first, each with the jobs that it made."""
    clause = "document_id = %(document)s AND company_id = %(company)s"
    page = _page(clause, {"document": document, "company": company}, "created_at", after, before)
    made = _jobs([row["ran_with"] or row["id"] for row in page.rows])
    for row in page.rows:
        row["jobs"] = made.get(row["ran_with"] or row["id"], [])
    return page


def _page(clause: str, params: Row, by: str, after: Cursor | None, before: Cursor | None) -> Page:
    order, cursor = f"{by} DESC, id DESC", before or after
    if cursor:
        clause += f" AND ({by}, id) {'>' if before else '<'} (%(at)s::timestamptz, %(id)s)"
        params = params | {"at": cursor.at, "id": cursor.id}
        order = f"{by}, id" if before else order
    rows = fetch(
        f"""SELECT {_COLUMNS}, {by}::timestamptz::text AS cursor_at
              FROM document_lifecycle_events WHERE {clause} ORDER BY {order} LIMIT {PAGE + 1}""",  # noqa: S608
        params,
    )
    return cut([_masked(row) for row in rows], PAGE, after=after, before=before)


def _masked(row: Row) -> Row:
    """An error may quote what a hook was given: secrets in it are not shown."""
    error = row["last_error"]
    return row if error is None else row | {"last_error": mask_text(error, conf().masked_keys)}


def _jobs(event_ids: list[str]) -> dict[str, list[Row]]:
    rows = fetch(
        """SELECT l.event_id, l.job_id, l.made_at, left(j.type, 200) AS type, j.status::text AS status, j.dlq
             FROM ledger_job l LEFT JOIN "PlatformJob" j ON j.id = l.job_id
            WHERE l.event_id = ANY (%(ids)s) ORDER BY l.made_at LIMIT 500""",
        {"ids": event_ids},
    )
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["event_id"], []).append(row)
    return found


def find(event_id: str) -> Row | None:
    """One event."""
    row = fetch_one(f"SELECT {_COLUMNS} FROM document_lifecycle_events WHERE id = %(id)s", {"id": event_id})  # noqa: S608
    return row and _masked(row)


def count(filter_: LedgerFilter, max_attempts: int, most: int) -> int:
    """How many events a filter has, counted no further than `most`."""
    clause, params = filter_.where(max_attempts)
    row = fetch_one(
        f"SELECT count(*) AS n FROM (SELECT 1 FROM document_lifecycle_events WHERE {clause} LIMIT %(most)s) x",  # noqa: S608
        params | {"most": most},
    )
    return int(row["n"]) if row else 0


def contradictions(most: int = 20) -> list[dict[str, Any]]:
    """Events and jobs that contradict each other, by kind, each with a sample of `most`; of the newest 10,000."""
    return [
        {"key": kind.key, "what": kind.what, "why": kind.why, "rows": rows, "n": total}
        for kind in KINDS.values()
        for rows, total in [find_contradictions(kind.key, most)]
    ]
