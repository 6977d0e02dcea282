"""The parts of `manage.py up` that are processes: started, watched, started again when they die, stopped in order.

A part ends when this process ends, however it ended (`lifeline`), and says by itself when it is ready.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from detiq_admin.child_logs import last_line, open_log
from detiq_admin.lifeline import PARENT_FD, READY_FD
from detiq_admin.stop_signals import StopSignals
from jobs.domain.errors import JobsError

_POLL_SECONDS = 0.25
_LONGEST_PAUSE_SECONDS = 30.0
_HURRY_SECONDS = 10.0
_STEADY_SECONDS = 60.0  # one that ran this long starts again at once

type Say = Callable[[str, str], None]


class PartFailed(JobsError):
    """A part ended before it did its work."""


class Part:
    """One child process and how often it had to be started."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        env: Mapping[str, str],
        log: Path,
        *,
        stop_seconds: float,
        pass_fds: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.log = log
        self.stop_seconds = stop_seconds
        self._command = list(command)
        self._env = env
        self._pass_fds = tuple(pass_fds)
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self._pause = 0.0
        self._due: float | None = None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(self, lifeline: int) -> IO[bytes]:
        """Starts the process. The pipe returned carries its word that it works."""
        ready, say_ready = os.pipe()
        self._launch(lifeline, say_ready)
        return os.fdopen(ready, "rb", buffering=0)

    def wait_ready(self, word: IO[bytes], seconds: float) -> None:
        """Waits for its word. Raises `PartFailed` when it ends first; one that takes longer is slow, not broken."""
        with word, selectors.DefaultSelector() as selector:
            selector.register(word, selectors.EVENT_READ)
            if selector.select(seconds) and word.read(64) == b"":  # closed without a word: it has ended
                raise PartFailed(f"the {self.name} ended at once ({self._ending()}): {last_line(self.log)}")

    def _launch(self, lifeline: int, say_ready: int) -> None:
        with open_log(self.log) as log, contextlib.closing(os.fdopen(say_ready, "wb", buffering=0)):
            self._process = subprocess.Popen(
                self._command,
                env={**self._env, PARENT_FD: str(lifeline), READY_FD: str(say_ready)},
                pass_fds=(lifeline, say_ready, *self._pass_fds),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C reaches us alone; we stop the parts in order
            )
        self._started = time.monotonic()

    def ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def restart_if_due(self, lifeline: int, say: Say) -> None:
        """After an end: says so, waits a little longer each time, and starts it again."""
        if not self.ended():
            return
        now = time.monotonic()
        if self._due is None:
            self._pause = (
                0.0 if now - self._started > _STEADY_SECONDS else min(self._pause * 2 or 1.0, _LONGEST_PAUSE_SECONDS)
            )
            self._due = now + self._pause
            say(self.name, f"ended ({self._ending()}), starts again in {self._pause:g} s; its log: {self.log}")
        elif now >= self._due:
            self._due = None
            ready, say_ready = os.pipe()
            os.close(ready)
            self._launch(lifeline, say_ready)
            say(self.name, f"process {self.pid}")

    def ask_to_stop(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)

    def wait(self, stop: StopSignals, hurry: bool) -> bool:
        """Until it has stopped; past `stop_seconds` it is killed. In a hurry, or once a further stop is asked for, it
        is asked a second time, which means at once. Returns whether there is a hurry by now."""
        deadline = time.monotonic() + self.stop_seconds
        asked_again = False
        while not self.ended():
            hurry = stop.wait(0.05) or hurry
            if hurry and not asked_again:
                self.ask_to_stop()
                asked_again, deadline = True, min(deadline, time.monotonic() + _HURRY_SECONDS)
            if time.monotonic() > deadline:
                self.kill()
        return hurry

    def kill(self) -> None:
        """The process and all that it started, at once."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _ending(self) -> str:
        code = None if self._process is None else self._process.wait()
        if code is not None and code < 0:
            return signal.Signals(-code).name
        return f"exit code {code}"


class Supervisor:
    """Keeps the parts running until a stop is asked for. Use as a context: leaving it stops every part."""

    def __init__(self, stop: StopSignals, say: Say) -> None:
        self._stop = stop
        self._say = say
        self._parts: list[Part] = []
        # Only this process holds the writing end; nothing is ever written. A child reads its end as ours.
        self._lifeline, self._held = os.pipe()

    def start(self, *parts: Part, ready_seconds: float = 30.0) -> Iterator[Part]:
        """Starts the parts together and yields each, in turn, once it works. Raises `PartFailed`."""
        words = []
        for part in parts:
            self._parts.append(part)
            words.append(part.start(self._lifeline))
        for part, word in zip(parts, words, strict=True):
            part.wait_ready(word, ready_seconds)
            yield part

    def run(self, also: Callable[[], None]) -> None:
        """Until a stop is asked for. `also` is called in every round, a few times a second."""
        while not self._stop.wait(_POLL_SECONDS):
            also()
            for part in self._parts:
                part.restart_if_due(self._lifeline, self._say)

    def stop(self) -> None:
        """Stops the parts in turn, the last started first."""
        hurry = False
        for part in reversed(self._parts):
            part.ask_to_stop()
            hurry = part.wait(self._stop, hurry)
            part.kill()
        self._parts.clear()
