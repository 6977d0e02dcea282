"""A pause outlives whoever read it: workers, caches, migrations; and a frozen replica keeps nobody waiting."""

import signal
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.cache import cache
from django.core.management import call_command
from django.test import Client

from jobs.queue import pauses
from tests.factories import user
from tests.queue.helpers import insert
from tests.workers.helpers import KIT, wait_for


def started(conn: Any) -> int:
    return int(conn.execute("""SELECT count(*) FROM job_history WHERE to_status = 'RUNNING'""").fetchone()[0])


def test_a_pause_outlives_workers_caches_and_migrations(conn: Any, worker_process: Any) -> None:
    pause = pauses.pause(reason="incident 7", owner="kim", using=conn)
    for number in range(20):
        insert(conn, f"j{number}", type="NOOP", tenantId=f"t{number}")
    first = worker_process(**KIT, JOB_WORKER_POLL_INTERVAL_MS="200")
    time.sleep(0.6)
    first.signal(signal.SIGKILL)
    first.wait()
    cache.clear()
    call_command("migrate", verbosity=0)
    for _ in range(2):
        worker_process(**KIT, JOB_WORKER_POLL_INTERVAL_MS="200")
    time.sleep(0.6)
    assert started(conn) == 0
    client = Client()
    client.force_login(user("viewer"), "django.contrib.auth.backends.ModelBackend")
    for path in ("/", "/jobs/", "/settings/"):
        page = client.get(path).content.decode()
        assert "incident 7" in page and ("1 pause holds 20 jobs." in page or path == "/")
    assert "kim" in client.get("/pauses/").content.decode()
    pauses.lift(pause, by="kim", reason="over", using=conn)
    wait_for(lambda: started(conn) == 20, 10)


def test_due_retries_are_promoted_by_whoever_lives(conn: Any, worker_process: Any) -> None:
    frozen = worker_process(**KIT, JOB_WORKER_POLL_INTERVAL_MS="200")
    frozen.signal(signal.SIGSTOP)
    try:
        due = datetime.now(UTC) - timedelta(hours=2)
        for number in range(100):
            insert(conn, f"j{number}", type="NOOP", tenantId=f"t{number}", status="RETRY_WAIT", nextRetryAt=due)
        worker_process(**KIT, JOB_WORKER_POLL_INTERVAL_MS="200")
        wait_for(lambda: started(conn) == 100, 15)
    finally:
        frozen.signal(signal.SIGCONT)
