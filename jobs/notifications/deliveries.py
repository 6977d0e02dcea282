"""The queue of messages: taken for a while, then sent, put off or given up. What is sent is never sent again.

At least once: whoever is killed between sending and writing it down sends it again, with the same id.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import structlog

from jobs.domain.alerts import MOST_ATTEMPTS, wait_seconds
from jobs.notifications.statements import one, run
from jobs.rows import Row

log = structlog.get_logger("jobs.alerts")

# Longer than sending takes by any channel (`jobs.workers.senders`): until then nobody else takes it.
LEASE_SECONDS = 60.0
LONGEST_ERROR = 500

_tell: list[Callable[[], None]] = []


def wake_by(tell: Callable[[], None]) -> None:
    """Registers what brings the word that messages are due; nothing depends on its arriving."""
    _tell[:] = [tell]


def wake() -> None:
    """Messages are due."""
    for tell in _tell:
        tell()


def take(limit: int, now: datetime | None = None) -> list[Row]:
    """Messages that are due, with their channel; nobody else has them for a while."""
    return run("take_deliveries", {"limit": limit, "lease_seconds": LEASE_SECONDS, "now": now})


def alerts_of(rows: list[Row]) -> dict[int, Row]:
    """The alerts that these messages are about, by id, as they are now."""
    ids = [row["alert_id"] for row in rows if row["alert_id"] is not None]
    return {row["id"]: row for row in run("alerts_of", {"ids": ids})} if ids else {}


def sent(row: Row, now: datetime | None = None) -> None:
    """It arrived."""
    run("sent", {"id": row["id"], "now": now})
    log.info(
        "alert.sent", delivery=row["id"], channel=row["name"], delivery_event=row["event"], attempts=row["attempts"]
    )


def not_sent(row: Row, error: str, *, hopeless: bool, now: datetime | None = None) -> None:
    """It did not: later again, or never when it is hopeless or was tried too often. `error` must hold no secret."""
    final = hopeless or row["attempts"] >= MOST_ATTEMPTS
    params = {"id": row["id"], "attempts": row["attempts"], "error": error[:LONGEST_ERROR], "final": final, "now": now}
    run("not_sent", params | {"wait_seconds": wait_seconds(row["attempts"])})
    log.warning("alert.not_sent", delivery=row["id"], channel=row["name"], final=final, error=error[:LONGEST_ERROR])


def any_due(now: datetime | None = None) -> bool:
    """Is there something to send?"""
    return bool(one("due_deliveries", {"now": now})["due"])


def again(delivery_id: str) -> Row | None:
    """A message that was given up is due again, with all its tries. None: it was not given up."""
    return next(iter(run("send_again", {"id": delivery_id})), None)


def test(channel_id: int) -> str:
    """A test message for a channel. Returns its id."""
    params: dict[str, Any] = {"alert_id": None, "channel_id": channel_id, "event": "test", "now": None, "due_at": None}
    return str(one("add_delivery", params)["id"])
