"""Sends one message by one channel. Each sender raises `NotSent`, whose text holds no secret and may be shown."""

import hashlib
import hmac
import json
import signal
import smtplib
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec

import httpx2
from django.core.mail import EmailMessage

from jobs.conf import conf
from jobs.domain.alerts import Message, one_line
from jobs.domain.errors import JobsError
from jobs.handlers.web.errors import AddressNotAllowed
from jobs.handlers.web.transport import guarded_client
from jobs.handlers.web.webhooks import WebhookGuard
from jobs.notifications.channels import NO_APPRISE, addresses
from jobs.workers import apprise_child

USER_AGENT = "Detiq-Admin-Alerts/1"
# No delivery takes longer than its channel's time, all of which are well below the lease of a message: while one worker
# is at it, no other takes it. Mail's is its backend's (`jobs.workers.mail`).
WEBHOOK_SECONDS, APPRISE_SECONDS = 8.0, 15.0
# What the receiver says that makes no further try worth it; 408, 425 and 429 mean: later.
_LATER = frozenset({408, 425, 429})


class NotSent(JobsError):
    """The message did not arrive. `hopeless`: another try of the same changes nothing."""

    def __init__(self, why: str, *, hopeless: bool = False) -> None:
        super().__init__(why)
        self.hopeless = hopeless


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """HMAC-SHA256 over `timestamp.body`, as `v1=<hex>`."""
    return "v1=" + hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def webhook(message: Message, target: str, secret: str) -> None:
    """Posts JSON. The receiver checks the signature, the age of the timestamp, and that it has not seen the id."""
    body = json.dumps(message.body, ensure_ascii=False, separators=(",", ":")).encode()
    stamp = str(message.taken_at)
    headers = {
        "Content-Type": "application/json",
        "X-Detiq-Id": message.id,
        "X-Detiq-Event": message.event,
        "X-Detiq-Timestamp": stamp,
        "X-Detiq-Signature": signature(secret, stamp, body),
    }
    try:
        with (
            guarded_client(WebhookGuard(), user_agent=USER_AGENT, total_seconds=WEBHOOK_SECONDS) as client,
            client.stream("POST", target, content=body, headers=headers) as response,
        ):
            status = response.status_code
    except AddressNotAllowed as error:
        # Named hosts may be added while the message waits, so it is not hopeless; the page says what to do.
        raise NotSent(f"the host {error.host} is not allowed: {error.why}; WEBHOOK_ALLOWED_HOSTS may name it") from None
    except httpx2.InvalidURL:
        raise NotSent("the address cannot be read; write it anew", hopeless=True) from None
    except httpx2.TransportError as error:
        raise NotSent(f"no answer: {_without(str(error), target, secret)}") from None
    if not 200 <= status < 300:
        raise NotSent(f"it answered HTTP {status}", hopeless=400 <= status < 500 and status not in _LATER)


def email(message: Message, target: str, secret: str) -> None:
    """One mail to all addresses, with an id that mail programs know again."""
    if not conf().email_url:
        raise NotSent("no mail server is set: EMAIL_URL", hopeless=True)
    domain = conf().email_from.rpartition("@")[2].strip("> ") or "localhost"
    mail = EmailMessage(
        one_line(message.title),
        message.text,
        conf().email_from,
        addresses(target),
        headers={"Message-ID": f"<{message.id}@{domain}>", "Auto-Submitted": "auto-generated"},
    )
    try:
        mail.send(using="default")
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        raise NotSent(
            f"every recipient was refused ({codes[0]})", hopeless=all(code >= 500 for code in codes)
        ) from None
    except smtplib.SMTPAuthenticationError as error:
        raise NotSent(f"the mail server does not take the login ({error.smtp_code})") from None
    except smtplib.SMTPResponseException as error:
        raise NotSent(f"the mail server answered {error.smtp_code}") from None
    except (OSError, smtplib.SMTPException) as error:
        raise NotSent(f"the mail server: {_without(str(error), conf().email_url.password)}") from None


def apprise(message: Message, target: str, secret: str) -> None:
    """By the library of that name, if it is installed. The scheme is asked again: the setting may have changed."""
    scheme = target.partition("://")[0].lower()
    if scheme not in conf().apprise_schemes:
        raise NotSent(f"{scheme}:// is not among the schemes of APPRISE_SCHEMES", hopeless=True)
    if find_spec("apprise") is None:
        raise NotSent(NO_APPRISE, hopeless=True)
    said = {
        "target": target,
        "title": _plain(one_line(message.title)),
        "text": _plain(f"{message.text}\n\n{message.id}"),
    }
    child = subprocess.run(  # noqa: S603
        [sys.executable, "-P", apprise_child.__file__],  # wherever this process was started; it imports nothing of ours
        input=json.dumps(said | {"seconds": APPRISE_SECONDS}).encode(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    if child.returncode == apprise_child.NOT_UNDERSTOOD:
        raise NotSent(f"apprise does not understand the address after {scheme}://", hopeless=True)
    if child.returncode == -signal.SIGALRM:
        raise NotSent(f"{scheme} did not take it within {APPRISE_SECONDS:g} s")
    if child.returncode != apprise_child.TAKEN:
        raise NotSent(f"{scheme} did not take it")


SENDERS: dict[str, Callable[[Message, str, str], None]] = {"webhook": webhook, "email": email, "apprise": apprise}


def _plain(text: str) -> str:
    """Text that calls nobody and is no markup in any of these services: names of types and tenants may hold anything."""
    return text.translate(str.maketrans("<>@", "‹›＠"))  # noqa: RUF001 - they look alike, which is the point


def _without(text: str, *hidden: str) -> str:
    """The text of an error without what must not be read in it."""
    for one in filter(None, hidden):
        text = text.replace(one, "••••••")
    return one_line(text, 300)
