"""What admins do to the types that other services run: map, change, rotate the secret, remove. All of it is audited.

A secret is returned to whoever made it, once; neither the audit trail nor a log ever holds it.
"""

import secrets
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from jobs.domain.errors import InvalidInput, JobsError
from jobs.domain.text import NUL_OR_SURROGATE
from jobs.models import RemoteType
from jobs.operations.actions import Person, audited, required
from jobs.queue import remote
from jobs.vault import REMOTE_TYPES

LONGEST_TYPE = 100
LONGEST_URL = 2_000
FIRST_ANSWER_SECONDS, SILENCE_SECONDS, LONGEST_RUN_SECONDS = 30, 300, 3_600
BOUNDS = {
    "first_answer_seconds": (1, 300),
    "silence_seconds": (1, 86_400),
    "longest_run_seconds": (1, 7 * 86_400),
}
OVERLAP_HOURS = 24.0
LONGEST_OVERLAP_HOURS = 30 * 24.0

type UrlCheck = Callable[[str], object]


class RemoteTypeNotFound(JobsError):
    """No service is mapped to this type."""

    def __init__(self, job_type: str) -> None:
        super().__init__(f"no service is mapped to type {job_type[:LONGEST_TYPE]}")


@sensitive_variables("secret")
def put(
    person: Person,
    job_type: str,
    *,
    url: str,
    check_url: UrlCheck,
    reason: str,
    first_answer_seconds: int = FIRST_ANSWER_SECONDS,
    silence_seconds: int = SILENCE_SECONDS,
    longest_run_seconds: int = LONGEST_RUN_SECONDS,
) -> str | None:
    """Maps a type to a service, or changes how it is called. Returns the secret of a new mapping, None for a change.

    `check_url` raises ValueError that says why an address may not be called. Runs under way keep the address they were
    begun with. Raises `InvalidInput` that names the field.
    """
    required(reason)
    name = _type(job_type)
    values: dict[str, Any] = {"url": _url(url, check_url)}
    limits = {"first_answer_seconds": first_answer_seconds, "silence_seconds": silence_seconds,
              "longest_run_seconds": longest_run_seconds}  # fmt: skip
    values |= {field: _seconds(field, value) for field, value in limits.items()}
    with transaction.atomic():
        row = RemoteType.objects.select_for_update().filter(type=name).first()
        before = _said(row) if row else None
        secret = None
        if row is None:
            secret = _new_secret()
            row = RemoteType(type=name, secret=REMOTE_TYPES.seal(secret), created_by=person.actor)
        for field, value in values.items():
            setattr(row, field, value)
        _save(person, row)
        audited(person, "set_remote", f"type {name}", reason, before=before, after=_said(row))
    return secret


@sensitive_variables("secret")
def rotate(person: Person, job_type: str, *, overlap_hours: float = OVERLAP_HOURS, reason: str) -> str:
    """A new secret, returned. Until `overlap_hours` from now the one before counts as well, on both sides; 0 ends it at
    once. Raises `RemoteTypeNotFound`, `InvalidInput`."""
    required(reason)
    if not 0 <= overlap_hours <= LONGEST_OVERLAP_HOURS:
        raise InvalidInput("overlap_hours", f"it must lie between 0 and {LONGEST_OVERLAP_HOURS:.0f}")
    with transaction.atomic():
        row = _locked(job_type)
        secret = _new_secret()
        row.previous_secret = row.secret if overlap_hours else None
        row.previous_until = timezone.now() + timedelta(hours=overlap_hours) if overlap_hours else None
        row.secret = REMOTE_TYPES.seal(secret)
        _save(person, row)
        audited(
            person,
            "rotate_remote",
            f"type {row.type}",
            reason,
            numbers={"overlap_hours": overlap_hours},
            after=_said(row),
        )
    return secret


def remove(person: Person, job_type: str, *, reason: str) -> None:
    """Takes a mapping away: no new run goes there, and callbacks of runs under way are no longer taken."""
    required(reason)
    with transaction.atomic():
        row = _locked(job_type)
        before = _said(row)
        row.delete()
        remote.changed()
        audited(person, "remove_remote", f"type {row.type or job_type}", reason, before=before)


def _locked(job_type: str) -> RemoteType:
    row = None
    if not NUL_OR_SURROGATE.search(job_type):
        row = RemoteType.objects.select_for_update().filter(type=job_type).first()
    if row is None:
        raise RemoteTypeNotFound(job_type)
    return row


def _save(person: Person, row: RemoteType) -> None:
    row.updated_by, row.updated_at = person.actor, timezone.now()
    row.save()
    remote.changed()


def _said(row: RemoteType) -> dict[str, Any]:
    """What the audit trail keeps: everything but secrets."""
    until = row.previous_until.isoformat() if row.previous_until else None
    return {"url": row.url, **{name: getattr(row, name) for name in BOUNDS}, "previous_until": until}


def _type(text: str) -> str:
    name = text.strip()
    if not name or len(name) > LONGEST_TYPE:
        raise InvalidInput("type", "it is empty" if not name else f"it is longer than {LONGEST_TYPE} characters")
    if NUL_OR_SURROGATE.search(name):
        raise InvalidInput("type", "it holds a character that cannot be stored (NUL or half of a pair)")
    return name


def _url(text: str, check: UrlCheck) -> str:
    url = text.strip()
    if not url or len(url) > LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise InvalidInput("url", f"it must be an address of at most {LONGEST_URL} plain characters")
    try:
        check(url)
    except ValueError as error:
        raise InvalidInput("url", str(error).removeprefix("invalid input: ")) from None
    return url


def _seconds(field: str, value: Any) -> int:
    least, most = BOUNDS[field]
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InvalidInput(field, f"it must be a whole number of seconds from {least:,} to {most:,}")
    return value


def _new_secret() -> str:
    """256 random bits, as text. The text itself, in UTF-8, is the key of the signatures."""
    return "dts_" + secrets.token_urlsafe(32)
