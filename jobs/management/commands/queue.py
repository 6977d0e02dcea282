"""`manage.py queue status|pause|resume|cap`."""

import json
from typing import Any

from django.core.management.base import CommandParser
from rich.table import Table

from jobs.domain.errors import InvalidInput
from jobs.domain.states import word
from jobs.management.shell import person, refusals, seconds_until
from jobs.management.terminal import ShellCommand, console
from jobs.operations import actions
from jobs.queue import caps, pauses
from jobs.queue.caps import Cap, Setting, Wanted
from jobs.queue.status import QueueStatus, queue_status

UNTIL = "30min, 2h, 1d, or a moment in ISO 8601: UTC, or 2026-10-25T18:30+01:00, or 2026-10-25T18:30[Europe/Berlin]"


class Command(ShellCommand):
    help = "Shows the queue's state; pauses and resumes it."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="status|pause|resume|cap")
        status = verbs.add_parser("status", help="Counts by type and state, workers, pauses.")
        status.add_argument("--json", action="store_true", help="For scripts.")
        pause = verbs.add_parser("pause", help="Holds jobs of a scope; running ones finish.")
        resume = verbs.add_parser("resume", help="Lifts the pauses of exactly this scope.")
        for verb in (pause, resume):
            verb.add_argument("--reason", required=True, help="Why; it is shown on every page and kept.")
            verb.add_argument("--type", help="Only this job type.")
            verb.add_argument("--tenant", help="Only this tenant.")
            verb.add_argument("--project", help="Only this project.")
        pause.add_argument("--until", help=f"When it ends by itself: {UNTIL}.")
        resume.add_argument("--id", type=int, help="Only this pause, by its number.")
        for verb in (pause, resume):
            verb.add_argument("--json", action="store_true", help="For scripts.")
        _cap_arguments(verbs.add_parser("cap", help="Shows or changes how much a tenant or a type may run at once."))

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
        self._say(options, {"pause": pause_id}, f"paused: {pause_id}")

    def _resume(self, options: dict[str, Any]) -> None:
        scope = _scope(options)
        if options["id"] is None and not any(scope.values()):
            actions.resume(person(), reason=options["reason"])
            self._say(options, {"resumed": []}, "resumed")
            return
        if options["id"] is not None and any(scope.values()):
            raise InvalidInput("--id", "give the number or the scope, not both")
        held = [one.id for one in pauses.active() if one.id and options["id"] in (None, one.id)
                and (options["id"] is not None or scope == _scope_of(one))]  # fmt: skip
        if not held:
            raise pauses.PauseNotFound("no such pause is in force; nothing changed")
        for pause_id in held:
            actions.resume(person(), reason=options["reason"], pause_id=pause_id)
        self._say(options, {"resumed": held}, "\n".join(f"resumed: {pause_id}" for pause_id in held))

    def _cap(self, options: dict[str, Any]) -> None:
        kind, name = ("tenant", options["tenant"]) if options["tenant"] is not None else ("type", options["type"])
        before = caps.of(kind, name)
        wanted = _wanted(kind, options, before)
        if wanted is None:
            self._say(options, _cap_json(kind, before), _cap_words(kind, before))
            return
        if not (options["reason"] or "").strip():
            raise InvalidInput("--reason", "it is empty; say why")
        if options["back"] and not before.temporary:
            raise InvalidInput("--back", "its cap has no end, so there is none to go back to; nothing changed")
        _, after = actions.change_cap(person(), kind, name, wanted, reason=options["reason"], seen=before.version)
        self._say(options, _cap_json(kind, after), _cap_words(kind, after))

    def _say(self, options: dict[str, Any], data: Any, text: str) -> None:
        self.stdout.write(json.dumps(data, indent=2, default=str) if options["json"] else text)

    def _print(self, status: QueueStatus) -> None:
        out = console(self)
        for pause in status.pauses:
            end = f", until {pause.ends_at:%Y-%m-%d %H:%M:%S} UTC" if pause.ends_at else ", no end"
            out.print(f"PAUSED  {pause.scope}: {pause.reason} ({pause.owner}{end})")
        table = Table("Type", *[word(state) for state in status.states], "Oldest wait", box=None, pad_edge=False)
        for type_ in sorted(status.counts):
            counts = status.counts[type_]
            wait = status.oldest_wait_seconds.get(type_)
            table.add_row(
                type_, *[f"{counts.get(state, 0):,}" for state in status.states], f"{wait:,.0f} s" if wait else "none"
            )
        out.print(table if status.counts else "No jobs.")
        for worker in status.workers:
            out.print(
                f"worker {worker['id']}: {worker['running']} of {worker['slots']} slots, "
                f"last seen {worker['silent_seconds']:.0f} s ago"
            )
        if not status.workers:
            out.print("No live worker.")


