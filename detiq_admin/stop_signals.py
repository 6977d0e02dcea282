"""SIGINT, SIGTERM and SIGHUP of `manage.py up`: an interruption while it starts, messages once it runs."""

import queue
import signal
from types import FrameType

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopAsked(BaseException):
    """Somebody wants this process to stop, and it has not finished starting."""


class StopSignals:
    """Takes the signals over. `SimpleQueue` is the one queue that a signal handler may write to."""

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[signal.Signals] = queue.SimpleQueue()
        self._interrupt = True
        for number in STOPPING:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup stays nohup
                signal.signal(number, self._receive)

    def _receive(self, number: int, _: FrameType | None) -> None:
        if self._interrupt:
            self._interrupt = False  # the way out must not be interrupted in turn
            raise StopAsked
        self._asked.put(signal.Signals(number))

    def queue_from_now_on(self) -> None:
        """The start is over: signals no longer interrupt, they wait to be read."""
        self._interrupt = False

    def wait(self, seconds: float) -> bool:
        """Whether a stop was asked for within this time."""
        try:
            self._asked.get(timeout=seconds)
        except queue.Empty:
            return False
        return True
