"""Ours, by the same steps: through the door, and `manage.py worker`."""

import logging
from collections.abc import Sequence

import django
import psycopg
import structlog
from django.core.management import call_command

from jobs.bench.handlers import NOOP
from jobs.bench.peers.base import THREADS, main

TENANTS = 100


class Detiq:
    def __init__(self, url: str) -> None:
        django.setup()
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
        self._url = url
        self._connection: psycopg.Connection[tuple[object, ...]] | None = None

    @property
    def connection(self) -> psycopg.Connection[tuple[object, ...]]:
        if self._connection is None:
            self._connection = psycopg.connect(self._url, autocommit=True)
        return self._connection

    def setup(self) -> None:
        """The database was made with our tables."""

    def enqueue(self, slot: int) -> None:
        from jobs.queue import transitions

        transitions.enqueue(
            type=NOOP, tenant_id=f"t-{slot % TENANTS}", config={"n": slot}, actor="bench", using=self.connection
        )

    def enqueue_many(self, slots: Sequence[int]) -> None:
        from jobs.domain.new_job import NewJob
        from jobs.queue import transitions

        jobs = [NewJob(NOOP, f"t-{slot % TENANTS}", config={"n": slot}) for slot in slots]
        transitions.enqueue_many(jobs, actor="bench", using=self.connection)

    def work(self) -> None:
        call_command("worker", concurrency=THREADS)


class DetiqPlain(Detiq):
    """Jobs made by another program's plain INSERT."""

    def enqueue(self, slot: int) -> None:
        from jobs.bench import statements

        params = {"id": f"n-{slot}", "tenant": f"t-{slot % TENANTS}", "type": NOOP, "n": slot}
        self.connection.execute(statements.text("insert_noop"), params)


if __name__ == "__main__":
    main(Detiq)
