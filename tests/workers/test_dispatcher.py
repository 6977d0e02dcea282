"""The claimer of a process, when the answer to what it did is lost."""

import ctypes
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.conf import settings

from jobs.domain.outcomes import Completed, Ended
from jobs.queue import transitions
from jobs.queue.connections import connector
from jobs.workers.active import ActiveRuns
from jobs.workers.dispatcher import ClaimTerms, Dispatcher
from jobs.workers.judge import mended
from jobs.workers.link import Link
from tests.queue.helpers import history, insert
from tests.workers.helpers import status, wait_for, wait_status


def test_a_claim_whose_answer_is_lost_is_put_back_and_run(conn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    insert(conn, "j")
    real, lost = transitions.turn, []

    def answer_is_lost_once(*arguments: Any) -> Any:
        turn = real(*arguments)
        if turn.jobs and not lost:
            lost.append(turn)
            raise psycopg.OperationalError("the connection broke after the commit")
        return turn

    monkeypatch.setattr(transitions, "turn", answer_is_lost_once)
    active = ActiveRuns()
    link = Link(connector(settings.DATABASES["default"]), "test")
    terms = ClaimTerms(["CRAWL"], 4, {}, poll_seconds=0.2)
    dispatcher = Dispatcher("w1", link, active, terms, lambda ended, error: ended, random.Random(1))
    thread = threading.Thread(target=dispatcher.run, daemon=True)
    thread.start()
    try:
        run = dispatcher.next_run()
        assert run is not None and lost and run.run != lost[0].jobs[0].run
        dispatcher.end(Ended(run.run, Completed("1")))
        wait_status(conn, "j", "DONE")
    finally:
        dispatcher.stop()
        thread.join(5)
        link.close()
    assert [to for _, to in history(conn, "j")] == ["QUEUED", "RUNNING", "QUEUED", "RUNNING", "DONE"]


def test_an_end_whose_answer_is_lost_is_not_recorded_twice(conn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    insert(conn, "j")
    real, lost = transitions.turn, []

    def answer_is_lost_once(worker: str, ends: Any, *arguments: Any) -> Any:
        turn = real(worker, ends, *arguments)
        if ends and not lost:
            lost.append(turn)
            raise psycopg.OperationalError("the connection broke after the commit")
        return turn

    monkeypatch.setattr(transitions, "turn", answer_is_lost_once)
    active = ActiveRuns()
    link = Link(connector(settings.DATABASES["default"]), "test")
    dispatcher = Dispatcher("w1", link, active, ClaimTerms(["CRAWL"], 4, {}, 0.2), lambda ended, error: ended)
    thread = threading.Thread(target=dispatcher.run, daemon=True)
    thread.start()
    try:
        run = dispatcher.next_run()
        assert run is not None
        dispatcher.end(Ended(run.run, Completed("1")))
        wait_for(lambda: dispatcher.pending_ends() == 0 and not active.all())
    finally:
        dispatcher.stop()
        thread.join(5)
        link.close()
    assert status(conn, "j") == "DONE" and len(history(conn, "j")) == 3


def test_what_ends_together_is_recorded_together_and_told_within_moments(
    conn: Any, make_conn: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(8):
        insert(conn, f"a-{n}", tenantId=f"t-{n}")
        insert(conn, f"b-{n}", tenantId=f"t-{n}")
    real, sizes = transitions.turn, []

    def noted(worker: str, ends: Any, *arguments: Any) -> Any:
        turn = real(worker, ends, *arguments)
        sizes.append((len(ends), len(turn.jobs)))
        return turn

    monkeypatch.setattr(transitions, "turn", noted)
    listener = make_conn()
    listener.execute("LISTEN detiq_jobs; LISTEN detiq_changed")
    active = ActiveRuns()
    link = Link(connector(settings.DATABASES["default"]), "test")
    dispatcher = Dispatcher("w1", link, active, ClaimTerms(["CRAWL"], 4, {}, 60), lambda ended, error: ended)
    threads = [threading.Thread(target=_work, args=(dispatcher,), daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    loop = threading.Thread(target=dispatcher.run, daemon=True)
    loop.start()
    try:
        wait_for(lambda: dispatcher.pending_ends() == 0 and not active.all() and sum(n for n, _ in sizes) == 16)
        told = [(one.channel, one.payload) for one in listener.notifies(timeout=1, stop_after=50)]
    finally:
        dispatcher.stop_claiming()
        dispatcher.stop()
        loop.join(5)
        link.close()
    # Eight end within moments of each other: three turns would do; what a busy machine adds stays far from sixteen.
    assert max(n for n, _ in sizes) >= 4
    assert len([n for n, _ in sizes if n]) <= 8
    assert ("detiq_jobs", "w1") in told, "others hear that there is room"
    assert len(told) < 16, "but not at every turn"


def test_runs_that_last_are_all_under_way_at_once(conn: Any) -> None:
    """One thread wakes the next: none waits for the end of another's run."""
    for n in range(8):
        insert(conn, f"j-{n}", tenantId=f"t-{n}")
    together = threading.Barrier(8)

    def work(dispatcher: Dispatcher) -> None:
        while (active := dispatcher.next_run()) is not None:
            together.wait(10)
            dispatcher.end(Ended(active.run, Completed(None)))

    with _dispatching() as dispatcher:
        for _ in range(8):
            threading.Thread(target=work, args=(dispatcher,), daemon=True).start()
        for n in range(8):
            wait_status(conn, f"j-{n}", "DONE")
        dispatcher.stop_claiming()


def test_what_nobody_has_taken_when_the_worker_stops_is_put_back(conn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    insert(conn, "j-1", tenantId="t-1")
    insert(conn, "j-2", tenantId="t-2")
    monkeypatch.setattr(Dispatcher, "_wake_one", lambda self: None)
    taken: list[Any] = []
    with _dispatching() as dispatcher:
        threads = [threading.Thread(target=lambda: taken.append(dispatcher.next_run()), daemon=True) for _ in range(2)]
        for thread in threads:
            thread.start()
        wait_for(lambda: status(conn, "j-1") == status(conn, "j-2") == "RUNNING")
        dispatcher.stop_claiming()
        for job in ("j-1", "j-2"):
            wait_status(conn, job, "QUEUED")
        for thread in threads:
            thread.join(5)
    assert taken == [None, None]


@pytest.mark.parametrize("error", [psycopg.errors.LockNotAvailable("no"), psycopg.OperationalError("cut")])
def test_a_claim_that_failed_is_made_again_at_once_and_not_at_the_next_poll(
    conn: Any, monkeypatch: pytest.MonkeyPatch, error: psycopg.Error
) -> None:
    """A table that somebody locks for a moment, a connection that is cut: nobody tells of the waiting job once more."""
    insert(conn, "j")
    real, failed = transitions.turn, list[psycopg.Error]()

    def fails_once(*arguments: Any) -> Any:
        if not failed:
            failed.append(error)
            raise error
        return real(*arguments)

    monkeypatch.setattr(transitions, "turn", fails_once)
    taken: list[Any] = []
    with _dispatching(poll_seconds=60) as dispatcher:
        thread = threading.Thread(target=lambda: taken.append(dispatcher.next_run()), daemon=True)
        thread.start()
        thread.join(3)
        dispatcher.stop_claiming()
    assert failed and taken and taken[0] is not None


def test_a_thread_that_is_ended_from_outside_while_it_waits_leaves_its_run_to_another(
    conn: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the limits of time do that a handler sets for its thread, when they come a moment too late."""
    monkeypatch.setattr(threading, "excepthook", lambda args: None)
    taken: list[Any] = []
    with _dispatching() as dispatcher:
        threads = [threading.Thread(target=lambda: taken.append(dispatcher.next_run()), daemon=True) for _ in range(2)]
        for n, thread in enumerate(threads):
            thread.start()
            wait_for(lambda n=n: len(dispatcher._state.free) > n)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(threads[0].ident or 0), ctypes.py_object(TimeoutError)
        )
        insert(conn, "j")
        for thread in threads:
            thread.join(3)
        dispatcher.stop_claiming()
    assert len(taken) == 1 and taken[0] is not None


def _work(dispatcher: Dispatcher) -> None:
    while (active := dispatcher.next_run()) is not None:
        dispatcher.end(Ended(active.run, Completed(None)))


@pytest.mark.parametrize(
    "error",
    [psycopg.errors.QueryCanceled, psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure,
     psycopg.errors.UndefinedFunction, psycopg.errors.InsufficientPrivilege],
)  # fmt: skip
def test_a_result_that_is_refused_for_no_fault_of_its_own_is_kept(
    conn: Any, monkeypatch: pytest.MonkeyPatch, error: type[psycopg.Error]
) -> None:
    """A statement that an administrator cancels, a function that a migration is just replacing."""
    refused = _refuse_ends(monkeypatch, error("no"), times=2)
    insert(conn, "j")
    with _dispatching() as dispatcher:
        run = dispatcher.next_run()
        assert run is not None
        dispatcher.end(Ended(run.run, Completed('"kept"')))
        wait_status(conn, "j", "DONE")
    assert len(refused) == 2
    assert conn.execute('SELECT result FROM "PlatformJob"').fetchone() == ("kept",)


def test_an_end_that_cannot_even_be_written_down_holds_up_no_other(conn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _refuse_ends(monkeypatch, ValueError(), only="bad")
    insert(conn, "bad")
    insert(conn, "good")
    with _dispatching() as dispatcher:
        runs = [dispatcher.next_run(), dispatcher.next_run()]
        for run in runs:
            assert run is not None
            dispatcher.end(Ended(run.run, Completed('"ok"')))
        wait_status(conn, "good", "DONE")
        dispatcher.stop_claiming()


def _refuse_ends(monkeypatch: pytest.MonkeyPatch, error: Exception, times: int = 1_000, only: str = "") -> list[str]:
    """Ends with a result are refused so many times, those of one job alone if it is named."""
    real, refused = transitions.turn, list[str]()

    def turn(worker: str, ends: Any, *arguments: Any) -> Any:
        hit = [one for one in ends if isinstance(one.outcome, Completed) and one.run.job_id in (only or one.run.job_id)]
        if hit and len(refused) < times:
            refused.append(hit[0].run.job_id)
            raise error
        return real(worker, ends, *arguments)

    monkeypatch.setattr(transitions, "turn", turn)
    return refused


@contextmanager
def _dispatching(poll_seconds: float = 0.2) -> Iterator[Dispatcher]:
    link = Link(connector(settings.DATABASES["default"]), "test")
    terms = ClaimTerms(["CRAWL"], 4, {}, poll_seconds=poll_seconds)
    dispatcher = Dispatcher(
        "w1", link, ActiveRuns(), terms, lambda ended, error: mended(ended, error, None, 0.0, random.Random(1))
    )
    thread = threading.Thread(target=dispatcher.run, daemon=True)
    thread.start()
    try:
        yield dispatcher
    finally:
        dispatcher.stop()
        thread.join(5)
        link.close()
