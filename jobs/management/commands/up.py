"""`manage.py up`: database, migrations, console and worker in one command, all stopped together."""

import logging
import sys
from argparse import ArgumentParser
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from detiq_admin.listening import is_loopback, listen, url
from detiq_admin.stop_signals import StopAsked, StopSignals
from detiq_admin.supervisor import Part, Supervisor
from jobs.domain.errors import JobsError, SettingError
from jobs.management.starting import Address, Start

_NAME_WIDTH = 12


class NotStarted(CommandError):
    """Shown as one line, without a traceback."""


class Command(BaseCommand):
    """1. Take the address. 2. Start or check the database. 3. Refuse what must not be served. 4. Migrate. 5. Demo data.
    6. Worker and console. 7. Until a stop is asked for; then all of it backwards."""

    help = "Starts the database, the console and a worker; Ctrl-C stops them all."
    requires_system_checks = ()  # the console's own process checks; a mistake there is shown as its ending

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="where the console listens (127.0.0.1)")
        parser.add_argument("--port", type=_port, default=8000, help="its port (8000); 0 takes a free one")
        parser.add_argument("--no-demo", action="store_true", help="no demo users and jobs")

    def handle(self, *args: Any, **options: Any) -> None:
        stop = StopSignals()
        logging.getLogger().setLevel(logging.WARNING)  # here one line a part; each part has a log of its own
        try:
            with ExitStack() as stack:
                self._start_and_run(stack, stop, options)
        except StopAsked:
            pass
        except SettingError as error:
            raise NotStarted(str(error), returncode=2) from error
        except JobsError as error:
            raise NotStarted(str(error)) from error
        self._say("stopped", "nothing is left running")

    def _start_and_run(self, stack: ExitStack, stop: StopSignals, options: dict[str, Any]) -> None:
        start = Start(stack, self._say, demo_wanted=not options["no_demo"])
        start.take_folder()
        listener = stack.enter_context(listen(options["host"], options["port"]))
        address = Address(options["host"], url(listener, options["host"]), loopback=is_loopback(options["host"]))
        start.database()
        start.check(address)
        start.migrate()
        made = start.demo()
        env = start.environment(address)
        supervisor = Supervisor(stop, self._say)
        stack.callback(supervisor.stop)
        for part in supervisor.start(self._worker(env), self._console(env, listener.fileno())):
            self._say(part.name, f"process {part.pid}, log {part.log}")
        self._say("ready", address.url)
        for line in start.logins(made):
            self._say("login", line)
        stop.queue_from_now_on()
        supervisor.run(also=start.keep_database)
        self._say("stopping", "console, worker, database (again to hurry)")

    def _worker(self, env: dict[str, str]) -> Part:
        grace = settings.DETIQ.shutdown_grace.total_seconds()
        command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "worker"]
        return Part("worker", command, {**env, "DETIQ_PROCESS": "worker"}, _log("worker"), stop_seconds=grace + 10)

    def _console(self, env: dict[str, str], fd: int) -> Part:
        command = [sys.executable, "-m", "detiq_admin.serve", "--fd", str(fd)]
        return Part("console", command, {**env, "DETIQ_PROCESS": "web"}, _log("console"), stop_seconds=8, pass_fds=[fd])

    def _say(self, part: str, text: str) -> None:
        self.stdout.write(f"{part:<{_NAME_WIDTH}}{text}")
        self.stdout.flush()


def _log(name: str) -> Path:
    return Path(settings.VAR_DIR) / f"{name}.log"


def _port(raw: str) -> int:
    value = int(raw)
    if not 0 <= value <= 65_535:
        raise ValueError
    return value


_port.__name__ = "port from 0 to 65535"  # argparse names it when the value is none
