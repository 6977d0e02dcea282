"""`manage.py rules list|test|add|change|remove`: the rules that failures are judged by."""

import json
from typing import Any

from django.core.management.base import CommandParser

from jobs.domain.classification import by_sureness
from jobs.domain.rules import BUILT_IN, Rule
from jobs.domain.rules.written import KINDS, written_rule
from jobs.management.shell import person, refusals
from jobs.management.terminal import ShellCommand
from jobs.operations import rules as operations
from jobs.operations.rules import MOST_TRIED, TRIAL_DAYS, Trial
from jobs.queue import rules
from jobs.queue.rules import StoredRule


class Command(ShellCommand):
    help = "Shows, tries out and changes the rules that failures are judged by."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="list|test|add|change|remove")
        shown = verbs.add_parser("list", help="The rules that admins added, in the order in which they are asked.")
        shown.add_argument("--built-in", action="store_true", help="All rules instead, in that order.")
        test = verbs.add_parser("test", help="What would this rule have changed? Changes nothing.")
        test.add_argument("--days", type=float, default=TRIAL_DAYS, help=f"how far to look back ({TRIAL_DAYS:g})")
        test.add_argument("--limit", type=int, default=MOST_TRIED, help=f"failures to look at ({MOST_TRIED})")
        add = verbs.add_parser("add", help="A new rule.")
        for verb in (test, add):
            _rule_arguments(verb, required=True)
        change = verbs.add_parser("change", help="Changes what is given of one rule.")
        _rule_arguments(change, required=False)
        onoff = change.add_mutually_exclusive_group()
        onoff.add_argument("--enable", dest="enabled", action="store_const", const=True, help="Ask it again.")
        onoff.add_argument("--disable", dest="enabled", action="store_const", const=False, help="Do not ask it.")
        remove = verbs.add_parser("remove", help="Takes a rule away; what it decided stays decided.")
        for verb in (change, remove):
            verb.add_argument("id", type=int, help="The rule's number, as in `rules list`.")
        for verb in (add, change):
            verb.add_argument("--position", type=int, help="Lower is asked first (0).")
        for verb in (add, change, remove):
            verb.add_argument("--reason", required=True, help="Why; it is kept in the audit trail.")
        for verb in (shown, test, add, change, remove):
            verb.add_argument("--json", action="store_true", help="For scripts.")

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        with refusals():
            getattr(self, f"_{verb}")(options)

    def _list(self, options: dict[str, Any]) -> None:
        stored = rules.all_rules()
        if options["built_in"]:
            asked = by_sureness((*rules.in_force(), *BUILT_IN))
            self._say(options, [_as_json(one) for one in asked], [_words(one) for one in asked])
        else:
            lines = [_stored_words(one) for one in stored] or ["no rules but the built-in ones"]
            self._say(options, [vars(one) for one in stored], lines)

    def _test(self, options: dict[str, Any]) -> None:
        rule = written_rule("tried", **_words_of(options))
        trial = operations.what_would_change(rule, days=options["days"], limit=options["limit"])
        self._say(options, trial.as_json(), list(_trial_lines(trial)))

    def _add(self, options: dict[str, Any]) -> None:
        rule_id = operations.add(
            person(), position=options["position"] or 0, reason=options["reason"], **_words_of(options)
        )
        self._say(options, {"id": rule_id}, [f"added: {rule_id}"])

    def _change(self, options: dict[str, Any]) -> None:
        given = _words_of(options) | {"position": options["position"], "enabled": options["enabled"]}
        fields = {name: value for name, value in given.items() if value is not None}
        operations.change(person(), options["id"], reason=options["reason"], **fields)
        self._say(options, {"id": options["id"]}, [f"changed: {options['id']}"])

    def _remove(self, options: dict[str, Any]) -> None:
        operations.remove(person(), options["id"], reason=options["reason"])
        self._say(options, {"id": options["id"]}, [f"removed: {options['id']}"])

    def _say(self, options: dict[str, Any], data: Any, lines: list[str]) -> None:
        self.stdout.write(json.dumps(data, indent=2, default=str) if options["json"] else "\n".join(lines))


def _rule_arguments(verb: CommandParser, required: bool) -> None:
    verb.add_argument("--kind", required=required, help=f"What it looks at: {', '.join(KINDS)}.")
    verb.add_argument("--pattern", required=required, help="What it looks for; several separated by ` | `.")
    verb.add_argument("--type", dest="failure_type", required=required, help="The failure type that it gives.")
    verb.add_argument("--why", required=required, help="What people read as the reason.")


def _words_of(options: dict[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in ("kind", "pattern", "failure_type", "why")}


def _words(rule: Rule) -> str:
    return f"{rule.id}: {rule.sign} {rule.pattern[:100]!r} is {rule.failure_type}: {rule.why}"


def _as_json(rule: Rule) -> dict[str, str]:
    return {
        "id": rule.id,
        "kind": rule.sign.value,
        "pattern": rule.pattern,
        "failure_type": rule.failure_type.value,
        "why": rule.why,
    }


def _stored_words(one: StoredRule) -> str:
    off = "" if one.enabled else " (disabled)"
    return f"{one.id}{off}: {one.kind} {one.pattern!r} is {one.failure_type}: {one.why} ({one.created_by})"


def _trial_lines(trial: Trial) -> list[str]:
    lines = [
        f"{trial.looked_at:,} failures of {trial.days:g} days: the rule applies to {trial.matched:,}, "
        f"decides {trial.decided:,}, changes {trial.changed.total():,}"
    ]
    if trial.foreign:
        lines.append(f"{trial.foreign:,} were not judged by rules")
    lines += [f"  {was} → {new}: {n:,}" for (was, new), n in trial.changed.most_common()]
    lines += [
        f"  {one.job_id} ({one.type}, {one.was} by {one.decided_by or 'no rule'}): {one.message}"
        for one in trial.examples
    ]
    return lines + ([f"not all were looked at: {trial.cut}"] if trial.cut else [])
