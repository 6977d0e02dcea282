"""`manage.py alerts list|acknowledge|test|member`: alerts for a shell, and who is told of a tenant."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from jobs.management.shell import VerbCommand, person
from jobs.models import Alert, AlertChannel
from jobs.notifications.channels import ChannelNotFound
from jobs.operations import alerts

MOST = 200
NONE = "NONE"


class Command(VerbCommand):
    help = "Shows alerts; acknowledges one; tests a channel; says who is told of a tenant."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="list|acknowledge|test|member")
        listed = verbs.add_parser("list", help=f"The open ones, at most {MOST}.")
        listed.add_argument("--over", action="store_true", help="Those that are over instead.")
        acknowledge = verbs.add_parser("acknowledge", help="Somebody is at it.")
        acknowledge.add_argument("id", type=int)
        test = verbs.add_parser("test", help="A test message by one channel; a worker sends it.")
        test.add_argument("channel", help="The channel's name.")
        member = verbs.add_parser("member", help="A user's role in a tenant; owners and admins are told.")
        for name in ("tenant", "user"):
            member.add_argument(f"--{name}", required=True)
        member.add_argument("--role", required=True, choices=[*alerts.ROLES, NONE], help="NONE takes it away.")
        for verb in (acknowledge, test, member):
            verb.add_argument("--reason", required=True, help="Why; kept in the audit trail.")
        for verb in (listed, acknowledge, test, member):
            verb.add_argument("--json", action="store_true", help="For scripts.")

    def _list(self, options: dict[str, Any]) -> tuple[Any, str]:
        rows = list(Alert.objects.filter(closed_at__isnull=not options["over"]).values()[:MOST])
        lines = [_line(row) for row in rows]
        return rows, "\n".join(lines) or ("none is over" if options["over"] else "none is open")

    def _acknowledge(self, options: dict[str, Any]) -> tuple[Any, str]:
        alerts.acknowledge(person(), options["id"], options["reason"])
        return {"acknowledged": options["id"]}, f"acknowledged: {options['id']}"

    def _test(self, options: dict[str, Any]) -> tuple[Any, str]:
        channel = AlertChannel.objects.filter(name=options["channel"]).first()
        if channel is None:
            raise ChannelNotFound(options["channel"])
        message = alerts.test_channel(person(), channel.pk, options["reason"])
        return {"message": message}, f"on its way: {message}"

    def _member(self, options: dict[str, Any]) -> tuple[Any, str]:
        tenant, user, role = options["tenant"], options["user"], options["role"]
        if role == NONE:
            alerts.remove_membership(person(), tenant, user, options["reason"])
        else:
            alerts.add_membership(person(), tenant, user, role, options["reason"])
        return {"tenant": tenant, "user": user, "role": role}, f"{user} in {tenant}: {role}"


def _line(row: Mapping[str, Any]) -> str:
    urgent = "CRITICAL  " if row["critical"] else ""
    taken = f"  ({row['acked_by']}: {row['ack_note']})" if row["acked_by"] else ""
    return f"{row['id']}  {urgent}{row['title']}  since {row['opened_at']:%Y-%m-%d %H:%M} UTC{taken}"
