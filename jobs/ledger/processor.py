"""The one processor of the ledger: claims, runs hooks, records what became of them.

May run in many threads and processes at once. The truth is in the database: what a drainer does not finish, because it
was stopped, is put back; what it cannot finish, because it was killed, is taken back once it has been silent for long.
"""

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import takewhile

import structlog
from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction

from jobs.conf import conf
from jobs.domain.masking import mask_text
from jobs.domain.text import safe_str
from jobs.ledger import hooks, outbox
from jobs.ledger.hooks import Event, Hook, HookHangs, HookRefused, HookTooSlow

log = structlog.get_logger("jobs.ledger")

FIRST_DELAY_SECONDS = 10.0
LONGEST_DELAY_SECONDS = 600.0
JITTER = 0.1
# How long hooks that run in one transaction may hold what they have locked.
TOGETHER_SECONDS = 0.25
RECLAIMED = 500
# So many runs of one hook type may hang in a process; then it is not begun there again until one of them returns.
MOST_HANGING = 3
# Errors of our own, whose text says it all.
_PLAIN = (HookRefused, HookTooSlow, HookHangs, hooks.UnknownHook)
# How long a drainer that is told to stop goes on trying to record an outcome while the database is away.
LAST_TRIES_SECONDS = 3.0


def delay_seconds(attempts: int, rng: random.Random) -> float:
    """The wait after the failure of so many attempts: 10 s, doubled each time, at most 10 min, and up to 10 % on top."""
    delay = min(FIRST_DELAY_SECONDS * 2.0 ** min(attempts - 1, 30), LONGEST_DELAY_SECONDS)
    return delay * (1 + rng.uniform(0, JITTER))


class ClaimLost(Exception):
    """The event was taken from this drainer while it ran: whatever the hook wrote is undone."""


