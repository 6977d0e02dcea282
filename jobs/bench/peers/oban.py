"""Oban for Python, embedded, one queue."""

import asyncio
import signal
from collections.abc import Coroutine, Sequence
from typing import Any

from oban import Job, Oban, Worker, worker
from oban.schema import install

from detiq_admin import lifeline
from jobs.bench.notes import taker
from jobs.bench.peers.base import THREADS, main


@worker(queue="default")
class Noop(Worker):
    async def process(self, job: Job) -> None:
        taker.note(job.args["n"])


class ObanPeer:
    def __init__(self, url: str) -> None:
        self._url = url
        self._loop = asyncio.new_event_loop()
        self._client: Oban | None = None

    def setup(self) -> None:
        self._wait(self._install())

    def enqueue(self, slot: int) -> None:
        self._wait(self._open().enqueue(Noop.new({"n": slot})))

    def enqueue_many(self, slots: Sequence[int]) -> None:
        self._wait(self._open().enqueue_many([Noop.new({"n": slot}) for slot in slots]))

    def work(self) -> None:
        self._wait(self._work())

    async def _install(self) -> None:
        await install(await Oban.create_pool(dsn=self._url))

    async def _work(self) -> None:
        stop = asyncio.Event()
        self._loop.add_signal_handler(signal.SIGTERM, stop.set)
        pool = await Oban.create_pool(dsn=self._url)
        async with Oban(pool=pool, queues={"default": THREADS}):
            lifeline.ready()
            await stop.wait()

    def _open(self) -> Oban:
        if self._client is None:
            self._client = Oban(pool=self._wait(Oban.create_pool(dsn=self._url)))
        return self._client

    def _wait[T](self, what: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(what)


if __name__ == "__main__":
    main(ObanPeer)
