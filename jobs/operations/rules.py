"""What admins do to the rules of classification: list, add, change, remove, and try out on the last days' failures."""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from jobs.domain.classification import Evidence, classify, matches, read
from jobs.domain.errors import InvalidInput, RuleNotFound
from jobs.domain.rules import BUILT_IN, Rule
from jobs.domain.rules.written import written_rule
from jobs.domain.signs import FailureSign, sign_from_record
from jobs.operations.actions import Person, audited, required
from jobs.queue import rules
from jobs.queue.rules import MOST_RULES, StoredRule

TRIAL_DAYS = 7.0
MOST_TRIED = 20_000
TRIAL_SECONDS = 10.0
STATEMENT_SECONDS = 5
EXAMPLES_EACH = 3
_PAGE = 500


def add(person: Person, *, kind: str, pattern: str, failure_type: str, why: str, position: int = 0, reason: str) -> int:
    """A new rule, in force within moments. Returns its id. Raises `InvalidInput` that names the field."""
    required(reason)
    rule = written_rule("new", kind=kind, pattern=pattern, failure_type=failure_type, why=why)
    row = _row(rule, _position(position), enabled=True)
    with transaction.atomic():
        if len(rules.all_rules()) >= MOST_RULES:
            raise InvalidInput("rules", f"there are {MOST_RULES} already; remove one first")
        rule_id = rules.add(row | {"by": person.actor})
        audited(person, "add_rule", f"rule {rule_id}", reason, after=row)
    return rule_id


def change(person: Person, rule_id: int, *, reason: str, **fields: Any) -> None:
    """Changes the given fields (`kind`, `pattern`, `failure_type`, `why`, `position`, `enabled`) of one rule."""
    required(reason)
    unknown = set(fields) - {"kind", "pattern", "failure_type", "why", "position", "enabled"}
    if unknown:
        raise InvalidInput(sorted(unknown)[0], "a rule has no such field")
    with transaction.atomic():
        before = _row_of(_found(rule_id))
        after = before | fields
        words = {name: after[name] for name in ("kind", "pattern", "failure_type", "why")}
        after = _row(written_rule("changed", **words), _position(after["position"]), bool(after["enabled"]))
        rules.change(after | {"id": rule_id, "by": person.actor})
        audited(person, "change_rule", f"rule {rule_id}", reason, before=before, after=after)


def remove(person: Person, rule_id: int, *, reason: str) -> None:
    """Takes a rule away. What it decided stays decided."""
    required(reason)
    with transaction.atomic():
        before = _row_of(_found(rule_id))
        rules.remove(rule_id)
        audited(person, "remove_rule", f"rule {rule_id}", reason, before=before)


# --- What would this rule have changed? -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Example:
    """One failure that the rule would have judged otherwise."""

    job_id: str
    type: str
    at: datetime
    was: str
    would_be: str
    decided_by: str | None
    message: str


@dataclass
class Trial:
    """`matched`: failures that the rule applies to; `decided`: those that it would decide, no surer rule being first;
    `changed`: how many would get another type, by (was, would be). `foreign`: failures without a sign, which another
    program judged or which needed no rule. `cut`: why not all of the days were looked at, or None."""

    days: float
    looked_at: int = 0
    foreign: int = 0
    matched: int = 0
    decided: int = 0
    changed: Counter[tuple[str, str]] = field(default_factory=Counter)
    examples: list[Example] = field(default_factory=list)
    oldest: datetime | None = None
    cut: str | None = None

    def as_json(self) -> dict[str, Any]:
        changed = [{"was": was, "would_be": new, "failures": n} for (was, new), n in self.changed.most_common()]
        return asdict(self) | {"changed": changed, "examples": [asdict(one) for one in self.examples]}


