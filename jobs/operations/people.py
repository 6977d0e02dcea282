"""What admins do to the people of the console: accounts, roles, the tenants they may see. All of it is audited.

A changed user's sessions end at once. The last active admin stays one.
"""

import json
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from django.contrib.auth.models import Group, User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from jobs.domain.errors import InvalidInput, JobsError
from jobs.domain.roles import LIMITABLE, Role
from jobs.models import TenantLimit
from jobs.operations.actions import Person, audited, required

LONGEST_NAME = 150
LONGEST_TENANT = 300
MOST_TENANTS = 200


class PersonNotFound(JobsError):
    """There is no such user."""

    def __init__(self, username: str) -> None:
        super().__init__(f"there is no user {username[:LONGEST_NAME]}")


class LastAdmin(JobsError):
    """Without this one nobody could manage people any more."""

    def __init__(self) -> None:
        super().__init__("this is the last active admin; make somebody else an admin first; nothing was changed")


class PersonChanged(JobsError):
    """Somebody else changed this user since the form was opened; nothing was changed."""

    def __init__(self, username: str) -> None:
        super().__init__(
            f"{username[:LONGEST_NAME]} was changed since you opened this; look again; nothing was changed"
        )


def create(person: Person, *, username: str, role: str, tenants: Iterable[str] = (), reason: str) -> User:
    """A new user without a password: it is set with a one-time link. Raises `InvalidInput` that names the field."""
    required(reason)
    name = _username(username)
    chosen, limits = _role(role), _limits(role, tenants)
    with transaction.atomic():
        _admins()
        if User.objects.filter(username__iexact=name).exists():
            raise InvalidInput("username", "somebody has this name already")
        user = User(username=name)
        user.set_unusable_password()
        user.save()
        _give(user, chosen, limits)
        audited(person, "create_person", f"user {name}", reason, after=said(user))
    return user


def change(
    person: Person,
    username: str,
    *,
    role: str,
    tenants: Iterable[str],
    active: bool,
    reason: str,
    seen: str | None = None,
) -> None:
    """Gives a user a role, the tenants it may see (none: all), and switches it on or off. Ends its sessions.

    `seen`: the `stamp` of what the person saw. Raises `InvalidInput` that names the field, `PersonNotFound`, `LastAdmin`,
    `PersonChanged`.
    """
    required(reason)
    chosen, limits = _role(role), _limits(role, tenants)
    with transaction.atomic():
        admins = _admins()
        user = _locked(username)
        if admins == {user.pk} and not (active and chosen is Role.ADMIN):
            raise LastAdmin
        before = said(user)
        if seen is not None and seen != stamp_of(user):
            raise PersonChanged(user.username)
        user.is_active = active
        user.is_superuser = user.is_superuser and chosen is Role.ADMIN
        user.save(update_fields=["is_active", "is_superuser"])
        _give(user, chosen, limits)
        ended = end_sessions_of(user)
        audited(
            person, "change_person", f"user {user.username}", reason, before=before, after=said(user),
            numbers={"sessions_ended": ended},
        )  # fmt: skip


def reset(person: Person, username: str, *, factors: bool = False, reason: str) -> User:
    """Takes the password away, so that only a new one-time link leads in; `factors`: the second factors too."""
    required(reason)
    with transaction.atomic():
        user = _locked(username)
        user.set_unusable_password()
        user.save(update_fields=["password"])
        removed = _remove_factors(user) if factors else 0
        numbers = {"sessions_ended": end_sessions_of(user), "factors_removed": removed}
        audited(person, "link_person", f"user {user.username}", reason, numbers=numbers)
    return user


def end_sessions(person: Person, username: str, *, reason: str) -> int:
    """Signs a user out everywhere. Returns how many sessions ended."""
    required(reason)
    with transaction.atomic():
        user = _locked(username)
        ended = end_sessions_of(user)
        audited(person, "end_sessions", f"user {user.username}", reason, numbers={"sessions_ended": ended})
    return ended


