"""`manage.py migrate`: as the owner, one at a time, and with the serving role's rights."""

import subprocess
import threading

import psycopg
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from detiq_admin.embedded import embedded_url
from detiq_admin.postgres import THROWAWAY, EmbeddedServer, set_up_roles
from jobs.management.commands import migrate
from jobs.management.owner import refuse_old
from tests.ops.conftest import bare_environment
from tests.processes import ROOT, manage

INSERT = """INSERT INTO "PlatformJob" (id, "tenantId", type, config) VALUES ('1', 't', 'CRAWL', '{}')"""


@pytest.fixture
def server(var):
    server = EmbeddedServer(var, THROWAWAY)
    server.start()
    set_up_roles(server)
    yield server
    server.stop()


def run(var, *arguments: str) -> subprocess.Popen[str]:
    env = bare_environment(DETIQ_VAR_DIR=str(var), SECRET_KEY="a-key-for-tests-alone-of-32-characters-or-more")
    return subprocess.Popen(
        manage(*arguments), cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def test_two_at_once_and_what_the_serving_role_may_do(server, var):
    both = [run(var, "migrate"), run(var, "migrate")]
    outputs = [process.communicate(timeout=60)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    with psycopg.connect(embedded_url(var, "serving"), autocommit=True) as serving:
        serving.execute(INSERT)
        assert serving.execute("SELECT count(*) FROM job_history").fetchone() == (1,)
        serving.execute("SELECT FROM huey_task")
        serving.execute("SELECT FROM django_cache")
        for refused in (
            "UPDATE job_history SET actor = 'nobody'",
            "DELETE FROM job_history",
            "TRUNCATE job_history",
            "UPDATE audit_entry SET actor = 'nobody'",
            "DELETE FROM audit_entry",
            "ALTER TABLE audit_entry DISABLE TRIGGER ALL",
            'DROP TABLE "PlatformJob"',
            "CREATE TABLE mine ()",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                serving.execute(refused)
        serving.execute("""INSERT INTO "PlatformJob" (id, "tenantId", type, config, status, "finishedAt")
                           VALUES ('2', 't', 'CRAWL', '{}', 'DONE', now() - interval '2 days')""")
        assert serving.execute("SELECT pruned FROM detiq_prune_jobs('0', 10)").fetchone() == (1,)
        assert serving.execute("SELECT job_id FROM job_history").fetchall() == [("1",)], (
            "retention reaches no living job"
        )
        with psycopg.connect(embedded_url(var, "owner"), autocommit=True) as owner:
            owner.execute("CREATE TABLE later (id serial)")
        serving.execute("INSERT INTO later DEFAULT VALUES")


def test_a_table_in_use_is_waited_for_in_turns(conn, make_conn, monkeypatch, capsys):
    monkeypatch.setattr(migrate, "_LOCK_TIMEOUT", "100ms")
    monkeypatch.setattr(migrate, "_PAUSES_SECONDS", (0.2, 0.2, 0.2, 0.2, 0.2, 0.2))
    conn.execute("BEGIN")
    conn.execute("LOCK TABLE django_migrations")
    threading.Timer(0.5, conn.execute, ["COMMIT"]).start()
    call_command("migrate", verbosity=0)
    assert "a table is in use; trying again" in capsys.readouterr().err


def test_an_old_server_is_refused_by_its_version():
    with pytest.raises(CommandError, match=r"PostgreSQL 14\.12; Detiq Admin needs 15"):
        refuse_old(140_012)
    refuse_old(150_000)


def test_a_database_that_is_not_there_is_one_line(var):
    process = run(var, "migrate")
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "`manage.py up` starts it" in output
    assert "Traceback" not in output
