"""`manage.py job show|cancel|force-cancel|retry|rerun|run-now|priority|purge|restore`: what the job's page does."""

import json
from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError, CommandParser
from rich.table import Table

from jobs.conf import conf
from jobs.domain.errors import CannotResume, InvalidInput, JobNotFound, JobsError
from jobs.domain.masking import mask_json
from jobs.domain.states import word
from jobs.management.shell import REFUSED, person, refusals
from jobs.management.terminal import ShellCommand, console
from jobs.operations import actions
from jobs.queue import trails
from jobs.queue.transitions import Moved

VALUES = ("config", "result", "checkpoint")
# Verb of the command → (help, the action's own word in a refusal).
VERBS = {
    "cancel": "Cancels waiting jobs; asks running ones to stop.",
    "force-cancel": "Ends runs without their worker's word.",
    "retry": "Takes jobs out of the DLQ.",
    "rerun": "Queues a copy of an ended job; prints its id.",
    "run-now": "Ends the wait before a retry; caps and pauses still hold.",
    "priority": "Gives waiting jobs another priority.",
    "purge": "Moves ended jobs to the trash.",
    "restore": "Brings jobs back from the trash, as they were.",
}


class Command(ShellCommand):
    help = "Shows a job and acts on it, as its state allows."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="|".join(["show", *VERBS]))
        shown = verbs.add_parser("show", help="One job: state, attempts, timeline, values with their secrets masked.")
        shown.add_argument("id", help="The job's id.")
        shown.add_argument("--reveal", choices=VALUES, help="Print this value with its secrets, for a reason.")
        shown.add_argument("--reason", default="", help="Why; it is kept in the audit trail.")
        shown.add_argument("--json", action="store_true", help="For scripts.")
        for name, text in VERBS.items():
            verb = verbs.add_parser(name, help=text)
            verb.add_argument("ids", nargs="+", metavar="id", help="The job's id; several may be given.")
            verb.add_argument("--reason", required=True, help="Why; it is kept in the audit trail.")
            verb.add_argument("--json", action="store_true", help="For scripts.")
            if name == "retry":
                verb.add_argument(
                    "--checkpoint",
                    choices=("keep", "drop"),
                    help="keep: from there or not at all; drop: from the start. Else from there where there is one.",
                )
            if name == "force-cancel":
                verb.add_argument("--sure", action="store_true", help="Also when its worker is alive.")
            if name == "priority":
                verb.add_argument("--to", type=int, required=True, help="Higher goes first.")

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        with refusals():
            if verb == "show":
                self._show(options)
            else:
                self._act(verb, options)

    def _act(self, verb: str, options: dict[str, Any]) -> None:
        """A line for each job. Refused ones do not keep the others from being done; then the exit code is 1."""
        answers = _answers(verb, options)
        refused = [one for one in answers if one["refused"]]
        if options["json"]:
            self.stdout.write(json.dumps(answers, indent=2))
        else:
            for one in answers:
                if not one["refused"]:
                    self.stdout.write(one["new_job"] if verb == "rerun" else f"{one['job']}: {word(one['now'])}")
        if refused:
            raise CommandError("\n".join(str(one["refused"]) for one in refused), returncode=REFUSED)

    def _show(self, options: dict[str, Any]) -> None:
        job = trails.job(options["id"])
        if job is None:
            raise JobNotFound(options["id"])
        if options["reveal"]:
            if not options["reason"].strip():
                raise InvalidInput("--reason", "it is empty; say why")
            actions.reveal(person(), job["id"], options["reveal"], options["reason"])
        masked = {
            name: job[name]
            if job[name] is None or name == options["reveal"]
            else mask_json(job[name], conf().masked_keys)[0]
            for name in VALUES
        }
        if options["json"]:
            values = {name: None if text is None else json.loads(text) for name, text in masked.items()}
            self.stdout.write(json.dumps(job | values | {"history": trails.history(job["id"])}, indent=2, default=str))
        else:
            self._print(job, masked)

    def _print(self, job: dict[str, Any], values: dict[str, str | None]) -> None:
        out = console(self)
        facts = Table(box=None, pad_edge=False, show_header=False)
        for name, value in job.items():
            if name not in VALUES and value not in (None, ""):
                facts.add_row(name, str(value)[:2_000])
        for name, text in values.items():
            if text is not None:
                facts.add_row(name, text[:4_000] + ("…" if len(text) > 4_000 else ""))
        out.print(facts)
        timeline = Table("At (UTC)", "From", "To", "Who", "Why", box=None, pad_edge=False)
        for one in trails.history(job["id"]):
            timeline.add_row(
                f"{one['at']:%Y-%m-%d %H:%M:%S}",
                word(one["source"] or ""),
                word(one["target"] or ""),
                one["actor"],
                one["reason"] or "",
            )
        out.print(timeline)


def _answers(verb: str, options: dict[str, Any]) -> list[dict[str, Any]]:
    ids, reason, who = options["ids"], options["reason"], person()
    if verb == "rerun":
        return [_rerun(job_id, reason) for job_id in dict.fromkeys(ids)]
    calls: dict[str, Callable[[], list[Moved]]] = {
        "cancel": lambda: actions.cancel(who, ids, reason),
        "force-cancel": lambda: actions.force_cancel(who, ids, reason, options["sure"]),
        "retry": lambda: actions.retry(
            who,
            ids,
            reason,
            keep_checkpoint=options["checkpoint"] != "drop",
            must_resume=options["checkpoint"] == "keep",
        ),
        "run-now": lambda: actions.run_now(who, ids, reason),
        "priority": lambda: actions.set_priority(who, ids, reason, options["to"]),
        "purge": lambda: actions.purge(who, ids, reason),
        "restore": lambda: actions.restore(who, ids, reason),
    }
    return [
        {
            "job": one.job_id,
            "found": one.found,
            "now": one.now,
            "refused": None if one.changed else _refusal(one, verb),
        }
        for one in calls[verb]()
    ]


def _refusal(one: Moved, verb: str) -> str:
    error = one.refusal(verb)
    return f"{error}; add --checkpoint drop" if isinstance(error, CannotResume) else str(error)


def _rerun(job_id: str, reason: str) -> dict[str, Any]:
    try:
        return {"job": job_id, "new_job": actions.rerun(person(), job_id, reason), "refused": None}
    except InvalidInput:
        raise
    except JobsError as error:
        return {"job": job_id, "new_job": None, "refused": str(error)}
