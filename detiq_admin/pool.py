"""The console's pool of database sessions."""

import time
from typing import Any, cast

import psycopg
from django.db import connections
from psycopg_pool import ConnectionPool

# Whoever finds a dead session within so many seconds after another found one finds nothing new.
_SAME_OUTAGE_SECONDS = 1.0


class Check:
    """Is a session alive? One that died died with the others: a restart of the database ends all of them. The pool would
    try each in turn, and wait longer after each: ten dead ones were two requests of five seconds answered by 503."""

    def __init__(self) -> None:
        self._last_found = float("-inf")

    def __call__(self, session: psycopg.Connection[Any]) -> None:
        """Raises what the session raises; then the others that lie there are given up, too."""
        try:
            ConnectionPool.check_connection(session)
        except psycopg.Error:
            now = time.monotonic()
            if now - self._last_found > _SAME_OUTAGE_SECONDS:
                self._last_found = now
                cast("Any", connections["default"]).pool.drain()
            raise


def options() -> dict[str, Any]:
    """For Django's setting. A session that began while the database could only be read stays so: none lives long."""
    return {"min_size": 1, "max_size": 10, "timeout": 5, "max_idle": 300, "max_lifetime": 300, "check": Check()}
