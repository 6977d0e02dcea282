"""PgBouncer in transaction mode: the console works through it, and a worker says what it lacks there and goes on."""

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings

from detiq_admin.database import from_url
from detiq_admin.unprivileged import server_user
from jobs.models import Job
from jobs.queue.connections import connector, sessions_change
from tests.pooler import INSTALL, find_pooler
from tests.processes import WorkerProcesses, database_url

pytestmark = pytest.mark.django_db(transaction=True)
PGBOUNCER = find_pooler()
CONFIG = """
[databases]
{name} = host={host} port={port} user={user} dbname={name} pool_size=3
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
ignore_startup_parameters = options,extra_float_digits
logfile = {folder}/pgbouncer.log
"""

type Connect = Callable[..., psycopg.Connection[Any]]


def test_a_session_of_ones_own_is_known_and_keeps_plans(db_clean: None) -> None:
    connect = connector(settings.DATABASES["default"])
    assert not sessions_change(connect)
    with connect() as connection:
        assert connection.prepare_threshold == 5


@pytest.fixture
def pooled(db_clean: None) -> Iterator[Callable[[str], str]]:
    """`pooled("transaction")`: the address of the test database through a pooler in that mode."""
    if PGBOUNCER is None:
        pytest.skip(f"there is no pgbouncer: {INSTALL}")
    started: list[subprocess.Popen[bytes]] = []
    folder = Path(tempfile.mkdtemp(prefix="detiq-pooler-"))
    folder.chmod(0o777)  # another user runs it, to whom pytest's own folders are shut

    def start(mode: str) -> str:
        with socket.create_server(("127.0.0.1", 0)) as free:
            listen = free.getsockname()[1]
        database = settings.DATABASES["default"]
        config = folder / f"{mode}.ini"
        config.write_text(
            CONFIG.format(
                name=database["NAME"],
                host=database["HOST"],
                port=database["PORT"] or 5432,
                user=database["USER"],
                listen=listen,
                mode=mode,
                folder=folder,
            )
        )
        command = [PGBOUNCER, str(config)]  # it refuses to be root
        started.append(subprocess.Popen(command, stderr=subprocess.DEVNULL, **server_user().popen))
        url = f"postgresql://{database['USER']}@127.0.0.1:{listen}/{database['NAME']}"
        _until(lambda: not psycopg.connect(url).broken)
        return url

    yield start
    for process in started:
        process.terminate()
        process.wait(10)
    shutil.rmtree(folder)


def _until(true: Callable[[], bool], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if true():
                return
        except psycopg.OperationalError:
            pass
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds:g} s")


def connector_of(url: str) -> Connect:
    return connector(from_url("DATABASE_URL", url))


def test_a_worker_says_that_it_needs_sessions_and_does_its_work(
    pooled: Callable[[str], str], worker_process: WorkerProcesses
) -> None:
    assert not sessions_change(connector_of(pooled("session")))
    url = pooled("transaction")
    connect = connector_of(url)
    assert sessions_change(connect)
    with connect() as one, connect() as other:  # what one prepared the other does not know
        for turn in range(20):
            for connection in (one, other):
                assert connection.execute("SELECT %s::int, current_setting('timezone')", [turn]).fetchone() == (
                    turn,
                    "UTC",
                )
    worker = worker_process(DATABASE_URL=url, JOB_HANDLER_MODULES="tests.workers.kit")
    with psycopg.connect(database_url(), autocommit=True) as direct:
        direct.execute("""INSERT INTO "PlatformJob" (id, "tenantId", type, config)
                          SELECT 'p' || n, 't' || n % 9, 'NOOP', '{}' FROM generate_series(1, 12) n""")
    _until(lambda: Job.objects.filter(status="DONE").count() == 12, 20)
    assert worker.output().count("worker.behind_a_pooler") == 1
    assert "prepared statement" not in worker.output() and "level=error" not in worker.output()
    with psycopg.connect(database_url(), autocommit=True) as direct:
        held = direct.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").fetchone()
    assert held == (0,)