def said(user: User) -> dict[str, Any]:
    """What the audit trail keeps of a user."""
    return {
        "role": role_of(user),
        "active": user.is_active,
        "tenants": list(TenantLimit.objects.filter(user=user).values_list("tenant_id", flat=True)) or "all",
    }


def stamp(role: str, active: bool, tenants: Iterable[str]) -> str:
    """Of a user's rights: another one once they are others."""
    return sha256(json.dumps([role, active, sorted(tenants)]).encode()).hexdigest()[:16]


def stamp_of(user: User) -> str:
    """The stamp of what a user may now."""
    tenants = TenantLimit.objects.filter(user=user).values_list("tenant_id", flat=True)
    return stamp(role_of(user), user.is_active, tenants)


def role_of(user: User) -> str:
    """The highest role in a word; empty for none."""
    names = set(user.groups.values_list("name", flat=True)) | ({Role.ADMIN} if user.is_superuser else set())
    return next((str(role) for role in reversed(Role) if role in names), "")


def end_sessions_of(user: User) -> int:
    """Deletes a user's sessions, wherever they were begun. People are few, so each is looked into."""
    ended = 0
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        if session.get_decoded().get("_auth_user_id") == str(user.pk):
            session.delete()
            ended += 1
    return ended


def _admins() -> set[int]:
    """The active admins. Whoever changes people waits here for the others who do."""
    Group.objects.get_or_create(name=Role.ADMIN)
    list(Group.objects.select_for_update().filter(name=Role.ADMIN))
    active = User.objects.filter(is_active=True)
    return set(active.filter(groups__name=Role.ADMIN).values_list("pk", flat=True)) | set(
        active.filter(is_superuser=True).values_list("pk", flat=True)
    )


def _locked(username: str) -> User:
    user = User.objects.select_for_update().filter(username=username).first()
    if user is None:
        raise PersonNotFound(username)
    return user


def _give(user: User, role: Role, tenants: list[str]) -> None:
    """One role; a user's other groups are not the console's and stay."""
    user.groups.remove(*Group.objects.filter(name__in=list(Role)).exclude(name=role))
    user.groups.add(Group.objects.get_or_create(name=role)[0])
    TenantLimit.objects.filter(user=user).exclude(tenant_id__in=tenants).delete()
    TenantLimit.objects.bulk_create([TenantLimit(user=user, tenant_id=one) for one in tenants], ignore_conflicts=True)


def _remove_factors(user: User) -> int:
    from allauth.mfa.models import Authenticator

    return int(Authenticator.objects.filter(user=user).delete()[0])


def _username(text: str) -> str:
    name = text.strip()
    if not name or len(name) > LONGEST_NAME:
        raise InvalidInput("username", "it is empty" if not name else f"it is longer than {LONGEST_NAME} characters")
    try:
        UnicodeUsernameValidator()(name)
    except ValidationError:
        raise InvalidInput("username", "only letters, digits and @ . + - _ may stand in it") from None
    return name


def _role(text: str) -> Role:
    if text not in set(Role):
        raise InvalidInput("role", f"it must be one of {', '.join(Role)}")
    return Role(text)


def _limits(role: str, tenants: Iterable[str]) -> list[str]:
    found = list(dict.fromkeys(tenants))
    if found and role not in LIMITABLE:
        names = " and ".join(role for role in Role if role in LIMITABLE)
        raise InvalidInput("tenants", f"only {names} can be limited to some tenants; the others act on the whole queue")
    if len(found) > MOST_TENANTS:
        raise InvalidInput("tenants", f"there are more than {MOST_TENANTS}")
    if any(not name or len(name) > LONGEST_TENANT or "\0" in name for name in found):
        raise InvalidInput("tenants", f"one is longer than {LONGEST_TENANT} characters or cannot be stored")
    return found
