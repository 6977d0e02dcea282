"""The watch: one evaluation of all rules, by whichever replica comes first, and what owners are to be told."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg
import structlog

from jobs.domain.alerts import Finding
from jobs.notifications import alerts, facts, rules, tell
from jobs.notifications.statements import one, run
from jobs.queue.statements import run as run_of_queue
from jobs.queue.statements import transaction

log = structlog.get_logger("jobs.alerts")

# Over all replicas together no more often than so.
EVERY_SECONDS = 10.0
# What reads more is judged less often.
SELDOM = {"silent_stop": 60.0}


@dataclass(frozen=True)
class Watched:
    """What one turn did. `mine` false: somebody else is at it, or was just now."""

    mine: bool = False
    messages: int = 0
    told: int = 0


def turn(silent_seconds: float, using: Any = None, now: datetime | None = None) -> Watched:
    """Tells owners what they have to know, then evaluates the rules. Raises when the database is away.

    Each duty stands alone: an error of one is written down, where the overview shows it, and stops no other.
    """
    told = _duty("notify", lambda: tell.dead_letters(using) + tell.paused(using), using)
    evaluated = _duty("alerts", lambda: evaluate(silent_seconds, using, now), using)
    return Watched(evaluated is not None, evaluated or 0, told or 0)


def _duty(name: str, duty: Callable[[], int | None], using: Any) -> int | None:
    try:
        done = duty()
    except (psycopg.OperationalError, psycopg.InterfaceError):
        raise
    except psycopg.Error as error:
        log.exception("sweep.duty_failed", duty=name)
        run_of_queue("duty_done", {"name": name, "changed": 0, "error": str(error)[:2000]}, using)
        return None
    if done:
        run_of_queue("duty_done", {"name": name, "changed": done, "error": None}, using)
    elif done is not None:
        run("duty_well", {"name": name}, using)
    return done


def evaluate(
    silent_seconds: float, using: Any = None, now: datetime | None = None, every: float = EVERY_SECONDS
) -> int | None:
    """Judges, opens and closes, once for all replicas. `now`: the database's clock unless a test gives one.

    Returns how many messages have to be sent; None: another replica is at it, or was within `every` seconds.
    """
    with transaction(using):
        if not one("lock", {}, using)["mine"]:
            return None
        at = one("now", {"now": now}, using)["now"]
        if not run("mark", {"name": "evaluated", "now": at, "every": every}, using):
            return None
        in_force = rules.in_force(using)
        read = facts.reading(at, silent_seconds, using)
        judged = {name for name, rule in in_force.items() if rule.enabled and _is_due(name, at, using)}
        findings: list[Finding] = []
        for name in sorted(judged):
            findings += facts.JUDGES[name](in_force[name], read)
        return alerts.settle(findings, in_force, judged, at, using)


def _is_due(name: str, now: datetime, using: Any) -> bool:
    every = SELDOM.get(name)
    return every is None or bool(run("mark", {"name": f"rule {name}", "now": now, "every": every}, using))


def seconds_since(using: Any = None) -> float | None:
    """How long ago anybody evaluated; None: never."""
    rows = run("marked", {"name": "evaluated"}, using)
    now = one("now", {"now": None}, using)["now"]
    return (now - rows[0]["at"]).total_seconds() if rows else None