@dataclass
class Drained:
    """What one drain did. `more`: there may be more that can run now."""

    succeeded: int = 0
    failed: int = 0
    retried: int = 0
    lost: int = 0
    released: int = 0
    more: bool = False

    @property
    def ran(self) -> int:
        """How many hooks were run."""
        return self.succeeded + self.failed + self.retried + self.lost

    def add(self, other: "Drained") -> None:
        """What another drain did as well, after this one."""
        for name in ("succeeded", "failed", "retried", "lost", "released"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.more = other.more


@dataclass(frozen=True)
class UnderWay:
    """A hook that runs now. `since`: monotonic seconds; `backend`: the process of the database that serves its thread."""

    event: Event
    claimed: Sequence[Event]
    since: float
    seconds: float | None
    backend: int | None


@dataclass
class Processor:
    """`find`: what does a hook type. `stopping`: asked between events; true ends the drain. `hanging`: how many runs of a
    hook type were given up in this process and have not returned.

    One drain at a time. Another thread may watch `under_way` and `give_up` what takes too long.
    """

    max_attempts: int
    stale: timedelta
    batch: int
    find: Callable[[str], Hook] = hooks.find
    stopping: Callable[[], bool] = lambda: False
    rng: random.Random = field(default_factory=random.Random)
    hanging: Callable[[str], int] = lambda hook_type: 0
    under_way: UnderWay | None = field(default=None, init=False)
    _claimed: Sequence[Event] = field(default=(), init=False)
    _done: Drained = field(default_factory=Drained, init=False)
    _given_up: bool = field(default=False, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def reclaim(self) -> int:
        """Takes back what lost its process. Returns how many."""
        total = 0
        while True:
            taken = outbox.reclaim_stale_running(self.stale, RECLAIMED)
            total += taken
            if taken < RECLAIMED:
                return total

    def drain(self, seconds: float, document_id: str | None = None) -> Drained:
        """Runs what may run, of one document if it is named, for about so many seconds; the event under way is finished.

        Raises `OperationalError` when the database is away before anything was claimed.
        """
        done, deadline = Drained(), time.monotonic() + seconds
        self._done = done
        while not self._must_stop():
            events = outbox.claim_pending_batch(self.batch, self.max_attempts, document_id)
            if not events:
                return done
            self._claimed = events
            with _beating(events[0].claim_token, self.stale, lambda: self._given_up):
                left = self._run_some(events, done, deadline)
                if left:
                    done.released += self._record(lambda left=left: outbox.release(left))  # type: ignore[misc]
            if left or time.monotonic() >= deadline:
                break
        done.more = True
        return done

    def _run_some(self, events: Sequence[Event], done: Drained, deadline: float) -> Sequence[Event]:
        """Runs them in order; returns those that were not begun, because the time is over."""
        position, together = 0, True
        while position < len(events):
            if position and (self._must_stop() or time.monotonic() >= deadline):
                break
            ran = self._run_together(events[position:]) if together else 0
            # One of them went wrong: the rest of the claim runs one by one.
            together = together and (ran > 0 or not self._is_atomic(events[position]))
            done.succeeded += ran
            if not ran:
                self._run(events[position], done)
            position += ran or 1
        return events[position:]

    def _run_together(self, events: Sequence[Event]) -> int:
        """Runs events whose hooks write to this database alone in one transaction, which is far cheaper than one each.

        All of them went well, or none has run: 0. One alone is not for here.
        """
        if len(events) == 1:
            return 0
        ran: list[Event] = []
        until = time.monotonic() + TOGETHER_SECONDS
        try:
            with transaction.atomic():
                for event in takewhile(self._is_atomic, events):
                    if ran and (time.monotonic() > until or self._must_stop()):
                        break
                    _ = event.payload
                    self._call(event, self.find(event.hook_type))
                    ran.append(event)
                if ran and outbox.mark_all_succeeded(ran) != len(ran):
                    raise ClaimLost
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whichever it is, it shows when they run one by one
            log.debug("ledger.one_by_one", events=len(ran) + 1, error=type(error).__name__)
            return 0
        return len(ran)

    def _is_atomic(self, event: Event) -> bool:
        try:
            return self.find(event.hook_type).atomic
        except hooks.UnknownHook:
            return False

    def _run(self, event: Event, done: Drained) -> None:
        try:
            succeeded = self._perform(event)
        except ClaimLost:
            succeeded = False
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a hook may raise anything (CancelledError is no Exception)
            if not self._given_up:  # else it is told already, by whoever gave it up
                self._failed(event, error, done)
                return
            succeeded = False
        if succeeded:
            done.succeeded += 1
        else:
            _say_lost(event, done)

    def _perform(self, event: Event) -> bool:
        """The hook, and that it went well: in one transaction, or one after the other."""
        hook = self.find(event.hook_type)
        _ = event.payload  # what is no JSON is refused before the hook begins
        if not hook.atomic:
            self._call(event, hook)
            return bool(self._record(lambda: outbox.mark_succeeded(event)))
        with transaction.atomic():
            self._call(event, hook)
            if not outbox.mark_succeeded(event):
                raise ClaimLost
        return True

    def _call(self, event: Event, hook: Hook) -> None:
        """Runs the hook where a watcher sees it. Nothing begins once the drain was given up."""
        if (runs := self.hanging(event.hook_type)) >= MOST_HANGING:
            raise HookHangs(event.hook_type, runs)
        with self._lock:
            if self._given_up:
                raise ClaimLost
            self.under_way = UnderWay(event, self._claimed, time.monotonic(), hook.seconds, _backend())
        try:
            hook.function(event)
        finally:
            with self._lock:
                self.under_way = None

    def give_up(self, overdue: UnderWay, limit: float) -> Drained | None:
        """Called by a watcher, in its own thread: the hook under way has not returned in time. None: it just did.

        Its connection is ended, so that what it has locked is free and what it wrote is undone; its attempt has failed;
        what was claimed with it waits again. The drain's thread changes nothing more, whenever it comes back.
        """
        with self._lock:
            if self.under_way is not overdue:
                return None
            self._given_up = True
        done = replace(self._done, more=True)
        log.error("ledger.hook_given_up", event_id=overdue.event.id, hook_type=overdue.event.hook_type, seconds=limit)
        if overdue.backend is not None:
            outbox.end_backend(overdue.backend)
        self._failed(overdue.event, HookTooSlow(limit), done)
        others = [event for event in overdue.claimed if event.id != overdue.event.id]
        done.released += self._record(lambda: outbox.release(others))
        return done

    def _must_stop(self) -> bool:
        return self._given_up or self.stopping()

    def _failed(self, event: Event, error: BaseException, done: Drained) -> None:
        final = isinstance(error, HookRefused) or event.attempts >= self.max_attempts
        text = str(error) if isinstance(error, _PLAIN) else f"{type(error).__name__}: {safe_str(error)}"
        log.warning(
            "ledger.failed" if final else "ledger.retried",
            event_id=event.id, hook_type=event.hook_type, attempts=event.attempts,
            error=mask_text(text[:2000], conf().masked_keys)[:300],
        )  # fmt: skip
        if final:
            recorded = self._record(lambda: outbox.mark_failed(event, text))
        else:
            delay = delay_seconds(event.attempts, self.rng)
            recorded = self._record(lambda: outbox.mark_retryable(event, text, delay))
        if not recorded:
            _say_lost(event, done)
        elif final:
            done.failed += 1
        else:
            done.retried += 1

    def _record[T](self, write: Callable[[], T]) -> T:
        """Writes an outcome, again and again while the database is away; a drainer that has to stop gives up soon."""
        wait, last_try = 0.2, None
        while True:
            try:
                return write()
            except (OperationalError, InterfaceError) as error:
                connection.close()
                if self._must_stop():
                    last_try = last_try or time.monotonic() + LAST_TRIES_SECONDS
                    if time.monotonic() > last_try:
                        raise
                log.warning("ledger.not_recorded", error=str(error).strip()[:300], next_try_seconds=wait)
                time.sleep(wait)
                wait = min(wait * 2, 5.0)


def _say_lost(event: Event, done: Drained) -> None:
    done.lost += 1
    log.warning("ledger.claim_lost", event_id=event.id, hook_type=event.hook_type, attempts=event.attempts)


def _backend() -> int | None:
    """The process of the database that serves this thread; None when it has no connection yet."""
    connected = connection.connection
    return None if connected is None or connected.closed else int(connected.info.backend_pid)


@contextmanager
def _beating(token: str, stale: timedelta, given_up: Callable[[], bool]) -> Iterator[None]:
    """Says now and then that the claim's process lives, on a connection of its own, so that a hook may take long."""
    over = threading.Event()
    every = min(15.0, stale.total_seconds() / 4)

    def beat() -> None:
        try:
            while not over.wait(every) and not given_up():
                try:
                    outbox.beat(token)
                except DatabaseError as error:
                    log.warning("ledger.beat_failed", error=str(error).strip()[:300])
                    connection.close()
        finally:
            connection.close()

    thread = threading.Thread(target=beat, name="detiq-ledger-beat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(5)
