"""`manage.py up` from outside: what it prints, what it serves, and what it leaves behind."""

import os
import re
import signal
import socket

import httpx2
import psutil
import psycopg
import pytest

from detiq_admin.embedded import embedded_url
from detiq_admin.postgres import THROWAWAY, EmbeddedServer
from tests.ops.conftest import Up, left_in, nothing_left_in
from tests.workers.helpers import wait_for

KEY = "a-key-for-tests-alone-of-32-characters-or-more"
PARTS = ["database", "migrations", "demo site", "demo data", "worker", "console", "ready", "login"]


def ask(url: str, sql: str) -> object:
    with psycopg.connect(url) as connection:
        row = connection.execute(sql).fetchone()
        return row[0] if row else None


def count_jobs(var) -> object:
    return ask(embedded_url(var, "serving"), 'SELECT count(*) FROM "PlatformJob"')


def log_in(address: str, username: str, password: str = "detiq-demo") -> httpx2.Response:
    with httpx2.Client(base_url=address) as browser:
        page = browser.get("/accounts/login/")
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
        assert token, page.text
        form = {"username": username, "login": username, "password": password, "csrfmiddlewaretoken": token[1]}
        return browser.post("/accounts/login/", data=form, headers={"Referer": address})


def process_of(up: Up, part: str) -> psutil.Process:
    return psutil.Process(int(re.search(r"process (\d+)", up.wait_for(part))[1]))


def test_the_whole_demo_starts_serves_stops_and_is_found_again(start_up, var):
    up = start_up()
    address = up.wait_for("ready")
    assert "detiq-demo" in up.wait_for("login")
    assert [line.split("  ")[0] for line in up.lines()] == PARTS
    for role in ("viewer", "operator", "support", "admin"):
        assert log_in(address, role).status_code == 302
    assert log_in(address, "admin", "guessed").status_code == 200
    ready = """SELECT count(*) FROM "ProjectArtifact" WHERE status = 'READY'"""
    wait_for(lambda: ask(embedded_url(var, "serving"), ready) == 6, 20)
    jobs = count_jobs(var)
    assert jobs > 5

    up.signal(signal.SIGINT)
    assert up.wait() == 0
    assert up.line("stopped")
    assert left_in(var) == []

    again = start_up()
    again.wait_for("login")
    assert again.line("demo data") is None
    assert again.line("demo site") == up.line("demo site")
    assert count_jobs(var) == jobs
    again.terminate()
    assert again.wait() == 0
    assert left_in(var) == []


def test_without_demo_it_makes_no_user_and_no_job(start_up, var):
    up = start_up("--no-demo", SECRET_KEY=KEY)
    assert "createsuperuser" in up.wait_for("login")
    assert count_jobs(var) == 0
    assert ask(embedded_url(var, "serving"), "SELECT count(*) FROM auth_user") == 0
    assert not (var / "secret-key").exists()


def test_a_killed_up_leaves_nothing_and_the_next_one_starts(start_up, var):
    up = start_up()
    up.wait_for("login")
    assert len(left_in(var)) > 3
    up.kill()
    assert nothing_left_in(var, within=10)
    assert start_up().wait_for("ready")


def test_a_running_one_outlives_its_parts_and_keeps_others_out(start_up, var):
    up = start_up()
    up.wait_for("login")

    second = start_up()
    assert second.wait() == 1
    assert f"already running on DETIQ_VAR_DIR {var} (process {up.pid})" in second.output()

    process_of(up, "worker").kill()
    up.wait_until(lambda said: said.count("worker      process") == 2)
    assert "worker      ended (SIGKILL)" in up.output()

    os.kill(int((var / "postgres" / "postmaster.pid").read_text().split()[0]), signal.SIGQUIT)
    up.wait_until(lambda said: re.search("database    ended .* starts again", said))
    up.wait_until(lambda _: answers(embedded_url(var, "serving")))

    up.terminate()
    assert up.wait() == 0
    assert left_in(var) == []


def answers(url: str) -> bool:
    try:
        return ask(url, "SELECT 1") == 1
    except psycopg.OperationalError:
        return False


