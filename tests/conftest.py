"""What every test may use. The database is real, and so are the processes and the browser."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.test import TransactionTestCase

from detiq_admin.listening import listen, url
from jobs.console.queries.overview import shared
from jobs.queue.connections import connector
from tests import cluster
from tests.adopted import other_program
from tests.database import keep_seeds, reset_database
from tests.processes import WorkerProcesses, console

pytest_plugins = ["tests.browser"]

Connection = psycopg.Connection[Any]


# --- One server a run, one database a process of the run --------------------------------------------------------------
def pytest_configure(config: pytest.Config) -> None:
    # Django's own way of cleaning up, TRUNCATE, is refused by the append-only tables.
    TransactionTestCase._fixture_teardown = lambda self: reset_database()
    other_program.listen()
    if not hasattr(config, "workerinput") and not config.option.collectonly:
        config.stash[_SERVER] = cluster.start()


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        cluster.stop(config.stash.get(_SERVER, None))


_SERVER: pytest.StashKey[Any] = pytest.StashKey()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    with django_db_blocker.unblock():
        keep_seeds()
    yield
    if (djhuey := sys.modules.get("huey.contrib.djhuey")) is not None:
        djhuey.HUEY.storage.close()  # an open connection would keep the database from being dropped


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """A browser test leaves a loop running in its thread; no other test of this process meets it. Around all fixtures,
    because Django's connection is another one while a loop runs."""
    if item.get_closest_marker("browser"):
        return (yield)
    left = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        return (yield)
    finally:
        asyncio._set_running_loop(left)


@pytest.fixture(autouse=True)
def _not_read_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that reads the frame ahead would outlive its test, and would not see the rows of a test's transaction."""
    monkeypatch.setattr(shared, "_ahead", float("inf"))


# --- Connections ------------------------------------------------------------------------------------------------------
@pytest.fixture
def db_clean(transactional_db: None) -> None:
    """A database that other connections see too, emptied after the test."""


@pytest.fixture
def make_conn(db_clean: None) -> Iterator[Callable[[], Connection]]:
    """Makes fresh connections to the test database: autocommit, UTC, closed after the test."""
    with ExitStack() as stack:
        connect = connector(settings.DATABASES["default"])
        yield lambda: stack.enter_context(connect())


@pytest.fixture
def conn(make_conn: Callable[[], Connection]) -> Connection:
    """One fresh connection to the test database."""
    return make_conn()


# --- Real processes ---------------------------------------------------------------------------------------------------
@pytest.fixture
def worker_process(db_clean: None) -> Iterator[WorkerProcesses]:
    """Starts real `manage.py worker` processes on the test database: `worker_process(JOB_WORKER_CONCURRENCY="2")`."""
    with WorkerProcesses() as processes:
        yield processes


@pytest.fixture(scope="session")
def _console(django_db_setup: None) -> Iterator[str]:
    """One console for all tests of this process of the run."""
    with listen("127.0.0.1", 0) as listener:
        process = console(listener)
        try:
            process.wait_ready(30)
            yield url(listener, "127.0.0.1").rstrip("/")
        finally:
            process.close()


@pytest.fixture
def live_site(_console: str, db_clean: None) -> str:
    """The address of a real console on the test database, without a slash at its end."""
    return _console
