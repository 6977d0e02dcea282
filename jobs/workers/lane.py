"""A thread that works for another one, which can leave it behind when it does not come back."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from django.db import close_old_connections, connections


class Lane:
    """Runs what it is given, one after the other, in one lasting thread, which keeps its database connection."""

    def __init__(self, name: str) -> None:
        self._work: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.thread.start()

    def submit[T](self, function: Callable[[], T]) -> "Future[T]":
        """What it will come to."""
        future: Future[T] = Future()
        self._work.put((function, future))
        return future

    def leave(self) -> None:
        """Nothing more will come: the thread ends with what it does now, whenever that is."""
        self._work.put(None)

    def _run(self) -> None:
        try:
            while (work := self._work.get()) is not None:
                function, future = work
                close_old_connections()
                try:
                    future.set_result(function())
                except BaseException as error:  # noqa: BLE001 - handed to whoever waits, who raises it
                    future.set_exception(error)
        finally:
            connections.close_all()