def test_demo_users_are_not_served_to_other_machines(start_up, var):
    up = start_up("--host", "0.0.0.0")
    assert up.wait() == 1
    assert "--no-demo" in up.output()
    assert left_in(var) == []

    demo = start_up()
    demo.wait_for("login")
    demo.terminate()
    demo.wait()
    again = start_up("--no-demo", "--host", "0.0.0.0")
    assert again.wait() == 1
    assert "demo password (viewer, operator, support, admin)" in again.output()
    assert left_in(var) == []


def test_an_interrupted_start_stops_what_it_had_started(start_up, var):
    up = start_up()
    up.wait_for("database")
    up.signal(signal.SIGINT)
    assert up.wait() == 0
    assert left_in(var) == []


def test_a_port_in_use_is_said_before_anything_starts(start_up, var):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        up = start_up("--port", str(port))
        assert up.wait() == 1
    assert f"port {port} on 127.0.0.1 is in use" in up.output()
    assert len(up.lines()) == 1
    assert not (var / "postgres").exists()


@pytest.mark.parametrize(
    ("arguments", "env", "named"),
    [
        ([], {"JOB_WORKER_CONCURRENCY": "zero"}, "JOB_WORKER_CONCURRENCY"),
        ([], {"DATABASE_URL": "mysql://localhost/x"}, "DATABASE_URL"),
        ([], {"SECRET_KEY": "short"}, "SECRET_KEY"),
        (["--no-demo"], {}, "SECRET_KEY"),
        (["--port", "99999"], {}, "--port"),
    ],
)
def test_what_cannot_be_used_is_named(start_up, var, arguments, env, named):
    up = start_up(*arguments, **env)
    assert up.wait() == 2
    assert named in up.output()
    assert "Traceback" not in up.output()
    assert left_in(var) == []


def test_a_host_that_is_none(start_up):
    up = start_up("--host", "nowhere.invalid")
    assert up.wait() == 1
    assert "--host nowhere.invalid" in up.output()


class TestWithAServerOfYourOwn:
    @pytest.fixture
    def server(self, var):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        folder = var / "theirs"
        folder.mkdir()
        folder.chmod(0o711)
        server = EmbeddedServer(folder, {**THROWAWAY, "listen_addresses": "127.0.0.1", "port": str(port)})
        server.start()
        with server.superuser() as connection:
            connection.execute("CREATE ROLE app LOGIN PASSWORD 'p%w'")
            connection.execute("CREATE DATABASE app OWNER app")
        yield server
        server.stop()

    def test_by_tcp(self, start_up, var, server):
        url = f"postgresql://app:p%25w@127.0.0.1:{server.port}/app"
        up = start_up(DATABASE_URL=url)
        assert log_in(up.wait_for("ready"), "admin").status_code == 302
        assert up.line("database") == "app at 127.0.0.1"
        assert not (var / "postgres").exists()
        assert "p%w" not in up.output()
        up.terminate()
        assert up.wait() == 0
        assert server.poll() is None

    def test_by_socket_as_superuser_serves_as_an_ordinary_role(self, start_up, var, server):
        url = f"postgresql://postgres@/app?host={server.socket}&port={server.port}"
        up = start_up(DATABASE_URL=url)
        assert log_in(up.wait_for("ready"), "admin").status_code == 302
        env = process_of(up, "console").environ()
        assert ask(env["DATABASE_URL"], "SHOW is_superuser") == "off"
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            ask(env["DATABASE_URL"], "DELETE FROM audit_entry")
        up.terminate()
        assert up.wait() == 0

    def test_jobs_of_somebody_else_mean_no_demo_and_no_key_made(self, start_up, var, server):
        url = f"postgresql://app@127.0.0.1:{server.port}/app"
        with psycopg.connect(url) as connection:
            connection.execute('CREATE TABLE "PlatformJob" (id text PRIMARY KEY, "tenantId" text, type text)')
            connection.execute("""INSERT INTO "PlatformJob" VALUES ('1', 't', 'CRAWL')""")
        up = start_up(DATABASE_URL=url)
        assert up.wait() == 2
        assert "SECRET_KEY" in up.output()
        assert ask(url, "SELECT to_regclass('django_migrations')") is None

    def test_one_that_does_not_answer(self, start_up):
        up = start_up(DATABASE_URL="postgresql://app:secret@127.0.0.1:1/app")
        assert up.wait() == 1
        assert "cannot be reached" in up.output()
        assert "secret" not in up.output()
        assert "Traceback" not in up.output()
