"""Where the bench's databases are made: on the server of DATABASE_URL, or on an embedded one of its own.

Every database is new, migrated as the product's is, and dropped again; nothing else on the server is touched.
"""

import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote, urlsplit

import psycopg
from django.conf import settings
from psycopg import sql

from detiq_admin.postgres import EmbeddedServer, make_passable
from detiq_admin.unprivileged import server_user
from jobs.bench.statements import Connection
from jobs.domain.errors import JobsError

PREFIX = "detiq_bench_"
_ROLE = "detiq_bench"
_GIBIBYTE = 1024**3
# As on a server that matters: what is committed is on the disk.
_LIKE_PRODUCTION = {"fsync": "on", "synchronous_commit": "on", "max_wal_size": "4GB", "maintenance_work_mem": "256MB"}


class BenchRefused(JobsError):
    """The bench cannot be run here."""


class Lab:
    """Makes databases and drops them."""

    def __init__(self, url: str, folder: Path, server: EmbeddedServer | None = None) -> None:
        """`url`: any database of a role that may create some. `folder`: for logs and notes, removed at the end.

        `server`: the server itself, when it is the bench's own.
        """
        self._url = url
        self.folder = folder
        self.server = server
        self._made = 0
        self._name = PREFIX + secrets.token_hex(4)
        self._template = f"{self._name}_template"

    def prepare(self) -> None:
        """Makes the migrated template. Raises `BenchRefused`."""
        with self._somewhere() as connection:
            row = connection.execute(
                "SELECT rolcreatedb OR rolsuper, current_user::text FROM pg_roles WHERE rolname = current_user"
            ).fetchone()
            if not row or not row[0]:
                raise BenchRefused(
                    f"role {row[1] if row else ''} may not create databases on this server, and the bench never works "
                    "in one that is there. Run `ALTER ROLE … CREATEDB`, or unset DATABASE_URL for an embedded server."
                )
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(self._template)))
        self._migrate()

    def clear(self) -> None:
        """Drops whatever this lab has made."""
        with suppress(psycopg.OperationalError), self._somewhere() as connection:
            names = connection.execute(
                "SELECT datname FROM pg_database WHERE datname LIKE %s ORDER BY datname", [self._name + "%"]
            ).fetchall()
            for (name,) in names:
                drop_database(connection, name)

    @contextmanager
    def database(self, *, migrated: bool = True) -> Iterator[str]:
        """The address of a new database, with the product's tables unless told otherwise."""
        self._made += 1
        name = f"{self._name}_{self._made}"
        template = self._template if migrated else "template1"
        with self._somewhere() as connection:
            connection.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template))
            )
        try:
            yield with_database(self._url, name)
        finally:
            with self._somewhere() as connection:
                drop_database(connection, name)

    def keep_database(self) -> str:
        """The address of a new migrated database that is not dropped: for whoever works on it afterwards."""
        name = f"{PREFIX}data_{secrets.token_hex(3)}"
        with self._somewhere() as connection:
            connection.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(self._template))
            )
        return with_database(self._url, name)

    def facts(self) -> dict[str, str | int]:
        """The machine and the server, for the head of a report."""
        with self._somewhere() as connection:
            rows = connection.execute(
                "SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY (%s)",
                [["server_version", "fsync", "synchronous_commit", "shared_buffers"]],
            ).fetchall()
        return {"cores": os.cpu_count() or 0, "load": round(os.getloadavg()[0], 1)} | dict(rows)

    def environment(self, url: str, **more: str) -> dict[str, str]:
        """What a process of the product needs to work on one of the databases."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("DATABASE_", "JOB_"))}
        defaults = {"DJANGO_SETTINGS_MODULE": "detiq_admin.settings", "LOG_LEVEL": "WARNING", "PYTHONUNBUFFERED": "1"}
        return {**kept, **defaults, "SECRET_KEY": settings.SECRET_KEY, "DATABASE_URL": url, **more}

    def _migrate(self) -> None:
        done = subprocess.run(
            [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
            cwd=settings.BASE_DIR,
            env=self.environment(with_database(self._url, self._template)),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise BenchRefused(f"the bench's database cannot be migrated: {done.stderr.strip()[-2000:]}")

    def _somewhere(self) -> Connection:
        try:
            return psycopg.connect(self._url, autocommit=True, connect_timeout=5, application_name="detiq-bench")
        except psycopg.OperationalError as error:
            if not isinstance(error, psycopg.errors.InvalidCatalogName) and "does not exist" not in str(error):
                raise
        return psycopg.connect(with_database(self._url, "postgres"), autocommit=True, connect_timeout=5)


@contextmanager
def open_lab() -> Iterator[Lab]:
    """A lab on the server the settings name, cleared in the end. Raises `BenchRefused`."""
    with ExitStack() as stack:
        folder = _folder(stack)
        if settings.EMBEDDED:
            server = _embedded(stack, folder)
            lab = Lab(f"postgresql://{_ROLE}@/postgres?host={quote(str(server.socket), safe='')}", folder, server)
        else:
            lab = Lab(settings.DATABASE_OWNER_URL or settings.DATABASE_URL, folder)
        stack.callback(lab.clear)
        try:
            lab.prepare()
        except psycopg.OperationalError as error:
            raise BenchRefused(f"the database does not answer: {str(error).strip()}") from error
        yield lab


def with_database(url: str, name: str) -> str:
    """The same server and role, another database."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/{quote(name, safe='')}" + (f"?{parts.query}" if parts.query else "")


def _folder(stack: ExitStack) -> Path:
    """On the disk where the product's own would be: a temporary folder may be in memory, where a commit costs nothing."""
    var = Path(settings.VAR_DIR)
    make_passable(var, server_user())
    folder = var / f"bench-{secrets.token_hex(4)}"
    folder.mkdir()
    folder.chmod(0o711)
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _embedded(stack: ExitStack, folder: Path) -> EmbeddedServer:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    buffers = {"shared_buffers": "1GB" if memory >= 4 * _GIBIBYTE else "256MB"}
    server = EmbeddedServer(folder, _LIKE_PRODUCTION | buffers)
    stack.callback(server.stop)
    server.start()
    with server.superuser() as connection:
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN CREATEDB").format(sql.Identifier(_ROLE)))
    return server


def drop_database(connection: Connection, name: str) -> None:
    """Drops a database, whoever of our role is still in it. `connection`: to another one, in autocommit."""
    # Not WITH (FORCE): that is refused while a vacuum, which is the superuser's, is at work in it; a plain DROP ends those.
    connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND usename = current_user", [name]
    )
    connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))
