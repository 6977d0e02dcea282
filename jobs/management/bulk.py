"""What the commands for bulk operations share: the question, the work with its progress, what is printed."""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.http import QueryDict
from rich.table import Table

from jobs.console import previews
from jobs.console.bulk import Ask
from jobs.console.queries import bulk as preview
from jobs.console.queries import operations as read
from jobs.console.queries import system
from jobs.domain.bulk import SPECS, STATE_WORDS, Kind, Options
from jobs.domain.errors import AlreadyBegun, InvalidInput, OperationNotFound, PreviewGone
from jobs.management.shell import REFUSED, is_terminal, person, seconds_until
from jobs.operations import bulk
from jobs.queue.connections import ONLY_READ
from jobs.rows import Row

SLICE_SECONDS = 1.0
_NAMES = ("id", "kind", "state", "actor", "reason", "note", "total", "done", "skipped", "failed")


def add_options(parser: CommandParser, kinds: tuple[Kind, ...]) -> None:
    """The arguments of a command that begins an operation."""
    parser.add_argument("--reason", required=True, help="Why; kept in the audit trail and in each job's history.")
    parser.add_argument(
        "--rate", type=int, help="Jobs a minute; without it as fast as goes without holding anybody up."
    )
    parser.add_argument("--yes", action="store_true", help="Do not ask. Needed where nobody can answer.")
    parser.add_argument("--detach", action="store_true", help="Leave the work to the workers.")
    parser.add_argument("--json", action="store_true", help="For scripts.")
    if Kind.RETRY in kinds:
        parser.add_argument("--start-over", action="store_true", help="From the beginning, not from the checkpoint.")
        parser.add_argument("--boomerangs", action="store_true", help="Also jobs that came back after a redrive.")
        parser.add_argument(
            "--brake", metavar="PERCENT/OF", help="Stops when so many of the last released fail: 20/50."
        )
        parser.add_argument("--brake-wait", metavar="TIME", help="Stops when other jobs wait for longer: 45min.")
        parser.add_argument("--held-tenants", action="store_true", help="Also jobs of paused and suspended tenants.")
        parser.add_argument(
            "--outdated",
            action="store_true",
            help="Also jobs whose checkpoint another version of the handler wrote: they start over.",
        )
        parser.add_argument("--with-checkpoint", action="store_true", help="Only jobs that have a checkpoint.")
        parser.add_argument(
            "--max-redrives",
            type=int,
            metavar="N",
            help="Leaves jobs redriven so often before; 5 unless set, 0 for none.",
        )
        parser.add_argument(
            "--ramp", action="store_true", help="Leads up to the rate while what is released ends well."
        )
        parser.add_argument(
            "--idle", type=int, metavar="PERCENT", help="At most this share of the workers' idle slots."
        )
    if {Kind.RETRY, Kind.PRIORITY} & set(kinds):
        parser.add_argument(
            "--priority", type=int, help="The new priority; of a redrive the highest that its jobs go back with."
        )


def options_of(ask: Ask, options: dict[str, Any]) -> Options:
    """The choices of a command line. Raises `InvalidInput` that names the argument."""
    percent, of = _brake(options.get("brake"))
    wait = options.get("brake_wait")
    return replace(
        ask.options,
        keep_checkpoint=not options.get("start_over"),
        priority=options.get("priority"),
        rate=options.get("rate"),
        ramp=bool(options.get("ramp")),
        idle_percent=options.get("idle"),
        brake_percent=percent,
        brake_of=of,
        brake_wait_seconds=int(seconds_until(wait, option="--brake-wait")) if wait else None,
    )


def chosen(options: dict[str, Any]) -> dict[str, str]:
    """What is taken along or left, as the pages' addresses say it."""
    flags = {"boomerangs": "boomerangs", "held": "held_tenants", "kept": "with_checkpoint", "outdated": "outdated"}
    found = {name: "1" for name, option in flags.items() if options.get(option)}
    most = options.get("max_redrives")
    return found if most is None else found | {"redrives": str(most)}


def _brake(text: str | None) -> tuple[int | None, int]:
    if not text:
        return None, Options().brake_of
    percent, _, of = text.partition("/")
    if not text.isascii() or not percent.isdigit() or (of and not of.isdigit()):
        raise InvalidInput("--brake", f"{text!r} is not of the form PERCENT/OF, such as 20/50")
    return int(percent), int(of or Options().brake_of)


def parse_ask(kind: Kind, query: str) -> Ask:
    """The rows of a query as pages write it."""
    return Ask.parse(kind, QueryDict(query))


def begin(command: BaseCommand, ask: Ask, options: dict[str, Any]) -> None:
    """Asks, begins, works, and says what became of it. Exit 1 when rows failed or nothing was done."""
    _begin(command, ask, options, lambda: _asked(command, ask, options))


