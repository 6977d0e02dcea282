"""Found by Django under this name."""

from typing import Any

from django.db.backends.postgresql import base

from jobs.queue.connections import bound_times


class DatabaseWrapper(base.DatabaseWrapper):
    """One row of no time (infinity, the year 9999) makes no page unreadable, by whatever statement it is read."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """A connection, from the pool if there is one."""
        connection = super().get_new_connection(conn_params)
        bound_times(connection)
        return connection
