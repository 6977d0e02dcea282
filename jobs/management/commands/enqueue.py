"""`manage.py enqueue TYPE --tenant T`: a new job; prints its id."""

from typing import Any

from django.core.management.base import CommandParser

from jobs.domain.errors import InvalidInput
from jobs.domain.values import check_json
from jobs.management.shell import person, refusals
from jobs.management.terminal import ShellCommand
from jobs.operations import actions


class Command(ShellCommand):
    help = "Puts a job into the queue and prints its id."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("type", help="The job's type, such as CRAWL.")
        parser.add_argument("--tenant", required=True, help="Whose job it is.")
        parser.add_argument("--project", help="The project it belongs to.")
        parser.add_argument("--config", default="{}", help='A JSON object, such as \'{"url": "https://example.com"}\'.')
        parser.add_argument("--priority", type=int, default=0, help="Higher goes first (default 0).")
        parser.add_argument("--name", default="", help="What people read; empty shows the type.")
        parser.add_argument("--unique-key", help="Refuse if another active job holds this key.")

    def handle(self, *args: Any, **options: Any) -> None:
        with refusals():
            config = check_json(options["config"], field="--config")
            if not isinstance(config, dict):
                raise InvalidInput("--config", "it must be a JSON object")
            job_id = actions.enqueue(
                person(),
                type=options["type"],
                tenant_id=options["tenant"],
                project_id=options["project"],
                config=config,
                name=options["name"],
                priority=options["priority"],
                unique_key=options["unique_key"],
            )
        self.stdout.write(job_id)