def _scope(options: dict[str, Any]) -> dict[str, str | None]:
    return {"type": options["type"], "tenant_id": options["tenant"], "project_id": options["project"]}


def _scope_of(pause: pauses.PauseInForce) -> dict[str, str | None]:
    return {"type": pause.type, "tenant_id": pause.tenant_id, "project_id": pause.project_id}


def _cap_arguments(cap: CommandParser) -> None:
    whose = cap.add_mutually_exclusive_group(required=True)
    whose.add_argument("--tenant", help="Of this tenant.")
    whose.add_argument("--type", help="Of this type, over all tenants.")
    cap.add_argument("--cap", help="A whole number (0 suspends), default, or unlimited.")
    ends = cap.add_mutually_exclusive_group()
    ends.add_argument("--until", help=f"When the cap before it comes back: {UNTIL}.")
    ends.add_argument("--keep-end", action="store_true", help="Keep the end that it has.")
    ends.add_argument("--back", action="store_true", help="End a cap that has an end now.")
    cap.add_argument("--weight", type=int, help="A tenant's part of the turns; 1 unless set.")
    cap.add_argument("--note", help="What people should know of this tenant.")
    cap.add_argument("--max-run-seconds", help="How long a run of this type may take; none for no limit.")
    cap.add_argument("--reason", help="Why; it is kept in the audit trail. Needed for a change.")
    cap.add_argument("--json", action="store_true", help="For scripts.")


def _wanted(kind: str, options: dict[str, Any], before: Setting) -> Wanted | None:
    """What the options ask for; None: they only ask what is set. What is not named stays as it is."""
    given = {name: options[name] for name in ("cap", "until", "weight", "note", "max_run_seconds")}
    if all(value is None for value in given.values()) and not options["back"] and not options["keep_end"]:
        return None
    foreign = {"tenant": ("max_run_seconds",), "type": ("weight", "note")}[kind]
    for name in foreign:
        if given[name] is not None:
            raise InvalidInput(f"--{name.replace('_', '-')}", f"a {kind} has none")
    keeps_end = options["keep_end"] or (given["cap"] is None and given["until"] is None and before.temporary)
    cap = before.in_force if given["cap"] is None else Cap.parse(given["cap"], "--cap")
    return Wanted(
        before.base if options["back"] else cap,
        weight=before.weight if given["weight"] is None else given["weight"],
        note=before.note if given["note"] is None else given["note"],
        max_run_seconds=_longest_run(given["max_run_seconds"], before),
        ends_in_seconds=seconds_until(given["until"]) if given["until"] else None,
        keeps_end=keeps_end and not options["back"],
    )


def _longest_run(text: str | None, before: Setting) -> int | None:
    if text is None:
        return before.max_run_seconds
    if text == "none":
        return None
    if not (text.isascii() and text.isdigit()):
        raise InvalidInput("--max-run-seconds", f"{text[:40]!r} is neither a whole number nor none")
    return int(text)


def _cap_json(kind: str, setting: Setting) -> dict[str, Any]:
    return {kind: setting.name, "version": setting.version} | setting.says(kind)


def _cap_words(kind: str, setting: Setting) -> str:
    end = ""
    if setting.temporary and setting.ends_at:
        end = f", until {setting.ends_at:%Y-%m-%d %H:%M:%S} UTC, then {setting.previous.word}"
    own = f", weight {setting.weight}" if kind == "tenant" else ""
    if setting.max_run_seconds:
        own += f", longest run {setting.max_run_seconds} s"
    by = f" ({setting.updated_by})" if setting.updated_by else ""
    return f"{kind} {setting.name}: cap {setting.in_force.word}{end}{own}{by}" + (
        f"\n{setting.note}" if setting.note else ""
    )
