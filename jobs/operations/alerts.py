"""What people do to alerts: acknowledge them, change the rules, the channels, and who is told. All of it audited.

A channel's address and secret are in no audit entry, no message and no answer: what may be read of them is `shown`.
"""

from collections.abc import Callable
from typing import Any

from django.db import IntegrityError, transaction

from jobs.domain.errors import InvalidInput, JobsError
from jobs.models import Alert, AlertChannel, Membership
from jobs.notifications import channels, deliveries, rules
from jobs.notifications.channels import ChannelChanged, CheckUrl, Wanted
from jobs.notifications.statements import run
from jobs.operations.actions import Person, audited, required

LONGEST_NOTE = 1_000
LONGEST_ID = 300
MOST_CHANNELS = 50
# Of the source: the first two are told.
ROLES = ("OWNER", "ADMIN", "MEMBER")


class AlertNotFound(JobsError):
    """There is no such alert."""

    def __init__(self, alert_id: object) -> None:
        super().__init__(f"there is no alert {str(alert_id)[:40]}")


class AlertRefused(JobsError):
    """The alert is over, or somebody has acknowledged it; nothing was changed."""

    def __init__(self, alert: Alert) -> None:
        found = "over" if alert.closed_at else f"acknowledged by {alert.acked_by}"
        super().__init__(f"the alert is {found} already; nothing was changed")


class DeliveryRefused(JobsError):
    """Only a message that was given up can be sent again."""

    def __init__(self) -> None:
        super().__init__("this message was not given up; nothing was changed")


def acknowledge(person: Person, alert_id: int, note: str) -> None:
    """Says that somebody is at it. Raises `AlertNotFound`, `AlertRefused`, `InvalidInput`."""
    required(note)
    with transaction.atomic():
        done = run("acknowledge", {"id": alert_id, "by": person.actor, "note": note.strip()[:LONGEST_NOTE]})
        if not done:
            found = Alert.objects.filter(pk=alert_id).first()
            raise AlertRefused(found) if found else AlertNotFound(alert_id)
        run("say_changed", {})
        audited(person, "acknowledge", f"alert {alert_id}", note, tenant_id=done[0]["tenant_id"],
                after={"rule": done[0]["rule"], "title": done[0]["title"]})  # fmt: skip


def change_rule(person: Person, name: str, *, seen: int, reason: str, **values: Any) -> None:
    """Changes a rule's numbers, its weight, and whether it is on. Raises `InvalidInput`, `RuleChanged`."""
    required(reason)
    with transaction.atomic():
        before = rules.in_force().get(name)
        after = rules.change(name, seen=seen, by=person.actor, **values)
        said = [{key: getattr(rule, key) for key in values} if rule else None for rule in (before, after)]
        audited(person, "alert_rule", f"alert rule {name}", reason, before=said[0], after=said[1])


def save_channel(
    person: Person, channel_id: int | None, wanted: Wanted, check_url: CheckUrl, *, reason: str, seen: int = 0
) -> int:
    """A new channel, or another shape of one. Returns its id. Raises `InvalidInput` that names the field."""
    required(reason)
    fields = channels.checked(wanted, check_url)
    with transaction.atomic():
        channel = channels.find(channel_id) if channel_id is not None else _new(wanted, fields)
        before = channels.says(channel) if channel_id is not None else None
        if channel_id is not None:
            _check(channel, wanted, seen)
        _store(channel, fields, person)
        after = channels.says(channel) | {"secret": "new" if wanted.secret else "as it was"}
        audited(person, "alert_channel", f"channel {channel.name}", reason, before=before, after=after)
    return channel.pk


def _new(wanted: Wanted, fields: dict[str, object]) -> AlertChannel:
    if "target" not in fields:
        raise InvalidInput("target", "it is empty")
    if wanted.kind == "webhook" and not wanted.secret:
        raise InvalidInput("secret", "a webhook needs one: its receiver checks the signature with it")
    if AlertChannel.objects.count() >= MOST_CHANNELS:
        raise InvalidInput("name", f"there are {MOST_CHANNELS} channels already; remove one first")
    return AlertChannel()


