"""`manage.py dlq list|retry|purge`."""

import json
from typing import Any
from urllib.parse import urlencode

from django.core.management.base import CommandParser

from jobs.console.queries import lists
from jobs.domain.bulk import Kind
from jobs.domain.errors import InvalidInput
from jobs.domain.states import DEAD_LETTERED
from jobs.management import bulk
from jobs.management.shell import refusals
from jobs.management.terminal import ShellCommand, console


class Command(ShellCommand):
    help = "Shows the dead-letter queue; puts its jobs back in the queue, or into the trash."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="list|retry|purge")
        shown = verbs.add_parser("list", help="Groups of dead letters, most first.")
        shown.add_argument("--json", action="store_true", help="For scripts.")
        retry = verbs.add_parser("retry", help="Back in the queue, with a fresh retry budget.")
        purge = verbs.add_parser("purge", help="Into the trash, from where they can be restored for 7 days.")
        for verb, kind in ((retry, Kind.RETRY), (purge, Kind.PURGE)):
            verb.add_argument("--id", action="append", default=[], help="Only this job; may be repeated.")
            verb.add_argument("--type", help="Only this job type.")
            verb.add_argument("--tenant", help="Only this tenant.")
            verb.add_argument("--group", help="Only this failure group.")
            verb.add_argument("--all", action="store_true", help="The whole DLQ.")
            bulk.add_options(verb, (kind,))

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        with refusals():
            if verb == "list":
                self._list(options)
            else:
                bulk.begin(self, bulk.parse_ask(Kind(verb), _query(options)), options)

    def _list(self, options: dict[str, Any]) -> None:
        groups, more = lists.dead_groups(most=1000)
        if options["json"]:
            self.stdout.write(json.dumps([_as_json(one) for one in groups], indent=2))
            return
        table = bulk.table("Jobs", "Tenants", "Type", "Group", "Failure type", "Latest", "Newest error")
        for one in groups:
            latest = f"{one['latest']:%Y-%m-%d %H:%M:%S}" if one["latest"] else ""
            error = (one["error"] or "").strip().splitlines()
            table.add_row(
                f"{one['n']:,}", f"{one['tenants']:,}", one["type"], one["fingerprint"] or "none",
                one["failure_type"] or "unclassified", latest, error[0][:80] if error else "",
            )  # fmt: skip
        out = console(self)
        out.print(table if groups else "The DLQ is empty.")
        if more:
            out.print("Only the newest 20,000 dead letters are grouped.")


def _query(options: dict[str, Any]) -> str:
    """The arguments as the pages' filter. Nothing at all is never read as everything."""
    parts = {name: options[name] for name in ("type", "tenant", "group") if options[name] is not None}
    if bool(parts or options["id"]) == options["all"]:
        raise InvalidInput(
            "--all", "name jobs by --id, --type, --tenant or --group, or say --all; not both, not neither"
        )
    if options["id"]:
        parts["id"] = options["id"]
    return urlencode(parts | bulk.chosen(options) | {"state": DEAD_LETTERED}, doseq=True)


def _as_json(one: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": one["type"],
        "group": one["fingerprint"],
        "failure_type": one["failure_type"],
        "jobs": one["n"],
        "tenants": one["tenants"],
        "latest": one["latest"].isoformat() if one["latest"] else None,
        "error": one["error"],
    }