def confirm(command: BaseCommand, preview_id: str, options: dict[str, Any]) -> None:
    """The same for what a page showed, which asks nothing more but where nothing narrows it.

    Raises `AlreadyBegun`, `PreviewGone`.
    """
    if (operation_id := bulk.begun(preview_id)) is not None:
        raise AlreadyBegun(operation_id)
    if (shown := previews.find(preview_id)) is None:
        if not system.writable():  # then the page could not keep it
            raise CommandError(ONLY_READ, returncode=REFUSED)
        raise PreviewGone(preview_id, previews.HOLDS_MINUTES)
    if shown.ask.is_empty:
        _asked(command, shown.ask, options)
    _begin(command, shown.ask, options, lambda: shown.expected, preview_id)


def _begin(
    command: BaseCommand, ask: Ask, options: dict[str, Any], look: Callable[[], int | None], preview: str | None = None
) -> None:
    chosen = options_of(ask, options)
    chosen.check(ask.kind)
    started = bulk.start(
        person(), ask.kind, ask.selection(), reason=options["reason"], options=chosen, expected=look(),
        preview=preview, wakes=options["detach"],
    )  # fmt: skip
    if not started.fresh:
        raise AlreadyBegun(started.id)
    if not options["detach"]:
        follow(command, started.id, quiet=options["json"])
    row = find(started.id)
    if options["json"]:
        command.stdout.write(json.dumps(as_json(row), indent=2))
    else:
        command.stdout.write(sentence(row))
    if row["failed"] or row["state"] == "BRAKED":
        raise CommandError(row["note"] or f"{row['failed']:,} rows failed", returncode=REFUSED)
    if row["state"] == "DONE" and not row["done"]:
        stay = f"{row['skipped']:,} of {row['total']:,} stay as they were"
        show = f"manage.py operation show {row['id']}"
        raise CommandError(f"nothing was done: {stay}; {show} says why", returncode=REFUSED)


def _asked(command: BaseCommand, ask: Ask, options: dict[str, Any]) -> int | None:
    found = preview.preview(ask.kind, ask.selection(), options_of(ask, options), ask.states)
    number = f"{found.n:,}" if found.whole else f"at least {found.n:,}" if found.known else "an unknown number of"
    line = f"{SPECS[ask.kind].verb} {number} jobs"
    if found.why and not options["json"]:
        for why, left in sorted(found.why.items()):
            command.stdout.write(f"{left:>9,}  stay: {why.removeprefix(preview.STATE)}")
    if not options["yes"]:
        if not (sys.stdin.isatty() and is_terminal()):
            raise CommandError(f"{line}? Nobody can answer here, so nothing was done; add --yes", returncode=REFUSED)
        command.stdout.write(f"{line}: " + ", ".join(f"{label} {value}" for label, value in ask.words()))
        wanted = str(found.n) if ask.is_empty else "yes"
        if input(f"Type {wanted} to go on: ").strip() != wanted:
            raise CommandError("nothing was done", returncode=REFUSED)
    return found.n if found.whole else None


def follow(command: BaseCommand, operation_id: int, quiet: bool) -> None:
    """Works on it here, saying how far it is. Ctrl-C leaves the rest to the workers."""
    runner, said = bulk.new_runner(), time.monotonic()
    try:
        while (progress := bulk.work(operation_id, runner, SLICE_SECONDS)).delay is not None:
            if not quiet and progress.counted and time.monotonic() - said > 2:
                said, at = time.monotonic(), progress.counted
                command.stdout.write(f"{at.done + at.skipped + at.failed:,} of {at.total:,}")
            time.sleep(progress.delay)
    except KeyboardInterrupt:
        command.stdout.write(f"workers go on with it: manage.py operation show {operation_id}")


def find(operation_id: int) -> Row:
    """An operation. Raises `OperationNotFound`."""
    row = read.find(operation_id) if 0 < operation_id < 2**63 else None
    if row is None:
        raise OperationNotFound(operation_id)
    return row


def as_json(row: Row) -> Row:
    """An operation for scripts."""
    times = ("created_at", "started_at", "finished_at")
    return (
        {name: row[name] for name in _NAMES}
        | {"filter": _plain(row["filter"]), "options": _plain(row["options"])}
        | {name: row[name].isoformat() if row[name] else None for name in times}
    )  # fmt: skip


def _plain(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def sentence(row: Row) -> str:
    """An operation in a line."""
    word = STATE_WORDS.get(row["state"], str(row["state"])).lower()
    note = f" ({row['note']})" if row["note"] else ""
    return (
        f"operation {row['id']}: {word}{note}; {row['done']:,} done, {row['skipped']:,} skipped, "
        f"{row['failed']:,} failed of {row['total']:,}"
    )


def table(*columns: str) -> Table:
    """A table for people."""
    return Table(*columns, box=None, pad_edge=False)
