"""The watch in a worker process, a duty of its sweep; and what a console process does when no worker is there to do it."""

import threading
from typing import Any

import psycopg
import structlog
from django.db import DatabaseError, InterfaceError, close_old_connections

from jobs.conf import conf
from jobs.domain.actors import SWEEP
from jobs.notifications import deliveries, watch
from jobs.queue import pauses
from jobs.workers.delivery import deliver

log = structlog.get_logger("jobs.alerts")

LOOK_SECONDS = 10.0
MOST_ROUNDS = 20
MOST_PAUSES = 1_000


def silent_seconds() -> float:
    """After so long without a heartbeat a worker counts as silent, as on the workers page."""
    return 3 * conf().heartbeat_interval.total_seconds()


def duty(connection: psycopg.Connection[Any]) -> None:
    """One turn, on the sweep's connection; brings Huey the word when there is something to send."""
    if watch.turn(silent_seconds(), connection).messages:
        deliveries.wake()


class StandIn:
    """A thread of a console process that watches while no worker does: else nobody would say that none is there, and other
    programs would go on seeing a pause whose end has come."""

    def __init__(self) -> None:
        self._stop = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, name="detiq-stand-in", daemon=True).start()

    def stop(self) -> None:
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.wait(LOOK_SECONDS):
            try:
                close_old_connections()
                stand_in()
            except (DatabaseError, InterfaceError, psycopg.Error) as error:
                log.warning("alerts.stand_in_failed", error=str(error).strip()[:300])
            except Exception:  # noqa: BLE001 - a look that fails must not end the looking
                log.exception("alerts.stand_in_failed")
            finally:
                close_old_connections()


def stand_in() -> None:
    """What others wait for and the sweep does while a worker lives. Harmless beside one, and beside other consoles."""
    pauses.expire(MOST_PAUSES, actor=SWEEP)
    look()


def look() -> bool:
    """Evaluates and sends if nobody has evaluated for `ALERTS_STAND_IN_SECONDS`, unless that is 0. Returns whether it did.

    A database without any worker so far (a first start) gets its time as well.
    """
    if not conf().stand_in:
        return False
    ago = watch.seconds_since()
    if ago is not None and ago < conf().stand_in.total_seconds():
        return False
    watch.turn(silent_seconds())
    for _ in range(MOST_ROUNDS):
        if not deliver():
            break
    return True
