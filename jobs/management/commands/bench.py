"""`manage.py bench`: measures the queue on databases of its own."""

import signal
from pathlib import Path
from typing import IO, Any, cast

from django.core.management.base import BaseCommand, CommandParser
from rich.console import Console

from jobs.bench import claim, drain
from jobs.bench.report import Report, show, show_machine
from jobs.bench.server import Lab, open_lab
from jobs.management.shell import is_terminal, refusals

SCENARIOS = ("claim", "drain")


class Command(BaseCommand):
    help = "Measures claims, drains and pick-up on databases made for it and dropped after it."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("scenario", nargs="?", choices=SCENARIOS, help="Default: all, small.")
        parser.add_argument("--json", type=Path, metavar="FILE", help="Also writes what was found as JSON.")
        parser.add_argument("--rows", type=int, default=200_000, help="claim, claimers: rows of a backlog.")
        parser.add_argument("--samples", type=int, default=300, help="claim: claims of each kind on each backlog.")
        parser.add_argument(
            "--finished", type=int, default=0, help="claim: finished rows beside, as a further backlog."
        )
        parser.add_argument("--backlog", action="append", default=[], metavar="NAME", help="claim: only this one.")
        parser.add_argument("--jobs", type=int, default=20_000, help="drain: jobs to do.")

    def handle(self, *args: Any, scenario: str | None, json: Path | None, **options: Any) -> None:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does: everything is dropped
        console = Console(file=cast(IO[str], self.stdout), highlight=False, width=None if is_terminal() else 200)
        with refusals(), open_lab() as lab:
            report = Report(lab.facts())
            show_machine(console, report.machine)
            for name in [scenario] if scenario else SCENARIOS:
                section = getattr(self, f"_{name}")(lab, options)
                report.sections.append(section)
                show(console, section)
            if json:
                report.write(json)

    def _claim(self, lab: Lab, options: dict[str, Any]) -> Any:
        chosen = claim.ClaimOptions(
            rows=options["rows"], samples=options["samples"], finished=options["finished"], only=options["backlog"]
        )
        return claim.run(lab, chosen, self._progress)

    def _drain(self, lab: Lab, options: dict[str, Any]) -> Any:
        return drain.run(lab, drain.DrainOptions(jobs=options["jobs"]), self._progress)

    def _progress(self, text: str) -> None:
        if is_terminal():
            self.stderr.write(text)
