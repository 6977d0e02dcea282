"""The rules that failures are judged by in this process: what admins wrote, then the built-in ones."""

import threading
from datetime import timedelta

import psycopg
import structlog

from jobs.domain.rules import BUILT_IN, Rule
from jobs.queue import rules
from jobs.workers.due import DueRead
from jobs.workers.link import Link

log = structlog.get_logger("jobs.worker")


class Rulebook:
    """Read at the first need, again when somebody says that the rules changed, and now and then in case nobody did.

    Rules that cannot be read leave those in force that were known before: a failure is always judged.
    """

    def __init__(self, link: Link, every: timedelta) -> None:
        """`link` is used for the first read alone, by whoever judges first."""
        self._link = link
        self._due = DueRead(rules.in_force, every, "rules.not_read")
        self._rules: tuple[Rule, ...] = BUILT_IN
        self._read = False
        self._lock = threading.Lock()

    def look_now(self) -> None:
        """Somebody changed a rule."""
        self._due.look_now()

    def in_force(self) -> tuple[Rule, ...]:
        """In the order in which they are given to `classify`: within a kind of sign, admins' rules first."""
        if not self._read:
            self._first_read()
        return self._rules

    def refresh(self, link: Link) -> None:
        """Reads the rules if that is due. Raises when the database is away."""
        written = self._due.look(link)
        if written is None:
            return
        self._rules = (*written, *BUILT_IN)
        self._read = True

    def _first_read(self) -> None:
        with self._lock:
            if self._read:
                return
            try:
                self.refresh(self._link)
            except psycopg.Error as error:
                log.warning("rules.not_read", error=str(error).strip()[:300])
