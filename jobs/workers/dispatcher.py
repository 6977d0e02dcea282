"""The one claimer of a process. Threads hand it the ends of their runs and wait for work; it writes ends and claims for
all free threads in one statement and one commit, and claims nothing beyond them.

An end is kept until the database has recorded it or said that the run is no longer ours.
"""

import math
import queue
import random
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import psycopg
import structlog

from jobs.domain.outcomes import ClaimRequest, Completed, EndAnswer, Ended, Released, Turn
from jobs.queue import liveness, transitions
from jobs.workers.active import ActiveRun, ActiveRuns
from jobs.workers.link import Backoff, Link, is_about_us, is_outage, may_pass

log = structlog.get_logger("jobs.worker")

MOST_ENDS = 100
CONTENDED_SECONDS = (0.005, 0.05)
LOCKED_ROW_RETRY_SECONDS = 1.0
# Jobs that were started together often end together, and a turn for eight costs little more than one for one: an end
# waits for the others of its turn as long as a turn takes, and never longer than this.
LONGEST_GATHERING_SECONDS = 0.003
# Turns that only complete runs and claim are told to other processes this often at most: commits that notify wait for each
# other, and whoever is woken a thousand times a second gets less done.
WAKE_SECONDS = 0.05


@dataclass(frozen=True)
class ClaimTerms:
    """What a worker may claim: its handlers' types and the default caps."""

    types: list[str]
    tenant_cap: int
    type_caps: dict[str, int]
    poll_seconds: float
    strict: bool = False
    relief: int = 0  # one claim in so many begins at a lower priority


# Where an executing thread waits until it is told to look.
type _Seat = queue.SimpleQueue[None]


@dataclass
class _State:
    ends: deque[Ended] = field(default_factory=deque)
    locked: deque[tuple[float, Ended]] = field(default_factory=deque)  # monotonic time of the next try, in order
    free: deque["_Seat"] = field(default_factory=deque)  # of the threads that wait for a run
    ready: deque[ActiveRun] = field(default_factory=deque)  # claimed for them, and not taken yet
    woken: "_Seat | None" = None  # of the thread that was told to look, and has not come yet
    look_at: float = 0.0  # monotonic time of the next look for work
    fresh: set[str] = field(default_factory=set)  # jobs that the last turn handed out and that have not ended yet
    waiting_since: float = 0.0  # monotonic time since when an end has been waiting for the others
    handed_at: float = 0.0  # monotonic time of the last handing out
    awake_at: float = 0.0  # monotonic time at which the dispatcher looks by itself, at the latest
    claiming: bool = True
    stopped: bool = False


