"""Tells open pages that something changed: one LISTEN connection a process, however many pages are open.

A hint carries no data: pages read what they show through the same queries and rights as ever, and ask on a timer
anyway. Nothing depends on a hint that is lost.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
import structlog
from django.db import connections

from jobs.console.queries.overview import shared
from jobs.queue.connections import connector, parameters, sessions_change

log = structlog.get_logger("jobs.console")

CHANNEL = "detiq_changed"
COALESCE_SECONDS = 0.1
PING_SECONDS = 15.0
RECHECK_SECONDS = 30.0
LOOK_SECONDS = 2.0
PROBE_SECONDS = 10.0
MOST_CLIENTS = 500
CHANGED = 'event: changed\ndata: {"topics": []}\n\n'
PING = ": ping\n\n"


class Hub:
    """The listener of one event loop and the pages that wait on it."""

    def __init__(self) -> None:
        self._clients: set[asyncio.Queue[str]] = set()
        self._task: asyncio.Task[None] | None = None

    def join(self) -> asyncio.Queue[str]:
        """A place for one page; starts the listener if none runs. The newest hint replaces one not yet taken."""
        queue: asyncio.Queue[str] = asyncio.Queue(maxsize=1)
        self._clients.add(queue)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._listen())
        return queue

    def leave(self, queue: asyncio.Queue[str]) -> None:
        """The page has gone; with the last one the listener goes."""
        self._clients.discard(queue)
        if not self._clients and self._task:
            self._task.cancel()
            self._task = None

    @property
    def size(self) -> int:
        return len(self._clients)

    def _tell(self) -> None:
        shared.changed()
        for queue in self._clients:
            if queue.empty():
                queue.put_nowait(CHANGED)

    async def _listen(self) -> None:
        failures = 0
        while True:
            try:
                if await asyncio.to_thread(sessions_change, connector(connections["default"].settings_dict)):
                    return await self._tell_now_and_then()
                async with await connect() as connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    if failures:
                        log.info("live.reconnected", failures=failures)
                    failures = 0
                    self._tell()  # what changed before or while nobody listened is not announced again
                    await self._follow(connection)
            except (psycopg.Error, OSError) as error:
                failures += 1
                log.warning("live.listener_lost", error=str(error)[:200], failures=failures)
                await asyncio.sleep(min(10.0, 0.25 * 2 ** min(failures, 6)) * (0.5 + random.random() / 2))  # noqa: S311

    async def _tell_now_and_then(self) -> None:
        """Behind a pooler in transaction mode nothing is heard: pages look at what has changed, if anything."""
        while True:
            self._tell()
            await asyncio.sleep(LOOK_SECONDS)

    async def _follow(self, connection: psycopg.AsyncConnection[Any]) -> None:
        while True:
            heard = False
            async for _ in connection.notifies(timeout=PROBE_SECONDS, stop_after=1):
                heard = True
            if heard:
                await asyncio.sleep(COALESCE_SECONDS)
                async for _ in connection.notifies(timeout=0):
                    pass
                self._tell()
            else:  # a connection that died without a word is found by asking
                await asyncio.wait_for(connection.execute("SELECT 1"), PROBE_SECONDS)


async def connect() -> psycopg.AsyncConnection[Any]:
    """A connection of its own, never of the pool: it is held for as long as pages are open."""
    settings = connections["default"].settings_dict
    return await psycopg.AsyncConnection.connect(**parameters(settings, "detiq-live"))


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    """The hub of the running event loop; a process that serves has one."""
    return _hubs.setdefault(asyncio.get_running_loop(), Hub())


async def stream(still_welcome: Callable[[], Awaitable[bool]]) -> AsyncIterator[str]:
    """The events of one page, until it goes or its user may no longer see it."""
    place, loop = hub(), asyncio.get_running_loop()
    queue = place.join()
    check_at = loop.time() + RECHECK_SECONDS
    try:
        yield "retry: 3000\n\n" + CHANGED
        while True:
            try:
                yield await asyncio.wait_for(queue.get(), PING_SECONDS)
            except TimeoutError:
                yield PING
            if loop.time() >= check_at:
                if not await still_welcome():
                    return
                check_at = loop.time() + RECHECK_SECONDS
    finally:
        place.leave(queue)