def _check(channel: AlertChannel, wanted: Wanted, seen: int) -> None:
    if channel.version != seen:
        raise ChannelChanged(channel.name)
    if channel.kind != wanted.kind:
        raise InvalidInput("kind", "it stays what it is; make another channel")


def _store(channel: AlertChannel, fields: dict[str, object], person: Person) -> None:
    for name, value in fields.items():
        setattr(channel, name, value)
    channel.updated_by = person.actor
    channel.version = channel.version + 1 if channel.pk else 1
    try:
        with transaction.atomic():
            channel.save()
    except IntegrityError:
        raise InvalidInput("name", "another channel has this name") from None


def remove_channel(person: Person, channel_id: int, reason: str) -> None:
    """Takes a channel away, with its messages. Raises `ChannelNotFound`."""
    required(reason)
    with transaction.atomic():
        channel = channels.find(channel_id)
        before = channels.says(channel)
        channel.delete()
        audited(person, "remove_channel", f"channel {before['name']}", reason, before=before)


def test_channel(person: Person, channel_id: int, reason: str) -> str:
    """Writes a test message; a worker sends it. Returns its id."""
    return _sent(person, "test_channel", channel_id, reason, lambda: deliveries.test(channel_id))


def _sent(person: Person, action: str, channel_id: int, reason: str, write: Callable[[], str]) -> str:
    required(reason)
    with transaction.atomic():
        channel = channels.find(channel_id)
        message = write()
        audited(person, action, f"channel {channel.name}", reason, after={"message": message})
        transaction.on_commit(deliveries.wake)
    return message


def send_again(person: Person, delivery_id: str, reason: str) -> None:
    """A message that was given up is due again. Raises `DeliveryRefused`."""
    required(reason)
    with transaction.atomic():
        row = deliveries.again(delivery_id)
        if row is None:
            raise DeliveryRefused
        audited(person, "resend_delivery", f"message {delivery_id}", reason, after={"event": row["event"]})
        transaction.on_commit(deliveries.wake)


# --- Who is told of a tenant ------------------------------------------------------------------------------------------
def add_membership(person: Person, tenant_id: str, user_id: str, role: str, reason: str) -> None:
    """Gives somebody a role in a tenant; owners and admins get its notifications. Raises `InvalidInput`."""
    required(reason)
    tenant, user = _id("tenant", tenant_id), _id("user", user_id)
    if role.upper() not in ROLES:
        raise InvalidInput("role", f"it must be one of {', '.join(ROLES)}")
    with transaction.atomic():
        run("for_tenant", {"tenant": tenant})
        run("lock_memberships", {})
        found = Membership.objects.filter(tenant_id=tenant, user_id=user)
        before = [one.role for one in found]
        if before == [role.upper()]:
            return
        if before:
            found.update(role=role.upper())
        else:
            run("add_membership", {"tenant": tenant, "user": user, "role": role.upper()})
        audited(person, "add_membership", f"member {user}", reason, tenant_id=tenant,
                before=before or None, after={"role": role.upper()})  # fmt: skip


def remove_membership(person: Person, tenant_id: str, user_id: str, reason: str) -> None:
    """Takes somebody's role in a tenant away. Raises `InvalidInput` when there is none."""
    required(reason)
    with transaction.atomic():
        run("for_tenant", {"tenant": tenant_id})
        found = Membership.objects.filter(tenant_id=tenant_id, user_id=user_id)
        before = [one.role for one in found]
        if not before:
            raise InvalidInput("user", "there is no such membership")
        found.delete()
        audited(person, "remove_membership", f"member {user_id}", reason, tenant_id=tenant_id, before=before)


def _id(field: str, text: str) -> str:
    clean = text.strip()
    if not clean or len(clean) > LONGEST_ID or "\0" in clean:
        raise InvalidInput(field, f"it must have 1 to {LONGEST_ID} characters")
    return clean


def mark_read(user_id: str, notification_ids: list[str] | None) -> int:
    """Somebody has read their own notifications: these, or all (None). Returns how many. Not audited."""
    return len(run("mark_read", {"user": user_id, "ids": notification_ids}))
