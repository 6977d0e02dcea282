"""`manage.py retention`: deletes now what is old, also when no worker can run."""

import json
import time
from typing import Any

from django.core.management.base import CommandError, CommandParser

from jobs.management.shell import REFUSED, refusals
from jobs.management.terminal import ShellCommand
from jobs.operations.retention import retention as all_retention
from jobs.queue.retention import Progress

_SLICE_SECONDS = 2.0


class Command(ShellCommand):
    help = "Deletes what is older than it is kept, in small batches; may be stopped at any moment, and beside workers."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="For scripts.")

    def handle(self, *args: Any, **options: Any) -> None:
        with refusals():
            totals = self._prune(quiet=options["json"])
        if options["json"]:
            self.stdout.write(json.dumps([_as_json(one) for one in totals], indent=2))
        failed = [one for one in totals if one.error]
        if failed:
            lines = "; ".join(f"{one.target.name}: {one.error}" for one in failed)
            raise CommandError(f"not everything was deleted: {lines}", returncode=REFUSED)

    def _prune(self, quiet: bool) -> list[Progress]:
        retention = all_retention()
        totals = {target.name: Progress(target) for target in retention.all()}
        due, said = retention.all(), time.monotonic()
        while due:
            for one in retention.prune(due, _SLICE_SECONDS):
                total = totals[one.target.name]
                total.pruned += one.pruned
                total.ended, total.error, total.rows_left = one.ended, one.error, one.rows_left
            due = [one.target for one in totals.values() if not one.ended and one.error is None]
            if not quiet and (not due or time.monotonic() - said > 5):
                said = time.monotonic()
                self.stdout.write(", ".join(f"{one.target.name} {one.pruned:,}" for one in totals.values()))
        return list(totals.values())


def _as_json(one: Progress) -> dict[str, Any]:
    return {"target": one.target.name, "deleted": one.pruned, "rows_left": one.rows_left, "error": one.error}
