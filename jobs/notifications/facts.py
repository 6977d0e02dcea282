"""What the rules judge: each function reads one thing and says what it finds. `now` is the database's clock."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from jobs.domain.alerts import Finding, Rule, one_line
from jobs.notifications import silence
from jobs.notifications.statements import one, run
from jobs.queue import pauses
from jobs.queue.pauses import PauseInForce
from jobs.queue.statements import run as run_of_queue
from jobs.rows import Row

MOST_SUBJECTS = 50


@dataclass(frozen=True)
class Reading:
    """One evaluation: when, on which connection, what is paused, and after how long a worker counts as silent."""

    now: datetime
    using: Any
    in_force: list[PauseInForce]
    silent_seconds: float

    def minute(self, ago: int) -> datetime:
        """The beginning of the minute that was so many minutes ago."""
        return self.now.replace(second=0, microsecond=0) - timedelta(minutes=ago)

    def holds(self, type_: str) -> bool:
        """Does a pause hold this whole type?"""
        return any(p.tenant_id is None and p.project_id is None and p.type in (None, type_) for p in self.in_force)


def reading(now: datetime, silent_seconds: float, using: Any = None) -> Reading:
    """What all rules need."""
    return Reading(now, using, pauses.active(using), silent_seconds)


def no_worker(rule: Rule, read: Reading) -> list[Finding]:
    row = one("workers", {"now": read.now, "silent": read.silent_seconds}, read.using)
    if row["live"] or not (row["last"] or row["queued"]):
        return []
    if row["last"] and read.now - row["last"] < timedelta(minutes=rule.minutes):
        return []
    since = f"The last one was heard of {_ago(read.now - row['last'])} ago. " if row["last"] else ""
    detail = f"{since}{row['queued']:,} jobs wait; nothing is lost, and nothing starts. Start one: manage.py worker"
    return [Finding("no_worker", "", "No worker is live", detail, "/workers/", "/workers/", "See the workers")]


def not_draining(rule: Rule, read: Reading) -> list[Finding]:
    params = {"since": read.minute(rule.minutes), "until": read.minute(0)}
    rows = [row for row in run("flow", params, read.using) if not read.holds(row["type"])]
    queued, entered, started = (sum(row[name] for row in rows) for name in ("queued", "entered", "started"))
    if queued < rule.threshold or started > entered:
        return []
    title = f"The queue is not draining: {queued:,} jobs wait"
    detail = f"In {rule.minutes} min {entered:,} came and {started:,} started."
    return [
        Finding("not_draining", "", title, detail, "/jobs/?state=QUEUED", "/why/?state=QUEUED", "See why they wait")
    ]


def oldest_wait(rule: Rule, read: Reading) -> list[Finding]:
    rows = run_of_queue("status_waits", {}, read.using)
    late = [row for row in rows if row["seconds"] >= rule.minutes * 60 and not read.holds(row["type"])]
    late.sort(key=lambda row: -row["seconds"])
    return [_late(row) for row in late[:MOST_SUBJECTS]]


def _late(row: Row) -> Finding:
    type_ = row["type"]
    query = _query(state="QUEUED", type=type_)
    title = f"A {_name(type_)} job has waited for {_ago(timedelta(seconds=row['seconds']))}"
    return Finding("oldest_wait", type_, title, "The one of this type that waits longest, at any tenant.",
                   f"/jobs/?{query}", f"/why/?{query}", "See why they wait")  # fmt: skip


def pause_ending(rule: Rule, read: Reading) -> list[Finding]:
    soon = read.now + timedelta(minutes=rule.minutes)
    return [_ending(one, read.now) for one in read.in_force if one.ends_at and read.now < one.ends_at <= soon]


def _ending(pause: PauseInForce, now: datetime) -> Finding:
    assert pause.ends_at is not None  # noqa: S101  (asked before)
    title = f"The pause of {one_line(pause.scope, 120)} ends at {pause.ends_at:%H:%M} UTC"
    detail = f"By {pause.owner}: {pause.reason}"
    names = {"type": pause.type, "tenant": pause.tenant_id, "project": pause.project_id}
    again = "/pauses/new/?" + _query(**{name: value for name, value in names.items() if value})
    return Finding(
        "pause_ending", f"{pause.id}", title, detail, "/pauses/", again, "Pause for longer…", pause.tenant_id
    )


def dlq_growth(rule: Rule, read: Reading) -> list[Finding]:
    row = one("dead_since", {"since": read.minute(rule.minutes)}, read.using)
    if row["n"] < rule.threshold:
        return []
    title = f"{row['n']:,} jobs were dead-lettered in {rule.minutes} min"
    detail = f"Of {row['tenants']:,} tenants; most of type {_name(row['type'])}, {row['of_type']:,}."
    pause = "/pauses/new/?" + _query(type=row["type"])
    return [Finding("dlq_growth", "", title, detail, "/dlq/", pause, f"Pause {_name(row['type'])}…")]


def tenant_dead(rule: Rule, read: Reading) -> list[Finding]:
    params = {"since": read.minute(rule.minutes), "threshold": rule.threshold, "most": MOST_SUBJECTS}
    return [
        Finding(
            "tenant_dead", row["tenant_id"], f"{row['n']:,} jobs of {_name(row['tenant_id'])} were dead-lettered",
            f"Within {rule.minutes} min.", "/dlq/?" + _query(tenant=row["tenant_id"]),
            "/failures/runs/?" + _query(span="24h", tenant=row["tenant_id"]), "See what failed", row["tenant_id"],
        )
        for row in run("dead_by_tenant", params, read.using)
    ]  # fmt: skip


def group_regressed(rule: Rule, read: Reading) -> list[Finding]:
    return [
        Finding(
            "group_regressed", row["fingerprint"], f"{_name(row['type'])} fails again as before its fix",
            row["sample"] + (f" (owner: {row['owner']})" if row["owner"] else ""),
            "/failures/group/?" + _query(id=row["fingerprint"]),
            "/failures/group/change/?" + _query(id=row["fingerprint"]), "Say what it is…",
        )
        for row in run("regressed", {"most": MOST_SUBJECTS}, read.using)
    ]  # fmt: skip


def silent_stop(rule: Rule, read: Reading) -> list[Finding]:
    stops = silence.stops(rule, read.now, read.in_force, read.silent_seconds, read.using)
    return [_stopped(stop) for stop in stops[:MOST_SUBJECTS] if not read.holds(stop.type)]


def _stopped(stop: silence.Stop) -> Finding:
    query = _query(state="QUEUED", type=stop.type)
    waits = stop.waiting > 0
    return Finding("silent_stop", stop.type, stop.title, stop.detail,
                   "/jobs/?" + _query(type=stop.type),
                   f"/why/?{query}" if waits else "/jobs/?" + _query(type=stop.type),
                   "See why they wait" if waits else "See the last ones")  # fmt: skip


JUDGES: dict[str, Callable[[Rule, Reading], list[Finding]]] = {
    judge.__name__: judge
    for judge in (
        no_worker,
        not_draining,
        oldest_wait,
        pause_ending,
        dlq_growth,
        tenant_dead,
        group_regressed,
        silent_stop,
    )
}


def _query(**params: str | None) -> str:
    return urlencode({name: value for name, value in params.items() if value is not None})


def _name(text: str | None) -> str:
    return one_line(text or "(empty)", 120)


_ago = silence.words
