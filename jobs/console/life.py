"""Is a running job alive? By its heartbeat, its worker's, and when its progress last moved; the database's clock."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from jobs.conf import conf
from jobs.console.queries.workers import silent_after
from jobs.templatetags.formats import duration_text


@dataclass(frozen=True)
class Life:
    """`word` Alive, Silent, Frozen, or Worker gone; `text` says by which signs, `next_` what becomes of it."""

    word: str
    text: str
    next_: str
    beat_at: datetime | None
    moved_at: datetime | None

    @property
    def well(self) -> bool:
        return self.word == "Alive"


def frozen_after() -> timedelta:
    """A run that beats, but has not moved for half of the stale timeout, is called frozen."""
    return conf().stale_timeout / 2


def life(job: dict[str, Any], worker: dict[str, Any] | None) -> Life:
    """How a running job is."""
    now: datetime = job["now"]
    beat = job["heartbeat_at"] or job["started_at"] or job["queued_at"]
    moved = _moved(job)
    quiet = now - beat
    if quiet <= silent_after():
        if moved and now - moved > frozen_after():
            text = f"it beats, but nothing has moved for {_long(now - moved)}"
            return Life("Frozen", text, "Nobody ends it for that; cancel it if it should not go on.", beat, moved)
        return Life("Alive", f"last heartbeat {_long(quiet)} ago", "It runs to its end.", beat, moved)
    return Life(*_silent(job, worker, quiet), beat_at=beat, moved_at=moved)


def _moved(job: dict[str, Any]) -> datetime | None:
    """When progress, step or checkpoint last changed in this run; None: it has not said so yet."""
    moved: datetime | None = job["moved_at"]
    return moved if moved and job["started_at"] and moved >= job["started_at"] else None


def _silent(job: dict[str, Any], worker: dict[str, Any] | None, quiet: timedelta) -> tuple[str, str, str]:
    left = conf().stale_timeout - quiet
    when = f"in {_long(left)}" if left > timedelta() else "now"
    next_ = f"The sweep gives it up for lost {when}; that counts as an attempt."
    said = f"no heartbeat for {_long(quiet)}"
    if worker is None:
        whose = "its caller does the work" if job["inline"] else "its worker is in no registry"
        return "Silent", f"{said}; {whose}", next_
    if worker["stopped_at"] or job["now"] - worker["heartbeat_at"] > silent_after():
        gone = "has stopped" if worker["stopped_at"] else "is not heard of either"
        return "Worker gone", f"{said}, and its worker {gone}", next_
    return "Silent", f"{said}, though its worker is alive", next_


def _long(span: timedelta) -> str:
    return duration_text(span.total_seconds())
