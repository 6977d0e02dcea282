"""`manage.py operation list|show|start|pause|resume|stop`."""

import json
from typing import Any
from urllib.parse import urlencode

from django.core.management.base import CommandParser

from jobs.console import previews
from jobs.console.queries import operations as read
from jobs.domain.bulk import Kind
from jobs.domain.errors import InvalidInput
from jobs.management import bulk
from jobs.management.shell import person, refusals
from jobs.management.terminal import ShellCommand, console
from jobs.operations import bulk as operations

KINDS = {kind.value.replace("_", "-"): kind for kind in Kind}


class Command(ShellCommand):
    help = "Shows bulk operations, begins and steers them."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="list|show|start|pause|resume|stop")
        shown = verbs.add_parser("list", help="The newest operations.")
        one = verbs.add_parser("show", help="One operation: how far it is, and why rows were left.")
        begun = verbs.add_parser(
            "start", help="Does something to all jobs of a filter, or what a page's preview showed."
        )
        begun.add_argument("what", metavar="KIND|PREVIEW", help=f"{', '.join(KINDS)}; or the id of a preview.")
        begun.add_argument("--filter", help="The query of a list's address: 'type=CRAWL&state=QUEUED'.")
        begun.add_argument("--all", action="store_true", help="Every job that can be.")
        bulk.add_options(begun, tuple(Kind))
        for verb in (shown, one):
            verb.add_argument("--json", action="store_true", help="For scripts.")
        for name in ("pause", "resume", "stop"):
            verb = verbs.add_parser(name, help=f"{name.capitalize()}s an operation.")
            verb.add_argument("id", type=int)
            verb.add_argument("--reason", required=True, help="Why; kept in the audit trail.")
            if name == "resume":
                verb.add_argument("--rate", type=int, help="Jobs a minute from now on.")
        one.add_argument("id", type=int)

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        with refusals():
            getattr(self, f"_{verb}")(options)

    def _list(self, options: dict[str, Any]) -> None:
        rows = read.newest()
        if options["json"]:
            self.stdout.write(json.dumps([bulk.as_json(row) for row in rows], indent=2))
            return
        table = bulk.table("Operation", "What", "State", "Done", "Skipped", "Failed", "Of", "By", "Reason")
        for row in rows:
            counts = [f"{row[name]:,}" for name in ("done", "skipped", "failed", "total")]
            table.add_row(str(row["id"]), row["kind"], row["state"], *counts, row["actor"], row["reason"][:60])
        console(self).print(table if rows else "No bulk operation has run.")

    def _show(self, options: dict[str, Any]) -> None:
        row = bulk.find(options["id"])
        reasons = read.reasons(row["id"])
        if options["json"]:
            self.stdout.write(json.dumps(bulk.as_json(row) | {"reasons": reasons}, indent=2))
            return
        self.stdout.write(bulk.sentence(row))
        self.stdout.write(f"{row['actor']}: {row['reason']}")
        for one in reasons:
            self.stdout.write(f"{one['n']:>9,}  {one['outcome']}: {one['reason']}")

    def _start(self, options: dict[str, Any]) -> None:
        if previews.looks_like(options["what"]):
            return self._confirm(options)
        if options["what"] not in KINDS:
            raise InvalidInput("what", f"it is neither a preview's id nor one of {', '.join(KINDS)}")
        if bool(options["filter"]) == options["all"]:
            raise InvalidInput("--filter", "give a filter, or say --all; not both, not neither")
        kind, query = KINDS[options["what"]], options["filter"] or ""
        more = {name: value for name, value in bulk.chosen(options).items() if f"{name}=" not in query}
        bulk.begin(self, bulk.parse_ask(kind, "&".join(filter(None, [query, urlencode(more)]))), options)

    def _confirm(self, options: dict[str, Any]) -> None:
        if options["filter"] or options["all"] or bulk.chosen(options):
            raise InvalidInput("what", "a preview says itself which jobs are meant; give only how it is done")
        bulk.confirm(self, options["what"], options)

    def _pause(self, options: dict[str, Any]) -> None:
        operations.pause(person(), options["id"], options["reason"])
        self.stdout.write(f"paused: {options['id']}")

    def _resume(self, options: dict[str, Any]) -> None:
        operations.resume(person(), options["id"], options["reason"], rate=options["rate"])
        self.stdout.write(f"resumed: {options['id']}")

    def _stop(self, options: dict[str, Any]) -> None:
        operations.stop(person(), options["id"], options["reason"])
        self.stdout.write(f"stopped: {options['id']}")
