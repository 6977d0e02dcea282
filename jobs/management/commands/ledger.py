"""`manage.py ledger status|retry|contradictions|repair|drain`: the document ledger for a shell."""

from collections import Counter
from contextlib import closing
from typing import Any

from django.core.management.base import CommandParser

from jobs.conf import conf
from jobs.ledger import contradictions, hooks, outbox
from jobs.ledger.contradictions import KINDS as KINDS_OF_CONTRADICTIONS
from jobs.management.shell import VerbCommand, person
from jobs.operations import ledger, ledger_repair
from jobs.operations.ledger_repair import Repaired
from jobs.workers.ledger import Drainer
from jobs.workers.start import BUILT_IN_HOOKS

KINDS = ("pending", "running", "failed", "exhausted", "succeeded")


class Command(VerbCommand):
    help = "Shows the document ledger; retries what failed; drains it without a worker."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="status|retry|contradictions|repair|drain")
        status = verbs.add_parser("status", help="Counts by hook type, each up to 10,000; done ones of the last hour.")
        retry = verbs.add_parser("retry", help="Failed and exhausted events wait again.")
        retry.add_argument("--id", action="append", default=[], help="One event; may be repeated.")
        retry.add_argument("--state", choices=ledger.STATES, default="stuck", help="stuck (both), failed or exhausted.")
        for name, what in (("company", "company"), ("document", "document"), ("hook", "hook type")):
            retry.add_argument(f"--{name}", help=f"Only this {what}.")
        retry.add_argument("--reason", required=True, help="Why; kept in the audit trail.")
        drain = verbs.add_parser("drain", help="Runs what may run, until nothing is left or the time is over.")
        drain.add_argument("--seconds", type=float, default=60.0, help="For about so long (default: 60).")
        drain.add_argument("--document", help="Only this document.")
        listed = verbs.add_parser("contradictions", help="Events and jobs that contradict each other, by kind.")
        repair = verbs.add_parser(
            "repair", help="Repairs one kind of contradictions; without --yes only says what it would do."
        )
        repair.add_argument("kind", choices=KINDS_OF_CONTRADICTIONS, help="The kind.")
        repair.add_argument("--yes", action="store_true", help="Do it.")
        repair.add_argument("--reason", required=True, help="Why; kept in the audit trail.")
        for verb in (status, retry, listed, repair, drain):
            verb.add_argument("--json", action="store_true", help="For scripts.")

    def _status(self, options: dict[str, Any]) -> tuple[Any, str]:
        most = conf().ledger_max_attempts
        rows, waited = outbox.status_counts(most), outbox.oldest_due_seconds(most)
        totals = {kind: sum(row[kind] for row in rows) for kind in KINDS}
        lines = [", ".join(f"{totals[kind]:,} {kind}" for kind in KINDS)]
        lines += [f"{row['hook_type']}: " + ", ".join(f"{row[kind]:,} {kind}" for kind in KINDS) for row in rows]
        if waited is not None:
            lines.append(f"the oldest that may run has waited {waited:,.0f} s")
        return {"totals": totals, "hooks": rows, "oldest_due_seconds": waited}, "\n".join(lines)

    def _retry(self, options: dict[str, Any]) -> tuple[Any, str]:
        who, reason = person(), options["reason"]
        for event_id in options["id"]:
            ledger.retry(who, event_id, reason)
        retried = len(options["id"])
        if not retried:
            chosen = ledger.Chosen(options["state"], options["company"], options["document"], options["hook"])
            while moved := ledger.retry_chosen(who, chosen, reason):
                retried += moved
        return {"retried": retried}, f"retried: {retried}"

    def _contradictions(self, options: dict[str, Any]) -> tuple[Any, str]:
        found = {key: contradictions.find(key, 20) for key in KINDS_OF_CONTRADICTIONS}
        lines = [f"{key}: {total:,}. {KINDS_OF_CONTRADICTIONS[key].what}" for key, (_, total) in found.items() if total]
        data = {key: {"count": total, "sample": rows} for key, (rows, total) in found.items()}
        return data, "\n".join(lines) or "events and jobs agree"

    def _repair(self, options: dict[str, Any]) -> tuple[Any, str]:
        if not options["yes"]:
            rows, total = ledger_repair.plan(options["kind"])
            steps = Counter(row["step"] for row in rows)
            words = [f"would be done: {ledger_repair.STEPS[step]}: {n:,}" for step, n in steps.items()]
            return {"found": total, "steps": dict(steps)}, "\n".join([*words, "nothing was done; --yes does it"])
        repaired = Repaired()
        while True:
            one = ledger_repair.repair(person(), options["kind"], options["reason"])
            repaired.done.update(one.done)
            repaired.left |= one.left
            if not (one.more and one.done):
                break
        words = [f"{ledger_repair.STEPS[step]}: {n:,}" for step, n in repaired.done.items()]
        words += [f"left: {event}: {why}" for event, why in repaired.left.items()]
        return repaired.as_json(), "\n".join(words) or "nothing was left to repair"

    def _drain(self, options: dict[str, Any]) -> tuple[Any, str]:
        hooks.load([*BUILT_IN_HOOKS, *conf().ledger_handler_modules])
        with closing(Drainer()) as drainer:
            reclaimed = drainer.reclaim()
            done = drainer.drain_for(options["seconds"], options["document"])
        found = {"reclaimed": reclaimed} | vars(done)
        return found, ", ".join(f"{name} {value}" for name, value in found.items())
