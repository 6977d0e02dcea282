"""Sends what is due: takes messages, sends them side by side, writes down what became of each."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import structlog

from jobs.conf import conf
from jobs.domain import alerts
from jobs.domain.alerts import Message
from jobs.notifications import deliveries
from jobs.rows import Row
from jobs.vault import CHANNELS, Unreadable
from jobs.workers.senders import SENDERS, NotSent

log = structlog.get_logger("jobs.alerts")

# Side by side, so that a receiver that does not answer holds up the thread once and not once a message.
AT_ONCE = 8


def deliver(now: datetime | None = None) -> bool:
    """One go, on Django's connection, outside a transaction. Returns whether there may be more. `now` is for tests."""
    taken = deliveries.take(AT_ONCE, now)
    if not taken:
        return False
    found = deliveries.alerts_of(taken)
    with ThreadPoolExecutor(max_workers=len(taken), thread_name_prefix="alert") as pool:
        ends = list(pool.map(_sender(found), taken))
    for row, failed in zip(taken, ends, strict=True):
        if failed is None:
            deliveries.sent(row, now)
        else:
            deliveries.not_sent(row, str(failed), hopeless=failed.hopeless, now=now)
    return len(taken) == AT_ONCE


def _sender(found: dict[int, Row]) -> Callable[[Row], NotSent | None]:
    return lambda row: _send(row, found)


def _send(row: Row, found: dict[int, Row]) -> NotSent | None:
    """Touches no database: it runs in a thread of its own."""
    try:
        if not row["enabled"] and row["event"] != "test":
            raise NotSent("the channel is switched off", hopeless=True)
        SENDERS[row["kind"]](
            _message(row, found),
            *(CHANNELS.unseal(row[one], "the channel's address or secret") for one in ("target", "secret")),
        )
    except NotSent as error:
        return error
    except Unreadable as error:
        return NotSent(str(error), hopeless=True)
    except Exception as error:  # noqa: BLE001 - one channel's trouble must stop no other's messages
        # The error's text may hold the address: the log gets the kind and the place alone.
        log.error("alert.sender_failed", delivery=row["id"], kind=row["kind"], error=type(error).__name__)
        return NotSent(f"unexpected: {type(error).__name__}")
    return None


def _message(row: Row, found: dict[int, Row]) -> Message:
    alert = found.get(row["alert_id"]) if row["alert_id"] is not None else None
    return alerts.message(row, alert, conf().public_url, conf().environment)
