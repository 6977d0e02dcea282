"""Events as another program writes them, and what became of them."""

import random
from datetime import timedelta
from typing import Any

from jobs.ledger.processor import Processor

COLUMNS = "id, company_id, document_id, hook_type, status, attempts, last_error, payload_json, updated_at, completed_at"


def processor(**more: Any) -> Processor:
    settings = {"max_attempts": 5, "stale": timedelta(minutes=5), "batch": 50, "rng": random.Random(1)}
    return Processor(**(settings | more))


def insert(conn: Any, id: str, hook_type: str = "NOTE", **columns: Any) -> str:
    """A row by plain SQL."""
    row = {"id": id, "company_id": "acme", "document_id": f"doc-{id}", "hook_type": hook_type} | columns
    names, marks = ", ".join(row), ", ".join(["%s"] * len(row))
    conn.execute(f"INSERT INTO document_lifecycle_events ({names}) VALUES ({marks})", list(row.values()))
    return id


def event(conn: Any, id: str) -> dict[str, Any]:
    """The row; empty when it is gone."""
    cursor = conn.execute("SELECT * FROM document_lifecycle_events WHERE id = %s", [id])
    names = [column.name for column in cursor.description]
    found = cursor.fetchone()
    return dict(zip(names, found, strict=True)) if found else {}


def said(conn: Any, id: str | None = None) -> list[str]:
    """What the hooks wrote down, in order."""
    rows = conn.execute(
        "SELECT what FROM ledger_test WHERE %s::text IS NULL OR event_id = %s ORDER BY id", [id, id]
    ).fetchall()
    return [what for (what,) in rows]


def statuses(conn: Any) -> dict[str, int]:
    return dict(conn.execute("SELECT status, count(*) FROM document_lifecycle_events GROUP BY 1").fetchall())


def due_now(conn: Any) -> None:
    """Waits before further attempts are over."""
    conn.execute("UPDATE document_lifecycle_events SET next_attempt_at = NULL WHERE status = 'pending'")
