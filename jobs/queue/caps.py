"""Caps: how much one tenant, or one type over all tenants, may run at once; with an end, what comes back after it.

A change is one statement guarded by the version that its maker saw, and the gate's triggers write it to `gate_history`
at its commit: no claim goes by the old cap after that. Lowering a cap stops nothing that runs.
"""

from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Self

import structlog

from jobs.domain.errors import CapChanged, InvalidInput
from jobs.queue.statements import Connection, run

log = structlog.get_logger("jobs.door")

MOST = 100_000
HEAVIEST = 1_000
LONGEST_RUN_SECONDS = 30 * 86_400
LONGEST_SECONDS = 366 * 86_400
LONGEST_NOTE = 2_000
LONGEST_NAME = 300


@dataclass(frozen=True)
class Cap:
    """A cap as it is chosen: a number (0 suspends), unlimited, or neither for the default."""

    number: int | None = None
    unlimited: bool = False

    @property
    def word(self) -> int | str:
        """`5`, `unlimited` or `default`, as commands and the audit trail write it."""
        return "unlimited" if self.unlimited else "default" if self.number is None else self.number

    @classmethod
    def parse(cls, text: str, field: str = "cap") -> Self:
        """From `5`, `unlimited`, `default` or nothing, which is the default. Raises `InvalidInput`."""
        text = text.strip()
        if text in ("", "default"):
            return cls()
        if text == "unlimited":
            return cls(unlimited=True)
        if not (text.isascii() and text.isdigit()) or len(text) > 12 or int(text) > MOST:
            raise InvalidInput(field, f"{text[:40]!r} is no whole number from 0 (suspends) to {MOST:,}")
        return cls(int(text))

    def limit(self, default: int | None) -> int | None:
        """How many may run; None: any number."""
        return None if self.unlimited else default if self.number is None else self.number


@dataclass(frozen=True)
class Setting:
    """What is set for a tenant or a type. `version` 0: nothing is. Times are the database's.

    `cap` is in force until `ends_at`, `previous` after it. `weight` and `note` are of tenants, `max_run_seconds` of types.
    """

    name: str
    cap: Cap = Cap()
    weight: int = 1
    note: str = ""
    max_run_seconds: int | None = None
    ends_at: datetime | None = None
    previous: Cap = Cap()
    version: int = 0
    updated_at: datetime | None = None
    updated_by: str = ""
    lasts: bool = False

    @property
    def base(self) -> Cap:
        """The cap without an end: what comes back once the end of the present one has come."""
        return self.cap if self.ends_at is None else self.previous

    @property
    def in_force(self) -> Cap:
        """What claims obey at the moment this was read."""
        return self.cap if self.ends_at is None or self.lasts else self.previous

    @property
    def temporary(self) -> bool:
        """Is a cap in force that ends by itself?"""
        return self.ends_at is not None and self.lasts

    def says(self, kind: str) -> dict[str, Any]:
        """For the audit trail."""
        own = (
            {"weight": self.weight, "note": self.note}
            if kind == "tenant"
            else {"max_run_seconds": self.max_run_seconds}
        )
        end = {"ends_at": self.ends_at.isoformat(), "then": self.previous.word} if self.ends_at else {}
        return {"cap": self.cap.word} | own | end


