"""procrastinate: asynchronous tasks, its psycopg connector, LISTEN/NOTIFY as by default."""

import asyncio
from collections.abc import Sequence
from typing import Any

from procrastinate import App, PsycopgConnector, SyncPsycopgConnector

from detiq_admin import lifeline
from jobs.bench.notes import taker
from jobs.bench.peers.base import THREADS, main


class Procrastinate:
    def __init__(self, url: str) -> None:
        self._url = url
        self._client: App | None = None

    def setup(self) -> None:
        self._open().schema_manager.apply_schema()

    def enqueue(self, slot: int) -> None:
        self._open().configure_task("noop").defer(n=slot)

    def enqueue_many(self, slots: Sequence[int]) -> None:
        arguments: list[dict[str, Any]] = [{"n": slot} for slot in slots]
        self._open().configure_task("noop").batch_defer(*arguments)

    def work(self) -> None:
        asyncio.run(self._work())

    async def _work(self) -> None:
        app = App(connector=PsycopgConnector(conninfo=self._url, min_size=2, max_size=THREADS + 2))

        @app.task(name="noop")
        async def noop(n: int) -> None:
            taker.note(n)

        async with app.open_async():
            lifeline.ready()
            await app.run_worker_async(concurrency=THREADS)

    def _open(self) -> App:
        if self._client is None:
            self._client = App(connector=SyncPsycopgConnector(conninfo=self._url))
            self._client.open()
        return self._client


if __name__ == "__main__":
    main(Procrastinate)
