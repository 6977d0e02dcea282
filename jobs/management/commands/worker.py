"""`manage.py worker`: claims and runs jobs until told to stop."""

import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from detiq_admin import lifeline, loaded
from jobs.domain.errors import SettingError


class Command(BaseCommand):
    help = "Runs jobs. SIGTERM or Ctrl-C stops it gracefully, a second one at once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--concurrency", type=int, help="Jobs at once (default: JOB_WORKER_CONCURRENCY).")

    def handle(self, *args: Any, concurrency: int | None = None, **options: Any) -> None:
        if concurrency is not None and not 1 <= concurrency <= 256:
            raise CommandError("--concurrency takes a whole number from 1 to 256.", returncode=2)
        from huey.contrib.djhuey import HUEY

        import jobs.tasks  # noqa: F401 - Huey knows the tasks of imported modules
        from jobs.workers.start import new_consumer

        try:
            consumer = new_consumer(HUEY, concurrency, lifeline.ready)
        except SettingError as error:
            raise CommandError(str(error)) from error
        lifeline.watch()
        loaded.stays()
        consumer.run()
        # Handlers that did not listen may still run: their jobs are put back, and nothing may hold up the end.
        os._exit(0)