class Dispatcher:
    """Runs in a thread of its own (`run`); `next_run` and `end` are called by the executing threads."""

    def __init__(
        self,
        worker_id: str,
        link: Link,
        active: ActiveRuns,
        terms: ClaimTerms,
        mend: Callable[[Ended, Exception], Ended],
        rng: random.Random | None = None,
    ) -> None:
        """`mend` turns an end that cannot be written, most likely since PostgreSQL refuses it, into one that can."""
        self._worker_id = worker_id
        self._link = link
        self._active = active
        self._terms = terms
        self._mend = mend
        self._rng = rng or random.Random()  # noqa: S311 - spreads claimers, guards nothing
        self._after = ""
        self._turn_seconds = 0.0  # how long the last turn took
        self._told_at = 0.0  # monotonic time when others were last told of our changes
        self._owed = False  # is there something they were not told?
        self._unsure = False  # may there be runs of ours that we were never told of?
        self._state = _State()
        self._changed = threading.Condition()

    # --- Called by the executing threads -----------------------------------------------------------------------------

    def next_run(self) -> ActiveRun | None:
        """Waits for a run to do. None: the worker stops.

        Each thread that takes a run wakes the next one, if there is more to do: waking all at once makes them wait for each
        other, and whoever is done in a moment takes the next run without any thread being woken.
        """
        seat: _Seat = queue.SimpleQueue()
        with self._changed:
            if not self._state.claiming:
                return None
            if self._state.ready:
                return self._take()
            self._state.free.append(seat)
            # With ends waiting, the dispatcher is awake by itself in a moment at the latest.
            if not self._state.ends or self._gathered():
                self._changed.notify_all()
        try:
            return self._called_from(seat)
        except BaseException:
            self._give_up(seat)
            raise

    def _called_from(self, seat: _Seat) -> ActiveRun | None:
        while True:
            seat.get()
            with self._changed:
                if self._state.woken is seat:
                    self._state.woken = None
                if not self._state.claiming:
                    return None
                if self._state.ready:
                    self._state.free.remove(seat)
                    return self._take()

    def _give_up(self, seat: _Seat) -> None:
        """Its thread was ended from outside (a handler's limit of time that came late): nobody is to wait for it."""
        with self._changed:
            if seat in self._state.free:
                self._state.free.remove(seat)
            if self._state.woken is seat:
                self._state.woken = None
            self._wake_one()

    def _take(self) -> ActiveRun:
        active = self._state.ready.popleft()
        self._wake_one()
        return active

    def _wake_one(self) -> None:
        state = self._state
        if state.ready and state.free and state.woken is None:
            state.woken = state.free[0]
            state.woken.put(None)

    def end(self, ended: Ended) -> None:
        """Hands over what a run ended in. Returns at once; it will be recorded."""
        with self._changed:
            state = self._state
            state.ends.append(ended)
            state.fresh.discard(ended.run.job_id)
            if len(state.ends) == 1:
                state.waiting_since = time.monotonic()
                if state.awake_at > state.waiting_since + self._patience():
                    self._changed.notify_all()

    # --- Called by others --------------------------------------------------------------------------------------------

    def look_now(self) -> None:
        """There may be work."""
        with self._changed:
            self._state.look_at = 0.0
            self._changed.notify_all()

    def take_types(self, types: list[str]) -> None:
        """From now on these types are claimed."""
        self._terms = replace(self._terms, types=types)
        self.look_now()

    def stop_claiming(self) -> None:
        """From now on nothing new is started; ends are still recorded."""
        with self._changed:
            self._state.claiming = False
            while self._state.free:
                self._state.free.popleft().put(None)
            left = [self._state.ready.popleft() for _ in range(len(self._state.ready))]
            self._changed.notify_all()
        self._put_back(left)

    def stop(self) -> None:
        """Ends the loop. What is not recorded by then is logged; the sweep will find it."""
        with self._changed:
            self._state.stopped = True
            self._changed.notify_all()

    def pending_ends(self) -> int:
        with self._changed:
            return len(self._state.ends) + len(self._state.locked)

    # --- The loop ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        backoff = Backoff("dispatcher")
        while self._wait_for_work():
            try:
                self._one_turn()
            except Exception as error:
                if not may_pass(error):
                    log.exception("worker.turn_failed")
                self._pause(backoff.failed(error))
                self.look_now()  # what it was to look for is still there, and no word of it comes again
            else:
                backoff.succeeded()
        try:
            self._tell()
        except psycopg.Error as error:
            log.warning("worker.others_not_told", error=str(error).strip()[:300])

    def _wait_for_work(self) -> bool:
        with self._changed:
            while not self._state.stopped:
                due = [self._state.locked[0][0]] if self._state.locked else []
                if self._state.claiming and self._slots() > 0:
                    due.append(self._state.look_at)
                if self._state.ends:
                    due.append(0.0 if self._gathered() else self._state.waiting_since + self._patience())
                if self._owed:
                    due.append(self._told_at + WAKE_SECONDS)
                now = time.monotonic()
                if due and min(due) <= now:
                    return True
                # Runs that are short end while we sleep, and need wake nobody.
                if self._state.fresh and (soon := self._state.handed_at + self._patience()) > now:
                    due.append(soon)
                self._state.awake_at = min(due, default=math.inf)
                self._changed.wait(self._state.awake_at - now if due else None)
                self._state.awake_at = 0.0
            return False

    def _gathered(self) -> bool:
        """Has all that the last turn handed out ended, and are its threads back? Nobody waits for more than that."""
        state = self._state
        return not state.claiming or (not state.fresh and self._slots() >= len(state.ends))

    def _slots(self) -> int:
        """Threads that wait and for which nothing is claimed yet."""
        return len(self._state.free) - len(self._state.ready)

    def _patience(self) -> float:
        return min(LONGEST_GATHERING_SECONDS, self._turn_seconds)

    def _pause(self, seconds: float) -> None:
        """Waits, unless told to stop."""
        with self._changed:
            self._changed.wait_for(lambda: self._state.stopped, timeout=seconds)

    def _one_turn(self) -> None:
        with self._changed:
            now = time.monotonic()
            while self._state.locked and self._state.locked[0][0] <= now:
                self._state.ends.append(self._state.locked.popleft()[1])
            ends = [self._state.ends[i] for i in range(min(MOST_ENDS, len(self._state.ends)))]
            slots = max(0, self._slots()) if self._state.claiming and (ends or self._state.look_at <= now) else 0
            if slots:  # told of new work from here on, we look again after this turn
                self._state.look_at = now + self._terms.poll_seconds
        if self._unsure:
            self._put_back_unknown()
        if not ends and not slots:
            self._tell()
            return
        began = time.monotonic()
        try:
            turn = self._call(ends, slots)
        except Exception as error:
            if is_outage(error):
                self._unsure = True
            if is_outage(error) or not ends:
                raise
            self._end_one_by_one(ends)
            self.look_now()
            return
        self._turn_seconds = time.monotonic() - began
        self._settle(ends, turn.ends)
        self._hand_out(turn, slots)

    def _put_back_unknown(self) -> None:
        """After a break: a claim may have been committed whose answer never came. Nobody runs those jobs."""
        known = [active.run for active in self._active.all()]
        held = self._link.call(lambda connection: liveness.held_by(self._worker_id, known, connection))
        if held:
            unknown = [Ended(run, Released("claimed, but the answer was lost")) for run in held]
            self._link.call(lambda connection: transitions.finish(self._worker_id, unknown, connection))
            log.warning("run.unknown_put_back", jobs=[ended.run.job_id for ended in unknown])
        self._unsure = False

    def _call(self, ends: list[Ended], slots: int) -> Turn:
        terms = self._terms
        now = time.monotonic()
        quiet = now - self._told_at < WAKE_SECONDS and all(isinstance(ended.outcome, Completed) for ended in ends)
        relief = self._rng.random() if terms.relief and self._rng.random() < 1 / terms.relief else None
        request = ClaimRequest(
            slots,
            terms.types,
            terms.tenant_cap,
            terms.type_caps,
            self._after,
            relief=relief,
            strict=terms.strict,
            quiet=quiet,
        )
        try:
            turn = self._link.call(lambda connection: transitions.turn(self._worker_id, ends, request, connection))
        except psycopg.Error:
            self._owed = True  # what was committed without our hearing of it, others did not hear of either
            raise
        if turn.ends or turn.jobs:
            self._owed = quiet
            self._told_at = self._told_at if quiet else now
        return turn

    def _tell(self) -> None:
        """What quiet turns kept to themselves."""
        if self._owed:
            self._link.call(lambda connection: transitions.wake(self._worker_id, connection))
            self._told_at, self._owed = time.monotonic(), False

    def _settle(self, ends: list[Ended], answers: list[EndAnswer]) -> None:
        """Forgets what is recorded, and what is no longer ours to record."""
        with self._changed:
            for ended in ends:
                self._state.ends.remove(ended)
        for answer in answers:
            if not answer.changed:
                log.warning("run.lost_at_end", job=answer.job_id, found=answer.found, worker=self._worker_id)
        for ended in ends:
            self._active.remove(ended.run)

    def _end_one_by_one(self, ends: list[Ended]) -> None:
        """One of several ends was refused, or its row is locked by somebody: the others must not wait for it."""
        for ended in ends:
            try:
                turn = self._call([ended], 0)
            except Exception as error:
                if is_outage(error):
                    raise
                if may_pass(error) or is_about_us(error):
                    log.warning("run.end_waits", job=ended.run.job_id, error=str(error).strip()[:300])
                    self._try_later(ended)
                    continue
                log.exception("run.end_refused", job=ended.run.job_id)
                self._put_last(ended, self._mend(ended, error))
            else:
                self._settle([ended], turn.ends)

    def _try_later(self, ended: Ended) -> None:
        with self._changed:
            self._state.ends.remove(ended)
            self._state.locked.append((time.monotonic() + LOCKED_ROW_RETRY_SECONDS, ended))

    def _put_last(self, old: Ended, new: Ended) -> None:
        with self._changed:
            self._state.ends.remove(old)
            self._state.ends.append(new)

    def _hand_out(self, turn: Turn, slots: int) -> None:
        if turn.jobs:
            self._after = turn.jobs[-1].tenant_id  # the last in the ring, by the database's order
        runs = [ActiveRun(job) for job in turn.jobs]
        for active in runs:
            self._active.add(active)
        with self._changed:
            state = self._state
            state.fresh = {active.run.job_id for active in runs}
            # Those that came in meanwhile wait for what just began, too.
            state.waiting_since = state.handed_at = time.monotonic()
            if state.claiming:
                state.ready.extend(runs)
                self._wake_one()
                runs = []
        self._put_back(runs)
        if slots and len(turn.jobs) < slots and (turn.jobs or turn.contended):
            # There may be more: what this turn left out for fairness, or what another claimer was just looking at.
            wait = self._rng.uniform(*CONTENDED_SECONDS) if turn.contended else 0.0
            with self._changed:
                self._state.look_at = min(self._state.look_at, time.monotonic() + wait)

    def _put_back(self, runs: list[ActiveRun]) -> None:
        """The worker was told to stop while the claim was under way: nobody will run them here."""
        for active in runs:
            active.ending = True
            self.end(Ended(active.run, Released("claimed while the worker stopped")))
