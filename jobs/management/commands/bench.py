"""`manage.py bench`: measures the queue on databases of its own."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console

from jobs.bench import claim, claimers, data, drain, operations, pages, redrive, side_by_side, soak
from jobs.bench.peers.known import Known, peers
from jobs.bench.peers.npm import node_peers
from jobs.bench.report import Report, Section, show, show_machine
from jobs.bench.server import BenchRefused, Lab, open_lab
from jobs.domain.errors import InvalidInput
from jobs.management.shell import is_terminal, refusals

# What `bench` alone does is small, for a look; a scenario by its name is measured as its options say.
QUICK: dict[str, Any] = {"rows": 20_000, "samples": 60, "jobs": 2_000, "seconds": 0.5, "snapshot": 4.0, "pickups": 30}


@contextmanager
def _stopped_politely() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise CommandError("stopped; what was made is dropped", returncode=130) from None


class Command(BaseCommand):
    help = "Measures claims, drains, pick-up and enqueue on databases made for it and dropped after it."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("scenario", nargs="?", choices=[*SCENARIOS, "data"], help="Default: all, small.")
        parser.add_argument("--json", type=Path, metavar="FILE", help="Also writes what was found as JSON.")
        parser.add_argument("--peers", action="store_true", help="Also measures other queues, by the same steps.")
        parser.add_argument("--rows", type=int, default=200_000, help="claim, claimers, operations, redrive: rows.")
        parser.add_argument("--samples", type=int, default=300, help="claim: claims of each kind on each backlog.")
        parser.add_argument("--snapshot", type=float, default=20, help="claim: seconds that an old snapshot is held.")
        parser.add_argument("--finished", type=int, default=0, help="claim: finished rows beside, as a backlog more.")
        parser.add_argument("--backlog", action="append", default=[], metavar="NAME", help="claim: only this one.")
        parser.add_argument("--seconds", type=float, default=2, help="claimers, operations, redrive: of each round.")
        parser.add_argument("--kind", action="append", default=[], metavar="KIND", help="operations: only this one.")
        parser.add_argument("--undo", action="store_true", help="operations: a purge is undone, too.")
        parser.add_argument("--rate", type=int, default=9_000, help="redrive: dead letters a minute.")
        parser.add_argument("--jobs", type=int, default=20_000, help="drain, enqueue, data: jobs.")
        parser.add_argument(
            "--soak", type=float, metavar="MINUTES", help="Workers, server and connections die at random."
        )
        parser.add_argument("--seed", type=int, help="soak: the same blows again.")
        parser.add_argument("--on", default="", metavar="URL", help="pages: a database that `bench data` filled.")
        parser.add_argument("--pickups", type=int, default=100, help="pickup: jobs.")

    def handle(self, *args: Any, scenario: str | None, json: Path | None, **options: Any) -> None:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does: everything is dropped
        console = Console(file=cast(IO[str], self.stdout), highlight=False, width=None if is_terminal() else 200)
        if scenario is None:
            options |= QUICK
        with refusals(), _stopped_politely():
            options["others"], missing = (peers() if options["peers"] else ()), ""
            with open_lab() as lab:
                if options["peers"]:
                    found, missing = node_peers(lab)
                    options["others"] += found
                report = Report(lab.facts(), notes=[missing] if missing else [])
                show_machine(console, report.machine, report.notes)
                if scenario == "data":
                    self._fill(lab, options["jobs"])
                    return
                if options["soak"]:
                    scenario = "soak"
                for name in self._chosen(scenario, options):
                    report.sections.append(SCENARIOS[name](lab, options, self._progress))
                    show(console, report.sections[-1])
                if json:
                    report.write(json)
                if any(row.get("found") for section in report.sections for row in section.rows):
                    raise CommandError("the soak found something")

    def _fill(self, lab: Lab, jobs: int) -> None:
        """A database of its own that is kept, for a console to be started on."""
        if settings.EMBEDDED:
            raise BenchRefused(
                "`bench data` needs a server that stays: set DATABASE_URL to one that may get a database."
            )
        if jobs < 1:
            raise InvalidInput("--jobs", "it must be at least 1")
        url = lab.keep_database()
        self.stdout.write(f"DATABASE_URL={url}")
        data.generate(url, jobs, self._progress)
        self.stdout.write(f"{jobs:,} jobs; drop that database when you are done")

    def _chosen(self, scenario: str | None, options: dict[str, Any]) -> list[str]:
        if scenario:
            return [scenario]
        return [name for name in SCENARIOS if name not in {"soak", "redrive"} and (name != "peers" or options["peers"])]

    def _progress(self, text: str) -> None:
        if is_terminal():
            self.stderr.write(text)


type Progress = Callable[[str], None]
type Scenario = Callable[[Lab, dict[str, Any], Progress], Section]


def _claim(lab: Lab, options: dict[str, Any], progress: Progress) -> Section:
    chosen = claim.ClaimOptions(
        rows=options["rows"],
        samples=options["samples"],
        finished=options["finished"],
        snapshot_seconds=options["snapshot"],
        only=options["backlog"],
    )
    return claim.run(lab, chosen, progress)


def _claimers(lab: Lab, options: dict[str, Any], progress: Progress) -> Section:
    chosen = claimers.ClaimersOptions(rows=options["rows"], seconds=options["seconds"])
    return claimers.run(lab, chosen, progress)


def _drain(lab: Lab, options: dict[str, Any], progress: Progress) -> Section:
    return drain.run(lab, drain.DrainOptions(jobs=options["jobs"]), progress)


def _side(options: dict[str, Any]) -> tuple[side_by_side.SideOptions, tuple[Known, ...]]:
    jobs = options["jobs"]
    chosen = side_by_side.SideOptions(single=max(1, jobs // 10), bulk=jobs, pickups=options["pickups"], jobs=jobs)
    return chosen, options["others"]


def _pickup(lab: Lab, options: dict[str, Any], progress: Progress) -> Section:
    return side_by_side.pickup(lab, *_side(options), progress)


def _enqueue(lab: Lab, options: dict[str, Any], progress: Progress) -> Section:
    return side_by_side.enqueue(lab, *_side(options), progress)


def _peers(lab: Lab, options: dict[str, Any], progress: Progress) -> Section:
    return side_by_side.drain(lab, *_side(options), progress)


def _pages(lab: Lab, options: dict[str, Any], progress: Progress) -> Section:
    chosen = pages.PagesOptions(jobs=options["jobs"], samples=min(60, options["samples"]), url=options["on"])
    return pages.run(lab, chosen, progress)


def _operations(lab: Lab, options: dict[str, Any], progress: Progress) -> Section:
    rows = options["rows"]
    chosen = operations.OperationsOptions(
        rows=rows,
        backlog=max(5_000, rows // 2),
        seconds=2 * options["seconds"],
        only=options["kind"],
        undo=options["undo"],
    )
    return operations.run(lab, chosen, progress)


def _redrive(lab: Lab, options: dict[str, Any], progress: Progress) -> Section:
    chosen = redrive.RedriveOptions(rows=options["rows"], rate=options["rate"], seconds=7 * options["seconds"])
    return redrive.run(lab, chosen, progress)


def _soak(lab: Lab, options: dict[str, Any], progress: Progress) -> Section:
    minutes = options["soak"] or 1.0
    if minutes < 0:
        raise InvalidInput("--soak", "minutes, more than 0")
    return soak.run(lab, soak.SoakOptions(minutes=minutes, seed=options["seed"]), progress)


SCENARIOS: dict[str, Scenario] = {
    "claim": _claim,
    "claimers": _claimers,
    "drain": _drain,
    "pickup": _pickup,
    "enqueue": _enqueue,
    "peers": _peers,
    "pages": _pages,
    "operations": _operations,
    "redrive": _redrive,
    "soak": _soak,
}
