"""What claims had to obey at any moment of the past, from `gate_history`: caps over time, and pauses.

Moments are those of commits, written while the gate was held alone: exact, by the database's clock.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from jobs.queue.statements import Connection, run
from jobs.rows import Row

# A claim may have looked at a cap this long before it started its jobs; an end that passed in between is none of its
# fault. Only for caps that end by the clock: a change that is written excludes claims.
END_TOLERANCE = timedelta(seconds=5)
UNLIMITED = None


@dataclass(frozen=True)
class PauseSpan:
    """One pause in one version: what it held, from when until when (None: still)."""

    key: str
    start: datetime
    end: datetime | None
    type: str | None
    tenant_id: str | None
    project_id: str | None

    def holds(self, type_: str, tenant_id: str) -> bool:
        """Does it hold jobs of this type and tenant, of its project if it names one?"""
        return self.type in (None, type_) and self.tenant_id in (None, tenant_id)


@dataclass
class Versions:
    """One row's versions, oldest first; None: the row was not there."""

    moments: list[datetime] = field(default_factory=list)
    rows: list[Row | None] = field(default_factory=list)

    def add(self, at: datetime, row: Row | None) -> None:
        self.moments.append(at)
        self.rows.append(row)

    def at(self, moment: datetime) -> Row | None:
        """The version in force at that moment."""
        place = bisect_right(self.moments, moment)
        return self.rows[place - 1] if place else None


@dataclass
class GateHistory:
    """`begin`: from when on it is known (None: nothing is)."""

    begin: datetime | None = None
    versions: dict[tuple[str, str], Versions] = field(default_factory=dict)

    def tenant_cap(self, tenant_id: str, default: int | None, moment: datetime) -> int | None:
        """How many jobs of a tenant could be running then; None: any number."""
        return self._cap("tenant_setting", tenant_id, default, moment)

    def type_cap(self, type_: str, defaults: Mapping[str, int], moment: datetime) -> int | None:
        """How many jobs of a type could be running then; None: any number."""
        return self._cap("type_setting", type_, defaults.get(type_), moment)

    def pauses(self) -> Iterator[PauseSpan]:
        """All pauses, the flag of other programs among them."""
        for (source, key), versions in self.versions.items():
            if source not in ("queue_pause", "SystemConfig"):
                continue
            ends = [*versions.moments[1:], None]
            for start, until, row in zip(versions.moments, ends, versions.rows, strict=True):
                if row is not None and (span := _span(key, start, until, row)) is not None:
                    yield span

    def _cap(self, source: str, key: str, default: int | None, moment: datetime) -> int | None:
        versions = self.versions.get((source, key))
        row = versions.at(moment) if versions else None
        if row is None:
            return default
        now = UNLIMITED if row["unlimited"] else default if row["cap"] is None else int(row["cap"])
        ends_at = datetime.fromisoformat(row["ends_at"]) if row["ends_at"] else None
        if ends_at is None or moment < ends_at:
            return now
        before = row["previous_cap"]
        then = UNLIMITED if row["previous_unlimited"] else default if before is None else int(before)
        return _larger(now, then) if moment < ends_at + END_TOLERANCE else then


def read(using: Connection) -> GateHistory:
    """The whole history that is kept."""
    history = GateHistory()
    for row in run("check_gate", {}, using):
        if row["source"] == "begin":
            history.begin = row["at"]
        else:
            history.versions.setdefault((row["source"], row["key"]), Versions()).add(row["at"], row["row"])
    return history


def _larger(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else max(one, other)


def _span(key: str, start: datetime, until: datetime | None, row: dict[str, Any]) -> PauseSpan | None:
    if "value" in row:
        paused = str(row["value"]).strip().lower() == "true"
        return PauseSpan(key, start, until, None, None, None) if paused else None
    if row["lifted_at"]:
        return None
    ends_at = datetime.fromisoformat(row["ends_at"]) if row["ends_at"] else None
    end = min((moment for moment in (until, ends_at) if moment is not None), default=None)
    return PauseSpan(f"pause {key}", start, end, row["type"], row["tenant_id"], row["project_id"])
