"""The rules of alerts in force: the built-in ones, as an admin changed them."""

from typing import Any

from jobs.domain.alerts import RULES, Rule
from jobs.domain.errors import InvalidInput, JobsError
from jobs.notifications.statements import run
from jobs.rows import Row


class RuleChanged(JobsError):
    """Somebody else changed this rule since it was read; nothing was changed."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the rule {name} was changed by somebody since you opened it; nothing changed")


def stored(using: Any = None) -> dict[str, Row]:
    """What admins changed, by the rule's name."""
    return {row["name"]: row for row in run("rules", {}, using)}


def in_force(using: Any = None) -> dict[str, Rule]:
    """All rules. A stored number that is out of today's bounds is moved to the nearest that is not."""
    rows = stored(using)
    return {name: _with(rule, rows[name]) if name in rows else rule for name, rule in RULES.items()}


def _with(rule: Rule, row: Row) -> Rule:
    numbers = {}
    for field, bounds in (("threshold", rule.threshold_bounds), ("minutes", rule.minutes_bounds)):
        value = int(row[field])
        numbers[field] = max(bounds.least, min(bounds.most, value)) if bounds.most else getattr(rule, field)
    return rule.with_values(enabled=row["enabled"], critical=row["critical"], **numbers)


def change(name: str, *, seen: int, by: str, **values: Any) -> Rule:
    """Stores a rule, unless it was changed since version `seen` (0: as built in). Raises `InvalidInput`, `RuleChanged`."""
    if name not in RULES:
        raise InvalidInput("rule", f"there is no rule {name[:80]}")
    rule = RULES[name].with_values(**values)
    row = {"name": name, "enabled": rule.enabled, "critical": rule.critical, "threshold": rule.threshold,
           "minutes": rule.minutes, "by": by, "seen": seen}  # fmt: skip
    if not run("set_rule", row):
        raise RuleChanged(name)
    return rule