@dataclass(frozen=True)
class Wanted:
    """What somebody wants. `ends_in_seconds` None: no end, or with `keeps_end` the end that there is."""

    cap: Cap
    weight: int = 1
    note: str = ""
    max_run_seconds: int | None = None
    ends_in_seconds: float | None = None
    keeps_end: bool = False

    def check(self) -> None:
        """Raises `InvalidInput` naming the field."""
        if not 1 <= self.weight <= HEAVIEST:
            raise InvalidInput("weight", f"it must be a whole number from 1 to {HEAVIEST:,}")
        if len(self.note) > LONGEST_NOTE:
            raise InvalidInput("note", f"it is longer than {LONGEST_NOTE:,} characters")
        if self.max_run_seconds is not None and not 1 <= self.max_run_seconds <= LONGEST_RUN_SECONDS:
            raise InvalidInput("max_run_seconds", f"it must be a whole number from 1 to {LONGEST_RUN_SECONDS:,}")
        if self.ends_in_seconds is not None and not 0 < self.ends_in_seconds <= LONGEST_SECONDS:
            raise InvalidInput("until", "it must lie in the future, within a year")

    def is_lasting(self, before: Setting) -> bool:
        """Does it change what has no end: the cap that stays, a weight, a longest run?"""
        if (self.weight, self.max_run_seconds) != (before.weight, before.max_run_seconds):
            return True
        ends = self.ends_in_seconds is not None or (self.keeps_end and before.temporary)
        return not ends and self.cap != before.base


def of(kind: str, name: str, using: Connection | None = None) -> Setting:
    """What is set for the tenant or type (`kind`) of this name."""
    rows = run(f"cap_of_{kind}", {"name": name}, using)
    if not rows:
        return Setting(name)
    row = rows[0]
    found = {one: row.pop(one) for one in ("cap", "unlimited", "previous_cap", "previous_unlimited")}
    row["lasts"] = bool(row["lasts"])
    return Setting(
        cap=Cap(found["cap"], found["unlimited"]),
        previous=Cap(found["previous_cap"], found["previous_unlimited"]),
        **row,
    )


def change(
    kind: str, name: str, wanted: Wanted, *, seen: int | None, actor: str, using: Connection | None = None
) -> tuple[Setting, Setting]:
    """Sets what is wanted for a tenant or a type, if nobody has changed it since version `seen` (None: whatever it is).

    Returns what was and what is. Raises `InvalidInput` naming the field, `CapChanged`; nothing is changed then.
    """
    if not name.strip() or len(name) > LONGEST_NAME:
        raise InvalidInput(kind, f"it is empty or longer than {LONGEST_NAME} characters")
    wanted.check()
    before = of(kind, name, using)
    if seen is not None and before.version != seen:
        raise CapChanged(f"{kind} {name}", before.updated_by)
    if wanted.keeps_end and not before.temporary:
        raise CapChanged(f"{kind} {name}", "its end, which has come,")
    after = _after(before, wanted)
    params = asdict(after) | {
        "cap": after.cap.number,
        "unlimited": after.cap.unlimited,
        "previous_cap": after.previous.number,
        "previous_unlimited": after.previous.unlimited,
        "ends_in_seconds": wanted.ends_in_seconds,
        "seen": before.version,
        "actor": actor,
    }
    rows = run(f"set_cap_of_{kind}", params, using)
    if not rows:
        raise CapChanged(f"{kind} {name}", of(kind, name, using).updated_by)
    after = replace(after, **rows[0], updated_by=actor)
    log.info("cap.changed", scope=f"{kind} {name}", was=before.cap.word, now=after.cap.word, actor=actor)
    return before, after


def _after(before: Setting, wanted: Wanted) -> Setting:
    """A second end on top of a first one leads back to what was before both."""
    kept = before.ends_at if wanted.keeps_end else None
    ends = kept is not None or wanted.ends_in_seconds is not None
    previous = before.base if ends else Cap()
    return replace(
        before,
        cap=wanted.cap,
        weight=wanted.weight,
        note=wanted.note,
        max_run_seconds=wanted.max_run_seconds,
        ends_at=kept,
        previous=previous,
        lasts=ends,
    )


def expire(limit: int, *, actor: str, using: Connection | None = None) -> list[str]:
    """Puts back the caps whose end has passed, each once, audited. Returns whose they are."""
    scopes = [str(row["target"]) for row in run("expire_caps", {"limit": limit, "actor": actor}, using)]
    for scope in scopes:
        log.info("cap.ended", scope=scope, actor=actor)
    return scopes
