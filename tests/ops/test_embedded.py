"""The embedded PostgreSQL on its own."""

import os
import signal
import subprocess
import sys
import time

import psutil
import psycopg
import pytest

from detiq_admin.embedded import embedded_url, socket_dir, var_dir
from detiq_admin.postgres import THROWAWAY, EmbeddedServer, EmbeddedServerError, set_up_roles
from detiq_admin.unprivileged import ServerUser, ServerUserError, server_user
from tests.processes import ROOT


@pytest.fixture
def server(var):
    made = EmbeddedServer(var, THROWAWAY)
    yield made
    made.stop()


def test_roles_are_no_superusers_and_the_serving_one_owns_nothing(server, var):
    assert server.start() is True
    set_up_roles(server)
    set_up_roles(server)
    for role, creates in (("owner", True), ("serving", False)):
        with psycopg.connect(embedded_url(var, role)) as connection:
            assert connection.execute("SHOW is_superuser").fetchone() == ("off",)
            sql = "SELECT has_schema_privilege('public', 'CREATE')"
            assert connection.execute(sql).fetchone() == (creates,)


def test_it_listens_on_no_network(server, var):
    server.start()
    assert psutil.Process(server.pid).net_connections(kind="inet") == []
    assert socket_dir(var).stat().st_mode & 0o077 == 0


def test_a_second_start_finds_its_data(server, var):
    server.start()
    set_up_roles(server)
    with psycopg.connect(embedded_url(var, "owner")) as connection:
        connection.execute("CREATE TABLE kept ()")
    server.stop()
    assert server.start() is False
    with psycopg.connect(embedded_url(var, "owner")) as connection:
        connection.execute("SELECT FROM kept")


def test_a_killed_parent_takes_its_server_along(var):
    code = (
        "from pathlib import Path; from detiq_admin.postgres import *; import sys, time\n"
        f"s = EmbeddedServer(Path({str(var)!r}), THROWAWAY); s.start(); print(s.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.communicate()
    assert _ended(pid, within=10)


def test_a_server_left_behind_is_stopped_and_its_data_used(server, var):
    first = EmbeddedServer(var, THROWAWAY)
    first.start()
    set_up_roles(first)
    os.kill(first._watchdog.pid, signal.SIGKILL)
    first._watchdog.communicate()
    assert server.start() is False
    assert first.poll() is not None
    with psycopg.connect(embedded_url(var, "serving")) as connection:
        connection.execute("SELECT 1")


def test_a_stale_pid_file_that_names_another_process_is_no_obstacle(server, var):
    server.start()
    server.stop()
    (server.data / "postmaster.pid").write_text(f"{os.getpid()}\n{server.data}\n1\n5432\n")
    server.start()
    assert psutil.pid_exists(os.getpid())


def test_an_initdb_that_was_cut_short_is_begun_again(server, var):
    (var / "postgres.new").mkdir()
    (var / "postgres.new" / "half").write_text("")
    assert server.start() is True


def test_data_of_another_release_is_refused_by_name(server, var):
    (var / "postgres").mkdir()
    (var / "postgres" / "PG_VERSION").write_text("17\n")
    with pytest.raises(EmbeddedServerError, match="made by PostgreSQL 17; this is 18"):
        server.start()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts it as another user")
class TestAsRoot:
    def test_it_runs_as_its_own_user(self, server, var):
        server.start()
        assert psutil.Process(server.pid).uids().real == server_user().uid != 0
        assert var.stat().st_uid == 0

    def test_a_closed_folder_is_named_with_the_line_that_opens_it_and_stays_closed(self, var):
        closed = var / "closed"
        closed.mkdir(mode=0o700)
        with pytest.raises(ServerUserError, match=f"chmod o\\+x '{closed}'"):
            EmbeddedServer(closed / "var", THROWAWAY).start()
        assert closed.stat().st_mode & 0o077 == 0

    def test_binaries_out_of_its_reach_are_copied(self, server, var, monkeypatch):
        monkeypatch.setattr(
            ServerUser, "blocked_at", lambda self, path: None if str(path).startswith(str(var)) else path
        )
        server.start()
        assert str(var) in psutil.Process(server.pid).exe()

    def test_roots_default_folder_is_one_that_other_users_can_enter(self):
        assert str(var_dir({})) == "/var/lib/detiq-admin"


def _ended(pid: int, within: float) -> bool:
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.05)
    return False
