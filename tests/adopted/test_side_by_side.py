"""Another program's worker beside ours: on our own tables, on its own, and with few rights."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.conf import settings

from jobs.queue import pauses
from jobs.queue.connections import connector
from jobs.queue.others import other_workers
from tests.adopted.node import NodeWorker
from tests.queue.helpers import claim, history, insert, row
from tests.settings import OTHER_ROLE
from tests.workers.helpers import KIT, status, wait_for, wait_status


@pytest.fixture(params=["ours", "enum"])
def tables(request: pytest.FixtureRequest) -> str:
    """Our own tables, or those that the other program made."""
    if request.param != "ours":
        request.getfixturevalue("adopted_database")(request.param)
    return str(request.param)


@pytest.fixture
def shared(tables: str, make_conn: Callable[[], Any]) -> Any:
    return make_conn()


@pytest.fixture
def node(shared: Any) -> Iterator[NodeWorker]:
    """A worker of the other program, with rights on two tables and nothing else, as careless sessions have it."""
    if shared.execute("SELECT FROM pg_roles WHERE rolname = %s", [OTHER_ROLE]).fetchone() is None:
        pytest.skip(f"the server has no role {OTHER_ROLE}")
    shared.execute(f'GRANT SELECT, INSERT, UPDATE, DELETE ON "PlatformJob", "SystemConfig" TO {OTHER_ROLE}')
    with connector(settings.DATABASES["default"])("node") as connection:
        connection.execute(f"SET SESSION ROLE {OTHER_ROLE}")
        connection.execute("SET statement_timeout = '5s'")
        connection.execute("SET search_path = public, pg_temp")
        yield NodeWorker(connection)
    shared.execute(f"DROP OWNED BY {OTHER_ROLE}")


def test_beside_a_real_worker_no_job_runs_twice(shared: Any, node: NodeWorker, worker_process: Any) -> None:
    shared.execute("""INSERT INTO "PlatformJob" (id, "tenantId", type, config)
                      SELECT 'j' || n, 't' || n % 7, 'NOOP', '{}' FROM generate_series(1, 300) n""")
    worker_process(**KIT)
    mine: list[str] = []
    while (id_ := node.claim()) is not None:
        node.progress(id_, 50, "half")
        node.done(id_)
        mine.append(id_)
    wait_for(
        lambda: shared.execute("""SELECT count(*) FROM "PlatformJob" WHERE status = 'DONE'""").fetchone() == (300,), 30
    )
    runs = shared.execute("SELECT job_id FROM job_history WHERE to_status = 'RUNNING'").fetchall()
    assert len(runs) == len(set(runs)) == 300
    by = dict(
        shared.execute("SELECT worker_id, count(*) FROM job_history WHERE to_status = 'DONE' GROUP BY 1").fetchall()
    )
    assert by["node-a1:77"] == len(mine) > 0 and len(by) == 2
    actors = shared.execute("SELECT DISTINCT actor FROM job_history WHERE worker_id = 'node-a1:77'").fetchall()
    assert actors == [("sql:" + shared.info.user + "/node",)]


def test_its_runs_fill_our_caps_are_shown_and_come_back_when_it_dies(
    shared: Any, node: NodeWorker, worker_process: Any
) -> None:
    for n in range(6):
        insert(shared, f"j{n}", type="NOOP")
    taken = {node.claim() for _ in range(4)}
    assert claim(shared, 8, types=["NOOP"]).jobs == []
    (seen,) = other_workers(shared)
    assert (seen.id, seen.running) == ("node-a1:77", 4) and seen.heartbeat_at.tzinfo is not None
    assert other_workers(shared, silent_after=timedelta(0)) == []
    worker_process(**KIT, JOB_STALE_TIMEOUT_MINUTES="0.02")
    wait_for(
        lambda: shared.execute("""SELECT count(*) FROM "PlatformJob" WHERE status = 'RETRY_WAIT'""").fetchone() == (4,),
        15,
    )
    assert "node-a1:77" in row(shared, min(taken))["error"]
    for id_ in {f"j{n}" for n in range(6)} - taken:
        wait_status(shared, id_, "DONE")
    assert other_workers(shared) == []


def test_its_rows_of_every_shape_end_as_they_should(shared: Any, node: NodeWorker, worker_process: Any) -> None:
    for id_ in ("fatal", "retry", "late", "unclassified", "stopped", "both", "old", "cancelled"):
        node.insert(id_, "X")
    node.fail("fatal", "missing secret", "FATAL", None)
    node.fail("retry", "timeout", "TRANSIENT", 3600)
    node.fail("both", "timeout", "TRANSIENT", 3600)
    node.sql("""UPDATE "PlatformJob" SET dlq = true WHERE id = 'both'""")
    node.sql("""UPDATE "PlatformJob" SET status = 'FAILED', error = 'x', "nextRetryAt" = NOW() WHERE id = 'late'""")
    node.sql("""UPDATE "PlatformJob" SET status = 'FAILED', error = 'x' WHERE id = 'unclassified'""")
    node.sql("""UPDATE "PlatformJob" SET status = 'FAILED', error = 'x', "failureType" = 'LOGICAL' WHERE id = 'old'""")
    node.cancel("stopped")
    node.sql("""UPDATE "PlatformJob" SET status = 'CANCELLED', "workerId" = 'node-a1:77' WHERE id = 'cancelled'""")
    node.insert("odd", "X", "ON_HOLD")
    node.insert("inline", "X", "RUNNING", inline=True)
    worker_process(**KIT)
    for id_, wanted in {
        "stopped": "CANCELLED",
        "late": "QUEUED",
        "unclassified": "RETRY_WAIT",
        "both": "FAILED",
    }.items():
        wait_status(shared, id_, wanted)
    wait_for(lambda: row(shared, "old")["dlq"])
    found = {id_: (row(shared, id_)["status"], row(shared, id_)["dlq"]) for id_ in ("fatal", "retry", "both", "old")}
    assert found == {
        "fatal": ("FAILED", True), "retry": ("RETRY_WAIT", False), "both": ("FAILED", True), "old": ("FAILED", True),
    }  # fmt: skip
    assert row(shared, "late")["retryCount"] == 1 and row(shared, "both")["dlqAt"] is not None
    assert [status(shared, id_) for id_ in ("odd", "cancelled", "inline")] == ["ON_HOLD", "CANCELLED", "RUNNING"]
    assert history(shared, "fatal") == [(None, "QUEUED"), ("QUEUED", "FAILED"), ("FAILED", "FAILED")]


def test_it_wakes_our_worker_and_stops_a_job_of_ours(shared: Any, node: NodeWorker, worker_process: Any) -> None:
    worker_process(**KIT, JOB_WORKER_POLL_INTERVAL_MS="60000")
    node.sql(
        """INSERT INTO "PlatformJob" (id, "tenantId", type, config) VALUES ('s', 'acme', 'STEPS', '{"n": 1000}')"""
    )
    wait_for(lambda: row(shared, "s")["progress"] > 0 or row(shared, "s")["checkpoint"], 5)
    node.cancel("s")
    wait_status(shared, "s", "CANCELLED", 4)


def test_both_obey_the_flag(shared: Any, node: NodeWorker) -> None:
    insert(shared, "j")
    node.sql(
        """INSERT INTO "SystemConfig" (key, value, "updatedAt") VALUES ('queue.paused', 'true', NOW())
           ON CONFLICT (key) DO UPDATE SET value = 'true', "updatedAt" = NOW()"""
    )
    assert node.paused() and claim(shared).jobs == []
    assert [one.id for one in pauses.active(shared)] == [None]
    pauses.lift(None, by="kim", reason="over", using=shared)
    assert not node.paused()
    paused = pauses.pause(reason="incident", owner="kim", using=shared)
    assert node.paused() and claim(shared).jobs == []
    pauses.lift(paused, by="kim", reason="over", using=shared)
    assert len(claim(shared).jobs) == 1


CARELESS = (
    "SET TimeZone = 'America/Sao_Paulo'",
    "SET search_path = ''",
    "SET statement_timeout = '2s'",
    "SET DateStyle = 'German'",
    "SET default_transaction_isolation = 'serializable'",
    "SET standard_conforming_strings = off",
    "CREATE TEMP TABLE job_history (a int)",
)


def test_no_session_is_too_careless_to_write(shared: Any, node: NodeWorker) -> None:
    shared.execute(f'GRANT TEMP ON DATABASE "{shared.info.dbname}" TO {OTHER_ROLE}')
    for id_, careless in enumerate(CARELESS):
        node.sql(f"RESET ALL; {careless}")
        for statement in (
            """INSERT INTO public."PlatformJob" (id, "tenantId", type, config) VALUES (%(id)s, 'acme', 'X', '{}')""",
            """UPDATE public."PlatformJob" SET status = 'RUNNING', "startedAt" = NOW() WHERE id = %(id)s""",
            """UPDATE public."PlatformJob" SET status = 'RETRY_WAIT', "nextRetryAt" = NOW() WHERE id = %(id)s""",
            """UPDATE public."PlatformJob" SET status = 'DONE', "finishedAt" = NOW() WHERE id = %(id)s""",
            """DELETE FROM public."PlatformJob" WHERE id = %(id)s""",
        ):
            node.sql(statement, id=str(id_))
        assert [to for _, to in history(shared, str(id_))] == ["QUEUED", "RUNNING", "RETRY_WAIT", "DONE", None], (
            careless
        )


def test_the_history_itself_is_out_of_its_reach(node: NodeWorker) -> None:
    for refused in ("SELECT FROM job_history", "INSERT INTO queue_pause (reason, owner) VALUES ('a', 'b')"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            node.sql(refused)


def test_our_claims_stay_within_the_cap_while_it_claims_too(shared: Any, node: NodeWorker, make_conn: Any) -> None:
    """Its own claims overshoot at times; ours never start anything while the cap is full."""
    shared.execute("""INSERT INTO "PlatformJob" (id, "tenantId", type, config)
                      SELECT 'j' || n, 'acme', 'CRAWL', '{}' FROM generate_series(1, 200) n""")
    over: list[int] = []

    def ours(mine: Any) -> None:
        for _ in range(20):
            for job in claim(mine, 2, worker=f"w{id(mine)}").jobs:
                over.append(shared_count(mine))
                mine.execute("""UPDATE "PlatformJob" SET status = 'DONE' WHERE id = %s""", [job.run.job_id])

    threads = [threading.Thread(target=ours, args=(make_conn(),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if id_ := node.claim():
            node.done(id_)
    assert over and max(over) <= 4 + 1  # one claim of the other program's may come between ours and the count


def shared_count(connection: Any) -> int:
    found = connection.execute(
        """SELECT count(*) FROM "PlatformJob" WHERE status = 'RUNNING' AND NOT inline"""
    ).fetchone()
    return int(found[0])
