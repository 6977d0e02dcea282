"""The rules that admins added to the built-in ones: the table, and nothing of what they mean."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog
from django.db import OperationalError, transaction
from psycopg import errors

from jobs.domain.errors import InvalidInput
from jobs.domain.rules import Rule
from jobs.domain.rules.written import written_rule
from jobs.queue.statements import Connection, run
from jobs.rows import Row

log = structlog.get_logger("jobs.rules")

MOST_RULES = 500


@dataclass(frozen=True)
class StoredRule:
    """One row."""

    id: int
    kind: str
    pattern: str
    failure_type: str
    why: str
    position: int
    enabled: bool
    created_by: str
    created_at: datetime
    updated_by: str | None
    updated_at: datetime | None

    @property
    def rule_id(self) -> str:
        """The id by which a classification names it."""
        return f"admin-{self.id}"

    def rule(self) -> Rule:
        """Raises `InvalidInput` for a row that somebody wrote past the checks."""
        return written_rule(
            self.rule_id, kind=self.kind, pattern=self.pattern, failure_type=self.failure_type, why=self.why
        )


def all_rules(using: Connection | None = None) -> list[StoredRule]:
    """In the order in which they are asked, disabled ones included."""
    return [StoredRule(**row) for row in run("list_rules", {"limit": MOST_RULES}, using)]


def in_force(using: Connection | None = None, besides: int | None = None) -> tuple[Rule, ...]:
    """The enabled ones, without the one `besides`, ready to be asked. A row that is no rule is left out, and logged."""
    enabled = (stored for stored in all_rules(using) if stored.enabled and stored.id != besides)
    return tuple(rule for stored in enabled if (rule := _readable(stored)) is not None)


def add(params: Row, using: Connection | None = None) -> int:
    """Returns the new rule's id."""
    return int(run("add_rule", params, using)[0]["id"])


def change(params: Row, using: Connection | None = None) -> bool:
    """Writes all fields of one rule. False: there is no such rule."""
    return bool(run("change_rule", params, using))


def remove(rule_id: int, using: Connection | None = None) -> bool:
    return bool(run("remove_rule", {"id": rule_id}, using))


def failures_since(
    days: float, before: tuple[datetime, int] | None, limit: int, within_seconds: int
) -> list[dict[str, Any]] | None:
    """Judged failures of the last days, newest first; `before` is the `(at, id)` to go on from. None: it took longer than
    `within_seconds`."""
    at, id_ = before or (None, None)
    try:
        with transaction.atomic():
            run("statement_timeout", {"timeout": f"{within_seconds}s"})
            rows = run("judged_failures", {"days": days, "before_at": at, "before_id": id_, "limit": limit})
    except OperationalError as error:
        if isinstance(error.__cause__, errors.QueryCanceled):
            return None
        raise
    return [row | {"sign": json.loads(row["sign"]) if row["sign"] else None} for row in rows]


def _readable(stored: StoredRule) -> Rule | None:
    try:
        return stored.rule()
    except InvalidInput as error:
        log.warning("rules.unreadable", rule=stored.id, error=str(error))
        return None
