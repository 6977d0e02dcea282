"""`manage.py alerts`: the same doors for a shell."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from jobs.models import Alert, AlertDelivery, AuditEntry, Membership
from tests.factories import AlertFactory, ChannelFactory

pytestmark = pytest.mark.django_db


def alerts(*words: str) -> Any:
    out = StringIO()
    call_command("alerts", *words, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_open_ones_are_listed_and_acknowledged() -> None:
    one = AlertFactory(title="24 dead letters")
    assert [row["title"] for row in alerts("list")] == ["24 dead letters"] and alerts("list", "--over") == []
    alerts("acknowledge", str(one.pk), "--reason", "on it")
    assert Alert.objects.get().acked_by.startswith("command:")
    assert AuditEntry.objects.get().action == "acknowledge"
    with pytest.raises(CommandError, match="acknowledged by") as refused:
        alerts("acknowledge", str(one.pk), "--reason", "again")
    assert refused.value.returncode == 1


def test_a_channel_is_tested_by_its_name() -> None:
    ChannelFactory(name="ops")
    assert alerts("test", "ops", "--reason", "new")["message"] == AlertDelivery.objects.get().pk
    with pytest.raises(CommandError, match="no channel"):
        alerts("test", "nobody", "--reason", "new")


def test_members_come_and_go() -> None:
    words = ["member", "--tenant", "acme", "--user", "olga", "--reason", "asked"]
    alerts(*words, "--role", "OWNER")
    assert Membership.objects.get().role == "OWNER"
    alerts(*words, "--role", "NONE")
    assert not Membership.objects.exists()
    with pytest.raises(CommandError, match="no such membership"):
        alerts(*words, "--role", "NONE")


@pytest.mark.parametrize(
    "words", [("test", "a\udcff"), ("member", "--tenant", "a\udcff", "--user", "u", "--role", "OWNER")]
)
def test_bytes_that_are_no_text_are_said_in_one_line(words: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match="no UTF-8") as refused:
        alerts(*words, "--reason", "why")
    assert refused.value.returncode == 2
