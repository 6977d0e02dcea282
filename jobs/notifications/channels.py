"""Channels: what an address may be, how it is kept, and what of it may be read. Nothing is sent from here."""

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import time
from importlib.util import find_spec
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from jobs.conf import conf
from jobs.domain.errors import InvalidInput, JobsError
from jobs.models import AlertChannel
from jobs.vault import CHANNELS

NO_APPRISE = "apprise is not installed: uv sync --inexact --group apprise"
KINDS = {"email": "E-mail", "webhook": "Signed webhook", "apprise": "Slack and the like (apprise)"}
LONGEST_NAME, LONGEST_TARGET, LEAST_SECRET = 100, 2_000, 16
MOST_ADDRESSES = 20
HIDDEN = "••••••"
_SCHEME = re.compile(r"[a-z][a-z0-9]*")

type CheckUrl = Callable[[str], object]


class ChannelNotFound(JobsError):
    """There is no such channel."""

    def __init__(self, channel_id: object) -> None:
        super().__init__(f"there is no channel {str(channel_id)[:40]}")


class ChannelChanged(JobsError):
    """Somebody else changed this channel since it was read; nothing was changed."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the channel {name[:80]} was changed by somebody since you opened it; nothing changed")


@dataclass(frozen=True)
class Wanted:
    """A channel as it shall be. `target` or `secret` None: as they are."""

    name: str
    kind: str
    target: str | None = None
    secret: str | None = None
    enabled: bool = True
    only_critical: bool = False
    quiet_from: time | None = None
    quiet_to: time | None = None
    zone: str = "UTC"


def checked(wanted: Wanted, check_url: CheckUrl) -> dict[str, object]:
    """What is stored of it. `check_url` raises ValueError for addresses that no webhook may have.

    Raises `InvalidInput` that names the field.
    """
    name = wanted.name.strip()
    if not name or len(name) > LONGEST_NAME:
        raise InvalidInput("name", f"it must have 1 to {LONGEST_NAME} characters")
    if wanted.kind not in KINDS:
        raise InvalidInput("kind", f"it must be one of {', '.join(KINDS)}")
    if (wanted.quiet_from is None) != (wanted.quiet_to is None):
        raise InvalidInput("quiet_to", "quiet hours need a beginning and an end, or neither")
    fields: dict[str, object] = {
        "name": name, "kind": wanted.kind, "enabled": wanted.enabled, "only_critical": wanted.only_critical,
        "quiet_from": wanted.quiet_from, "quiet_to": wanted.quiet_to, "zone": _zone(wanted.zone),
    }  # fmt: skip
    if wanted.target is not None:
        target = wanted.target.strip()
        if len(target) > LONGEST_TARGET:
            raise InvalidInput("target", f"it is longer than {LONGEST_TARGET:,} characters")
        fields |= {"target": CHANNELS.seal(target), "shown": _SHOWN[wanted.kind](target, check_url)}
    if wanted.secret is not None and wanted.kind == "webhook":
        if len(wanted.secret) < LEAST_SECRET:
            raise InvalidInput("secret", f"it must have at least {LEAST_SECRET} characters")
        fields["secret"] = CHANNELS.seal(wanted.secret)
    return fields


def new_secret() -> str:
    """A key for signing that nobody guesses."""
    return secrets.token_urlsafe(32)


def addresses(target: str) -> list[str]:
    """The mail addresses in a target, separated by commas, semicolons or lines."""
    return [one for part in re.split(r"[,;\s]+", target) if (one := part.strip())]


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise InvalidInput("zone", f"{name[:60]!r} is no time zone such as Europe/Berlin") from None
    return name


def _email(target: str, check_url: CheckUrl) -> str:
    found = addresses(target)
    if not 1 <= len(found) <= MOST_ADDRESSES:
        raise InvalidInput("target", f"write 1 to {MOST_ADDRESSES} mail addresses")
    for one in found:
        try:
            validate_email(one)
        except ValidationError:
            raise InvalidInput("target", f"{one[:100]!r} is no mail address") from None
    if not conf().email_url:
        raise InvalidInput("target", "no mail server is set: EMAIL_URL")
    return ", ".join(found)


def _webhook(target: str, check_url: CheckUrl) -> str:
    if not target.isascii() or not target.isprintable() or " " in target:
        raise InvalidInput("target", "an address has plain characters alone, and no space")
    try:
        check_url(target)
    except ValueError as error:
        raise InvalidInput("target", str(error).removeprefix("invalid input: ")) from None
    parts = urlsplit(target)
    if parts.fragment:
        raise InvalidInput("target", "an address with a fragment (#…) reaches nobody")
    # Paths and queries of webhooks often hold a token.
    hidden = parts.path not in ("", "/") or parts.query
    return f"{parts.scheme}://{parts.netloc}/{HIDDEN if hidden else ''}"


def _apprise(target: str, check_url: CheckUrl) -> str:
    scheme = target.partition("://")[0].lower()
    if "://" not in target or not _SCHEME.fullmatch(scheme):
        raise InvalidInput("target", "it must begin with a scheme such as slack://")
    if any(char.isspace() for char in target):
        raise InvalidInput("target", "it holds a space; write one address")
    if scheme not in conf().apprise_schemes:
        allowed = ", ".join(conf().apprise_schemes) or "none"
        raise InvalidInput("target", f"{scheme}:// is not among the schemes of APPRISE_SCHEMES: {allowed}")
    if find_spec("apprise") is None:
        raise InvalidInput("target", NO_APPRISE)
    return f"{scheme}://{HIDDEN}"


_SHOWN: dict[str, Callable[[str, CheckUrl], str]] = {"email": _email, "webhook": _webhook, "apprise": _apprise}


def find(channel_id: int) -> AlertChannel:
    """The channel, locked for the caller's transaction. Raises `ChannelNotFound`."""
    found = AlertChannel.objects.select_for_update().filter(pk=channel_id).first()
    if found is None:
        raise ChannelNotFound(channel_id)
    return found


def says(channel: AlertChannel) -> dict[str, object]:
    """What may be read of a channel, on pages and in the audit trail."""
    quiet = (
        f"{channel.quiet_from:%H:%M}-{channel.quiet_to:%H:%M} {channel.zone}"
        if channel.quiet_from and channel.quiet_to
        else ""
    )
    return {
        "name": channel.name, "kind": channel.kind, "target": channel.shown, "enabled": channel.enabled,
        "only_critical": channel.only_critical, "quiet": quiet,
    }  # fmt: skip
