"""Types that stopped: what each did last, beside what was usual in these hours, and what its jobs do instead."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from jobs.domain import silence
from jobs.domain.alerts import Rule, one_line
from jobs.notifications.statements import one, run
from jobs.queue.pauses import PauseInForce
from jobs.rows import Row

KNOWN_FOR = timedelta(days=7 * silence.WEEKS + 1) + silence.LONGEST
RECENT = timedelta(days=2)


@dataclass(frozen=True)
class Stop:
    """A type of which none was done although some were due. `waiting`: how many of it wait now."""

    type: str
    title: str
    detail: str
    waiting: int


def stops(rule: Rule, now: datetime, in_force: list[PauseInForce], silent_seconds: float, using: Any) -> list[Stop]:
    """The types that stopped finishing. What was held by a pause is counted from the pause's end on."""
    run("fold_hours", {"now": now}, using)
    known = run("marked", {"name": "known"}, using)
    if not known:
        return []
    since, known_since = now - KNOWN_FOR, known[0]["at"]
    last = _last_moves(now, since, timedelta(minutes=rule.minutes), using)
    quiet = _quiet_since(last, now, timedelta(minutes=rule.minutes), using)
    if not quiet:
        return []
    done, came = _hours(run("hours_of", {"types": list(quiet), "since": since}, using))
    found = []
    for type_, at in sorted(quiet.items()):
        due = silence.missing(done[type_], at, now, known_since)
        if due >= rule.threshold:
            params = {"type": type_, "now": now, "silent": silent_seconds, "since": now - timedelta(hours=1)}
            rate = silence.usual(done[type_], _hour(now), known_since)
            gates = one("why_silent", params, using)
            found.append(_stop(type_, last[type_], at, now, due, rate, gates, came[type_], known_since))
    return found


def _last_moves(now: datetime, since: datetime, span: timedelta, using: Any) -> dict[str, Row]:
    """Of the types that may be silent. Usually there is none, and no more is read."""
    types = [row["type"] for row in run("quiet_types", {"since": since, "busy_since": now - span}, using)]
    if not types:
        return {}
    rows = run("last_moves", {"types": types, "since": since, "recent": now - RECENT}, using)
    return {row["type"]: row for row in rows if row["done"] is not None}


def _quiet_since(last: dict[str, Row], now: datetime, span: timedelta, using: Any) -> dict[str, datetime]:
    """Since when each has been silent: its last finish, or the end of a pause after it."""
    if not last:
        return {}
    free = {row["type"]: row["at"] for row in run("pauses_over", {"since": now - silence.LONGEST, "now": now}, using)}
    quiet = {type_: max(filter(None, [row["done"], free.get(None), free.get(type_)])) for type_, row in last.items()}
    return {type_: at for type_, at in quiet.items() if now - at >= span}


def _hours(rows: Iterable[Row]) -> tuple[dict[str, dict[datetime, int]], dict[str, dict[datetime, int]]]:
    done: dict[str, dict[datetime, int]] = defaultdict(dict)
    came: dict[str, dict[datetime, int]] = defaultdict(dict)
    for row in rows:
        done[row["type"]][row["hour"]] = row["done"]
        came[row["type"]][row["hour"]] = row["came"]
    return done, came


def _stop(
    type_: str, last: Row, at: datetime, now: datetime, due: float, rate: float, gates: Row,
    came: dict[datetime, int], known: datetime,
) -> Stop:  # fmt: skip
    name = one_line(type_ or "(empty)", 120)
    usual = f"normally {rate:,.0f} an hour" if rate >= 1 else f"normally {due:,.0f} in this time"
    title = f"No {name} finished for {words(now - at)}, {usual}"
    return Stop(
        type_, title, _gates(last, gates, now, silence.missing(came, last["came"] or at, now, known)), gates["queued"]
    )


def _gates(last: Row, gates: Row, now: datetime, due_to_come: float) -> str:
    """Where its jobs are instead, in the order in which one would look."""
    parts = []
    if due_to_come >= 1 and last["came"] is not None and not gates["queued"] and not gates["running"]:
        parts.append(
            f"No new one came since {last['came']:%Y-%m-%d %H:%M} UTC, and none waits: look at what makes them."
        )
    if gates["queued"]:
        who = "no live worker does this type" if not gates["workers"] else f"{gates['workers']:,} live workers do it"
        parts.append(f"{gates['queued']:,} wait; {who}.")
    if gates["running"]:
        parts.append(f"{gates['running']:,} run.")
    if gates["retry_wait"]:
        parts.append(f"{gates['retry_wait']:,} wait for a retry.")
    if gates["failed"]:
        parts.append(f"{gates['failed']:,} runs failed in the last hour.")
    return " ".join(parts) or "None waits and none runs."


def _hour(now: datetime) -> datetime:
    return now.replace(minute=0, second=0, microsecond=0)


def words(length: timedelta) -> str:
    """`47 min`, `3 h 5 min`, `2 d`."""
    minutes = int(length.total_seconds() // 60)
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h" + (f" {minutes % 60} min" if minutes % 60 else "")
    return f"{minutes // 1440} d"
