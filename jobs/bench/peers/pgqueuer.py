"""pgqueuer on asyncpg: batches of 10 claimed ahead, its default, or of BATCH."""

import asyncio
import os
import signal
from collections.abc import Coroutine, Sequence
from typing import Any

import asyncpg
from pgqueuer import PgQueuer as Library
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries

from detiq_admin import lifeline
from jobs.bench.notes import taker
from jobs.bench.peers.base import main

BATCH_VARIABLE = "DETIQ_BENCH_PGQUEUER_BATCH"


class PgQueuer:
    def __init__(self, url: str) -> None:
        self._url = url
        self._loop = asyncio.new_event_loop()
        self._queries: Queries | None = None

    def setup(self) -> None:
        self._wait(self._client().install())

    def enqueue(self, slot: int) -> None:
        self._wait(self._client().enqueue("noop", str(slot).encode()))

    def enqueue_many(self, slots: Sequence[int]) -> None:
        payloads: list[bytes | None] = [str(slot).encode() for slot in slots]
        self._wait(self._client().enqueue(["noop"] * len(payloads), payloads, [0] * len(payloads)))

    def work(self) -> None:
        self._wait(self._work())

    async def _work(self) -> None:
        queue = Library(AsyncpgDriver(await asyncpg.connect(self._url)))

        @queue.entrypoint("noop")
        async def noop(job: Job) -> None:
            taker.note(int(job.payload or b""))

        self._loop.add_signal_handler(signal.SIGTERM, queue.shutdown.set)
        lifeline.ready()
        await queue.run(batch_size=int(os.environ.get(BATCH_VARIABLE, "10")))

    def _client(self) -> Queries:
        if self._queries is None:
            self._queries = Queries(AsyncpgDriver(self._wait(asyncpg.connect(self._url))))
        return self._queries

    def _wait[T](self, what: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(what)


if __name__ == "__main__":
    main(PgQueuer)
