"""`manage.py remote list|set|rotate|remove`: the job types that other services run."""

import json
from typing import Any

from django.core.management.base import CommandParser
from django.views.decorators.debug import sensitive_variables

from jobs.conf import conf
from jobs.handlers.remote import executors_guard
from jobs.management.shell import person, refusals
from jobs.management.terminal import ShellCommand
from jobs.operations import remote as operations
from jobs.operations.remote import BOUNDS, OVERLAP_HOURS
from jobs.queue import remote


class Command(ShellCommand):
    help = "Shows and changes which job types other services run. See docs/remote-executor.md."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="list|set|rotate|remove")
        shown = verbs.add_parser("list", help="All of them, without their secrets.")
        put = verbs.add_parser("set", help="Maps a type to a service; prints the secret of a new one, once.")
        rotate = verbs.add_parser("rotate", help="Makes and prints a new secret.")
        remove = verbs.add_parser("remove", help="Takes a mapping away.")
        for verb in (put, rotate, remove):
            verb.add_argument("type", help="The job type.")
            verb.add_argument("--reason", required=True, help="Why; it is kept in the audit trail.")
        put.add_argument("--url", required=True, help="The address that gets the signed requests.")
        for name in BOUNDS:
            option = "--" + name.removesuffix("_seconds").replace("_", "-")
            put.add_argument(option, dest=name, type=int, metavar="SECONDS", help=f"Default: {_default(name)}.")
        rotate.add_argument(
            "--overlap-hours",
            type=float,
            default=OVERLAP_HOURS,
            help=f"For how long the one before still counts ({OVERLAP_HOURS:g}).",
        )
        for verb in (shown, put, rotate, remove):
            verb.add_argument("--json", action="store_true", help="For scripts.")

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        with refusals():
            getattr(self, f"_{verb}")(options)

    def _list(self, options: dict[str, Any]) -> None:
        rows = remote.rows()
        lines = [f"{row['type']}: {row['url']}, silence {row['silence_seconds']} s" for row in rows]
        self._say(options, rows, lines or ["no type is run by another service"])

    @sensitive_variables("secret")
    def _set(self, options: dict[str, Any]) -> None:
        known = remote.row(options["type"]) or {}
        seconds = {name: options[name] or known.get(name) or _default(name) for name in BOUNDS}
        secret = operations.put(
            person(),
            options["type"],
            url=options["url"],
            check_url=executors_guard().check_url,
            reason=options["reason"],
            **seconds,
        )
        lines = [f"secret: {secret}", "It is shown only now."] if secret else [f"changed: {options['type']}"]
        if not conf().public_url:
            self.stderr.write(
                "DETIQ_PUBLIC_URL is not set here: a worker without it takes no job of this type (`up` sets it)."
            )
        self._say(options, {"type": options["type"], "secret": secret}, lines)

    @sensitive_variables("secret")
    def _rotate(self, options: dict[str, Any]) -> None:
        hours = options["overlap_hours"]
        secret = operations.rotate(person(), options["type"], overlap_hours=hours, reason=options["reason"])
        lines = [f"secret: {secret}", f"It is shown only now. The one before counts for {hours:g} more hours."]
        self._say(options, {"type": options["type"], "secret": secret}, lines)

    def _remove(self, options: dict[str, Any]) -> None:
        operations.remove(person(), options["type"], reason=options["reason"])
        self._say(options, {"type": options["type"]}, [f"removed: {options['type']}"])

    def _say(self, options: dict[str, Any], data: Any, lines: list[str]) -> None:
        self.stdout.write(json.dumps(data, indent=2, default=str) if options["json"] else "\n".join(lines))


def _default(name: str) -> int:
    return int(getattr(operations, name.upper()))
