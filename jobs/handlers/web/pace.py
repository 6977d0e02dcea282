"""Politeness: one request at a time to a host, and a pause before the next."""

import time
from collections.abc import Callable


class Pace:
    """When the next request to a host may start. `sleep` is the job's own, so that a cancel is seen while waiting."""

    def __init__(self, sleep: Callable[[float], None], delay_seconds: float, longest_seconds: float) -> None:
        self._sleep = sleep
        self._delay = delay_seconds
        self._longest = max(longest_seconds, delay_seconds)
        self._asked: dict[str, float] = {}
        self._next: dict[str, float] = {}

    def ask_for(self, host: str, seconds: float) -> float:
        """A robots.txt asks for this pause. Returns the pause that is kept: the longer of ours and theirs, within
        bounds."""
        kept = min(max(seconds, self._asked.get(host, 0.0)), self._longest)
        self._asked[host] = kept
        return max(kept, self._delay)

    def wait(self, host: str) -> None:
        """Returns once a request to `host` may start. Raises `StopRun` when the run has to stop."""
        self._sleep(max(0.0, self._next.get(host, 0.0) - time.monotonic()))

    def finished(self, host: str) -> None:
        """A request has ended. The pause counts from here, so that a slow site gets more rest."""
        pause = max(self._delay, self._asked.get(host, 0.0))
        self._next[host] = max(self._next.get(host, 0.0), time.monotonic() + pause)

    def hold(self, host: str, seconds: float) -> None:
        """Nothing goes to `host` for so long: it asked for a rest."""
        self._next[host] = max(self._next.get(host, 0.0), time.monotonic() + seconds)
