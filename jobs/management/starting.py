"""The steps by which `manage.py up` comes to a database that may be served."""

import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connection

from detiq_admin import demo_site
from detiq_admin.one_up import only_one
from detiq_admin.postgres import EmbeddedServer, make_passable, set_up_roles
from detiq_admin.secrets import settle
from detiq_admin.supervisor import Say
from detiq_admin.unprivileged import server_user
from jobs import demo
from jobs.demo import users
from jobs.domain.errors import JobsError, SettingError
from jobs.management import ordinary_role
from jobs.management.owner import as_owner, refuse_old, unreachable
from jobs.queue.connections import connector

_LOOPBACK_NETWORKS = "127.0.0.0/8,::1/128"


class StartRefused(JobsError):
    """`up` will not serve this."""


@dataclass(frozen=True)
class Address:
    """Where the console is to be served."""

    host: str
    url: str
    loopback: bool


class Start:
    """What is found and made on the way; `stack` undoes it."""

    def __init__(self, stack: ExitStack, say: Say, *, demo_wanted: bool) -> None:
        self._stack = stack
        self._say = say
        self._demo_wanted = demo_wanted
        self._var = Path(settings.VAR_DIR)
        self._server: EmbeddedServer | None = None
        self._found = demo.Found(fresh=False, site_port=None)
        self._role_switch: str | None = None

    def take_folder(self) -> None:
        """The var folder, for this `up` alone when the database lives in it."""
        try:
            if settings.EMBEDDED:
                make_passable(self._var, server_user())
                self._stack.enter_context(only_one(self._var))
            else:
                self._var.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise SettingError(f"DETIQ_VAR_DIR {self._var} cannot be used: {error}") from error

    def database(self) -> None:
        """Starts the embedded server, or checks the one that was named."""
        if settings.EMBEDDED:
            self._server = EmbeddedServer(self._var)
            self._stack.callback(self._server.stop)
            made = self._server.start()
            set_up_roles(self._server)
            self._say("database", f"embedded PostgreSQL, {'made in' if made else 'found in'} {self._server.data}")
            return
        try:
            with connector(settings.DATABASES["default"])("detiq-up") as serving:
                refuse_old(serving.info.server_version)
                self._role_switch = ordinary_role.make_if_superuser(serving)
        except psycopg.OperationalError as error:
            raise StartRefused(unreachable(error)) from error
        if self._role_switch:
            options = settings.DATABASES["default"]["OPTIONS"]
            options["options"] = f"{options['options']} {self._role_switch}"
        named = settings.DATABASES["default"]
        self._say("database", f"{named['NAME']} at {named['HOST'] or 'the local socket'}")

    def check(self, address: Address) -> None:
        """Refuses to serve demo users to other machines, and production without a key of its own."""
        with as_owner(connection):
            self._found = demo.look()
            demo_users = [] if address.loopback else users.present()
        if not address.loopback and self._makes_demo:
            raise StartRefused(
                f"--host {address.host} can be reached from other machines, and demo users have a password that "
                "everybody knows. Use --no-demo, or a loopback address."
            )
        if demo_users:
            raise StartRefused(
                f"--host {address.host} can be reached from other machines, and this database has demo users with the "
                f"demo password ({', '.join(demo_users)}). Change or remove them, or use a loopback address."
            )
        settle(os.environ, self._var, make=self._makes_demo or self._found.demo)

    @property
    def _makes_demo(self) -> bool:
        return self._demo_wanted and self._found.fresh

    def migrate(self) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        self._say("migrations", "up to date")

    def demo(self) -> list[str]:
        """Serves the demo's site if demo data lives here, and makes that data if it is due. Names the users made."""
        if not (self._makes_demo or self._found.demo):
            return []
        server = demo_site.serve(self._found.site_port or 0)
        self._stack.callback(server.shutdown)
        site = demo_site.address(server)
        self._say("demo site", site)
        if self._found.demo:
            return []
        made = demo.make(site, int(server.server_address[1]))
        connection.close()
        self._say("demo data", f"{len(made)} users, jobs and files for the worker to start with")
        return made

    def environment(self, address: Address) -> dict[str, str]:
        """What the parts are started with: ours, and what follows from the address and the demo."""
        env = {**os.environ, "PYTHONUNBUFFERED": "1"}
        if self._role_switch:
            _set_if_unset(env, "DATABASE_OWNER_URL", env["DATABASE_URL"])
            env["DATABASE_URL"] = ordinary_role.switched(env["DATABASE_URL"], self._role_switch)
        if address.loopback:
            _set_if_unset(env, "DETIQ_INSECURE_COOKIES", "1")
            _set_if_unset(env, "DETIQ_PUBLIC_URL", address.url)
        _set_if_unset(env, "ALLOWED_HOSTS", ",".join(["localhost", "127.0.0.1", "[::1]", address.host]))
        if self._makes_demo or self._found.demo:
            _set_if_unset(env, "OUTBOUND_ALLOWED_NETWORKS", _LOOPBACK_NETWORKS)
        return env

    def logins(self, made: list[str]) -> list[str]:
        """Who may log in."""
        if made or self._found.demo:
            return [f"{', '.join(users.NAMES)}; the password of each is {users.PASSWORD}"]
        return ["no demo users; make one with `manage.py createsuperuser`"]

    def keep_database(self) -> None:
        """Starts the embedded server again if it has ended. Raises `EmbeddedServerError` when it cannot."""
        if self._server is not None and (code := self._server.poll()) is not None:
            self._say("database", f"ended (exit code {code}), starts again")
            self._server.stop()
            self._server.start()


def _set_if_unset(env: dict[str, str], name: str, value: str) -> None:
    """An empty variable counts as unset, here as everywhere."""
    if not env.get(name, "").strip():
        env[name] = value