def what_would_change(
    rule: Rule, *, days: float = TRIAL_DAYS, limit: int = MOST_TRIED, instead_of: int | None = None
) -> Trial:
    """Judges the failures of the last days again, as if `rule` had been there; newest first, changing nothing.

    Looks at no more than `limit` failures and for no longer than ten seconds, and says so when it was cut.
    `instead_of`: the stored rule that `rule` would replace.
    """
    if not 0 < days <= 366:
        raise InvalidInput("days", "it must lie between 0 and 366")
    others = rules.in_force(besides=instead_of)
    trial, judge = Trial(days), _Judge(rule, (rule, *others, *BUILT_IN))
    deadline = time.monotonic() + TRIAL_SECONDS
    for row in _failures(trial, days, limit, deadline):
        trial.looked_at += 1
        trial.oldest = row["at"]
        if not isinstance(row["sign"], dict):
            trial.foreign += 1
            continue
        _try(trial, judge, row)
    return trial


class _Judge:
    """Applies the rule; remembers its answers, since the last days' failures are few kinds many times over."""

    def __init__(self, rule: Rule, all_rules: tuple[Rule, ...]) -> None:
        self._rule, self._all = rule, all_rules
        self._known: dict[tuple[object, ...], tuple[bool, bool]] = {}

    def __call__(self, sign: FailureSign) -> tuple[bool, bool]:
        """Does the rule apply, and would it decide?"""
        key = (sign.message, sign.exceptions, sign.statuses, sign.codes)
        if key not in self._known:
            evidence: Evidence = read(sign)
            applies = matches(self._rule, evidence)
            self._known[key] = (applies, applies and classify(sign, self._all).rule_id == self._rule.id)
        return self._known[key]

    @property
    def failure_type(self) -> str:
        return self._rule.failure_type.value


def _try(trial: Trial, judge: _Judge, row: dict[str, Any]) -> None:
    sign = sign_from_record(row["sign"])
    applies, decides = judge(sign)
    trial.matched += applies
    trial.decided += decides
    was, would_be = str(row["failure_type"]), judge.failure_type
    if not decides or was == would_be:
        return
    trial.changed[was, would_be] += 1
    if trial.changed[was, would_be] <= EXAMPLES_EACH:
        decided_by = row["sign"].get("rule")
        trial.examples.append(
            Example(row["job_id"], row["type"], row["at"], was, would_be, decided_by, sign.message[:300])
        )


def _failures(trial: Trial, days: float, limit: int, deadline: float) -> Iterator[dict[str, Any]]:
    """Page by page, each a short statement, so that nothing is held for long. Writes down why it ended early."""
    before, left = None, limit
    while left > 0:
        if time.monotonic() > deadline:
            trial.cut = f"stopped after {TRIAL_SECONDS:.0f} s"
            return
        page = rules.failures_since(days, before, min(_PAGE, left), STATEMENT_SECONDS)
        if page is None:
            trial.cut = f"a read took longer than {STATEMENT_SECONDS} s"
            return
        yield from page
        left -= len(page)
        if len(page) < min(_PAGE, left + len(page)):
            return
        before = (page[-1]["at"], page[-1]["id"])
    trial.cut = f"the newest {limit:,} failures only"


# --- Helpers ----------------------------------------------------------------------------------------------------------


def _found(rule_id: int) -> StoredRule:
    for stored in rules.all_rules():
        if stored.id == rule_id:
            return stored
    raise RuleNotFound(rule_id)


def _position(position: Any) -> int:
    if not isinstance(position, int) or not -1_000_000 <= position <= 1_000_000:
        raise InvalidInput("position", "it must be a whole number between -1000000 and 1000000")
    return position


def _row(rule: Rule, position: int, enabled: bool) -> dict[str, Any]:
    return {
        "kind": rule.sign.value,
        "pattern": rule.pattern,
        "failure_type": rule.failure_type.value,
        "why": rule.why,
        "position": position,
        "enabled": enabled,
    }


def _row_of(stored: StoredRule) -> dict[str, Any]:
    return {name: getattr(stored, name) for name in ("kind", "pattern", "failure_type", "why", "position", "enabled")}
