"""`manage.py queue status|pause|resume`."""

import json
from typing import IO, Any, cast

from django.core.management.base import BaseCommand, CommandParser
from rich.console import Console
from rich.table import Table

from jobs.domain.states import word
from jobs.management.shell import is_terminal, person, refusals, seconds_until
from jobs.operations import actions
from jobs.queue import pauses
from jobs.queue.status import QueueStatus, queue_status


class Command(BaseCommand):
    help = "Shows the queue's state; pauses and resumes it."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="status|pause|resume")
        status = verbs.add_parser("status", help="Counts by type and state, workers, pauses.")
        status.add_argument("--json", action="store_true", help="For scripts.")
        pause = verbs.add_parser("pause", help="Holds jobs of a scope; running ones finish.")
        resume = verbs.add_parser("resume", help="Lifts the pauses of exactly this scope.")
        for verb in (pause, resume):
            verb.add_argument("--reason", required=True, help="Why; it is shown on every page and kept.")
            verb.add_argument("--type", help="Only this job type.")
            verb.add_argument("--tenant", help="Only this tenant.")
            verb.add_argument("--project", help="Only this project.")
        pause.add_argument("--until", help="When it ends by itself: 30min, 2h, 1d, or a moment in ISO 8601.")

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        with refusals():
            getattr(self, f"_{verb}")(options)

    def _status(self, options: dict[str, Any]) -> None:
        status = queue_status()
        if options["json"]:
            self.stdout.write(json.dumps(status.as_json(), indent=2, default=str))
        else:
            self._print(status)

    def _pause(self, options: dict[str, Any]) -> None:
        ends = seconds_until(options["until"]) if options["until"] else None
        pause_id = actions.pause(person(), reason=options["reason"], ends_in_seconds=ends, **_scope(options))
        self.stdout.write(f"paused: {pause_id}")

    def _resume(self, options: dict[str, Any]) -> None:
        scope = _scope(options)
        if not any(scope.values()):
            actions.resume(person(), reason=options["reason"])
            self.stdout.write("resumed")
            return
        held = [one for one in pauses.active() if one.id and scope == _scope_of(one)]
        if not held:
            raise pauses.PauseNotFound("no pause of exactly this scope is in force; nothing changed")
        for one in held:
            actions.resume(person(), reason=options["reason"], pause_id=one.id)
            self.stdout.write(f"resumed: {one.id}")

    def _print(self, status: QueueStatus) -> None:
        console = Console(file=cast(IO[str], self.stdout), highlight=False, width=None if is_terminal() else 160)
        for pause in status.pauses:
            end = f", until {pause.ends_at:%Y-%m-%d %H:%M:%S} UTC" if pause.ends_at else ", no end"
            console.print(f"PAUSED  {pause.scope}: {pause.reason} ({pause.owner}{end})", markup=False)
        table = Table("Type", *[word(state) for state in status.states], "Oldest wait", box=None, pad_edge=False)
        for type_ in sorted(status.counts):
            counts = status.counts[type_]
            wait = status.oldest_wait_seconds.get(type_)
            table.add_row(
                type_, *[f"{counts.get(state, 0):,}" for state in status.states], f"{wait:,.0f} s" if wait else "none"
            )
        console.print(table if status.counts else "No jobs.")
        for worker in status.workers:
            console.print(
                f"worker {worker['id']}: {worker['running']} of {worker['slots']} slots, "
                f"last seen {worker['silent_seconds']:.0f} s ago",
                markup=False,
            )
        if not status.workers:
            console.print("No live worker.")


def _scope(options: dict[str, Any]) -> dict[str, str | None]:
    return {"type": options["type"], "tenant_id": options["tenant"], "project_id": options["project"]}


def _scope_of(pause: pauses.PauseInForce) -> dict[str, str | None]:
    return {"type": pause.type, "tenant_id": pause.tenant_id, "project_id": pause.project_id}
