"""Messages go out signed, are tried again with the same id, are given up where it is hopeless, and show no secret."""

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from ipaddress import ip_network
from time import monotonic
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import override_settings

from jobs.conf import load
from jobs.domain.alerts import MOST_ATTEMPTS
from jobs.domain.errors import InvalidInput, SettingError
from jobs.domain.variables import MailServer
from jobs.handlers.web.errors import AddressNotAllowed
from jobs.handlers.web.webhooks import WebhookGuard
from jobs.notifications import deliveries as queue
from jobs.notifications.channels import Wanted, checked
from jobs.workers import senders
from jobs.workers.delivery import deliver
from jobs.workers.mail import MAIL_SECONDS
from tests.notifications.helpers import (
    HANGS,
    SECRET,
    MailSink,
    Receiver,
    at,
    channel,
    deliveries,
    evaluate,
    http_receiver,
    mail_receiver,
    only,
)
from tests.notifications.test_alerts import regress

NOON = at(2, 12)


@pytest.fixture
def http() -> Iterator[Receiver]:
    with http_receiver() as receiver:
        yield receiver


@pytest.fixture
def mail() -> Iterator[MailSink]:
    with mail_receiver() as sink:
        yield sink


@pytest.fixture
def configure(settings: Any) -> Callable[..., None]:
    """Other values of the product's settings."""

    def changed(**values: Any) -> None:
        settings.DETIQ = replace(settings.DETIQ, **values)

    return changed


@pytest.fixture
def loopback(configure: Callable[..., None]) -> None:
    configure(webhook_allowed_hosts=frozenset({"127.0.0.1", "localhost"}), public_url="https://detiq.example.org")


def opened(conn: Any, now: datetime = NOON) -> None:
    only(conn, "group_regressed")
    regress(conn)
    evaluate(conn, now)


def states(conn: Any) -> list[tuple[str, str, int]]:
    return [(row["event"], row["state"], row["attempts"]) for row in deliveries(conn)]


# --- Webhooks ---------------------------------------------------------------------------------------------------------
def verify(headers: dict[str, str], body: bytes, secret: str) -> bool:
    """What a receiver does, from the documentation alone."""
    signed = f"{headers['x-detiq-timestamp']}.".encode() + body
    digest = hmac.new(secret.encode("utf-8"), signed, hashlib.sha256).hexdigest()
    return hmac.compare_digest(headers["x-detiq-signature"], f"v1={digest}")


def test_a_webhook_is_signed_and_can_be_checked_by_anybody(
    conn: Any, http: Receiver, loopback: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel(target=http.url)
    opened(conn)
    with monkeypatch.context() as wrong:
        wrong.setattr("time.time", lambda: 0.0)  # a worker whose clock is wrong: the database's counts
        deliver(NOON)
    ((headers, body),) = http.got
    assert verify(headers, body, SECRET) and not verify(headers, body + b" ", SECRET) and not verify(headers, body, "x")
    assert abs(int(headers["x-detiq-timestamp"]) - datetime.now().timestamp()) < 60
    said = json.loads(body)
    assert said["id"] == headers["x-detiq-id"] == deliveries(conn)[0]["id"]
    assert said["event"] == headers["x-detiq-event"] == "opened"
    assert said["alert"]["rule"] == "group_regressed" and said["alert"]["opened_at"] == "2026-11-02T12:00:00Z"
    assert said["url"].startswith("https://detiq.example.org/alerts/alert/?id=")
    assert states(conn) == [("opened", "SENT", 1)]


def test_what_was_sent_is_not_sent_again(conn: Any, http: Receiver, loopback: None) -> None:
    channel(target=http.url)
    opened(conn)
    for minutes in range(0, 300, 30):
        deliver(NOON + timedelta(minutes=minutes))
    assert len(http.got) == 1


def test_a_failed_try_comes_again_later_with_the_same_id(conn: Any, http: Receiver, loopback: None) -> None:
    channel(target=http.url)
    http.answers = [503, 429]
    opened(conn)
    deliver(NOON)
    assert states(conn) == [("opened", "PENDING", 1)] and deliveries(conn)[0]["last_error"] == "it answered HTTP 503"
    deliver(NOON + timedelta(seconds=29))
    assert len(http.got) == 1, "not before its time"
    deliver(NOON + timedelta(seconds=31))
    deliver(NOON + timedelta(seconds=100))
    assert states(conn) == [("opened", "SENT", 3)] and deliveries(conn)[0]["last_error"] is None
    assert len({said["id"] for said in http.bodies}) == 1


def test_it_is_given_up_after_so_many_tries_and_can_be_sent_again(conn: Any, http: Receiver, loopback: None) -> None:
    channel(target=http.url)
    http.answers = [500] * MOST_ATTEMPTS
    opened(conn)
    for hours in range(MOST_ATTEMPTS + 3):
        deliver(NOON + timedelta(hours=2 * hours))
    assert states(conn) == [("opened", "FAILED", MOST_ATTEMPTS)]
    assert queue.again(deliveries(conn)[0]["id"])
    deliver()
    assert states(conn) == [("opened", "SENT", 1)]
    assert queue.again(deliveries(conn)[0]["id"]) is None


def test_what_can_never_arrive_is_given_up_at_once(conn: Any, http: Receiver, loopback: None) -> None:
    channel(target=http.url)
    http.answers = [404]
    opened(conn)
    deliver(NOON)
    assert states(conn) == [("opened", "FAILED", 1)]


def test_a_killed_worker_loses_nothing(conn: Any, http: Receiver, loopback: None) -> None:
    """It took the message and was killed before it sent it, or before it wrote it down: the next one sends it."""
    channel(target=http.url)
    opened(conn)
    assert len(queue.take(8, NOON)) == 1
    deliver(NOON + timedelta(seconds=50))
    assert http.got == [], "the first may still be at it"
    deliver(NOON + timedelta(seconds=61))
    assert states(conn) == [("opened", "SENT", 2)]


def test_whoever_comes_back_late_spoils_nothing(conn: Any, http: Receiver, loopback: None) -> None:
    channel(target=http.url)
    opened(conn)
    (late,) = queue.take(8, NOON)
    deliver(NOON + timedelta(seconds=61))
    queue.not_sent(late, "late", hopeless=True)
    assert states(conn) == [("opened", "SENT", 2)]


PRIVATE = ["http://127.0.0.1:9/", "http://localhost:9/", "http://[::1]:9/", "http://10.0.0.1/",
           "http://169.254.169.254/latest/", "http://2130706433:9/"]  # fmt: skip


def test_private_addresses_are_refused_by_default(conn: Any) -> None:
    for target in PRIVATE:
        channel(name=target, target=target)
    opened(conn)
    deliver(NOON)
    assert [(row["state"], "is not allowed" in row["last_error"]) for row in deliveries(conn)] == [
        ("PENDING", True)
    ] * 6


def test_a_named_host_alone_is_allowed(conn: Any, http: Receiver, configure: Callable[..., None]) -> None:
    configure(webhook_allowed_hosts=frozenset({"localhost"}))
    channel(name="named", target=http.url.replace("127.0.0.1", "localhost"))
    channel(name="not named", target=http.url)
    opened(conn)
    deliver(NOON)
    assert sorted(row["state"] for row in deliveries(conn)) == ["PENDING", "SENT"]


@pytest.mark.parametrize("address", ["169.254.169.254", "fd00:ec2::254"])
def test_a_metadata_service_is_refused_under_every_name(
    configure: Callable[..., None], monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    configure(webhook_allowed_hosts=frozenset({"hooks.internal", address}))
    monkeypatch.setattr("jobs.handlers.web.guard.system_resolver", lambda host, port: [address])
    with pytest.raises(AddressNotAllowed):
        WebhookGuard().addresses("hooks.internal", 80)
    with pytest.raises(AddressNotAllowed):
        WebhookGuard().check_url(f"http://[{address}]/" if ":" in address else f"http://{address}/")


@pytest.mark.parametrize(
    "target", ["https://exa mple.com/", "https://xn--é.example/", "https://h.example/\u202e", "https://.", "https://h..example/x",
               f"https://{'a' * 64}.example/"],
)  # fmt: skip
def test_an_address_that_can_never_be_called_is_refused_when_it_is_written(target: str) -> None:
    with pytest.raises(InvalidInput, match="target"):
        checked(Wanted("hook", "webhook", target, "s" * 20), WebhookGuard().check_url)


def test_networks_that_are_open_to_jobs_are_open_to_webhooks(conn: Any, http: Receiver, configure: Any) -> None:
    configure(outbound_allowed_networks=(ip_network("127.0.0.0/8"),))
    channel(target=http.url)
    opened(conn)
    deliver(NOON)
    assert states(conn) == [("opened", "SENT", 1)]


def test_redirects_are_not_followed(conn: Any, http: Receiver, loopback: None) -> None:
    channel(target=http.url)
    http.answers = [302]  # to a metadata service
    opened(conn)
    deliver(NOON)
    assert len(http.got) == 1 and deliveries(conn)[0]["last_error"] == "it answered HTTP 302"


ENDLESS = b"HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n" + b"x" * 10_000
SLOW = b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 10_000


@pytest.mark.parametrize(
    ("answer", "state"), [(ENDLESS, "SENT"), (SLOW, "PENDING"), (HANGS, "PENDING"), (b"\x00", "PENDING")]
)
def test_an_answer_without_end_holds_nobody_up(
    conn: Any, http: Receiver, loopback: None, monkeypatch: pytest.MonkeyPatch, answer: bytes, state: str
) -> None:
    monkeypatch.setattr(senders, "WEBHOOK_SECONDS", 4.0 if state == "SENT" else 0.5)
    channel(target=http.url)
    http.answers = [answer]
    opened(conn)
    began = monotonic()
    deliver(NOON)
    assert monotonic() - began < 4 and states(conn) == [("opened", state, 1)]


def test_the_address_that_was_judged_is_the_one_that_is_called(
    conn: Any, http: Receiver, configure: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that is one thing when it is judged and another when it is called: there is no second look-up."""
    asked: list[str] = []

    def resolver(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.2"] if len(asked) == 1 else ["127.0.0.1"]

    configure(outbound_allowed_networks=(ip_network("127.0.0.2/32"),))
    monkeypatch.setattr("jobs.handlers.web.guard.system_resolver", resolver)
    channel(target=http.url.replace("127.0.0.1", "hooks.example.org"))
    opened(conn)
    deliver(NOON)
    assert http.got == [] and asked == ["hooks.example.org"]
    assert "takes no connections" in deliveries(conn)[0]["last_error"]
    deliver(NOON + timedelta(minutes=1))
    assert http.got == [] and "is not allowed" in deliveries(conn)[0]["last_error"]


def test_one_receiver_that_is_away_keeps_no_other_waiting(conn: Any, http: Receiver, loopback: None) -> None:
    channel(name="away", target="http://127.0.0.1:9/token-in-the-path")
    channel(name="there", target=http.url)
    opened(conn)
    deliver(NOON)
    assert len(http.got) == 1
    away = next(row for row in deliveries(conn) if row["state"] == "PENDING")
    assert "token-in-the-path" not in away["last_error"]


# --- Over, held back, tests -------------------------------------------------------------------------------------------
def test_an_alert_that_is_over_says_so(conn: Any, http: Receiver, loopback: None) -> None:
    channel(target=http.url)
    opened(conn)
    deliver(NOON)
    regress(conn, "KNOWN")
    evaluate(conn, NOON + timedelta(minutes=3))
    deliver(NOON + timedelta(minutes=3))
    assert [said["event"] for said in http.bodies] == ["opened", "closed"]
    assert http.bodies[1]["alert"]["closed_at"] == "2026-11-02T12:03:00Z"


def test_what_was_held_back_and_is_over_is_one_message_that_says_both(
    conn: Any, http: Receiver, loopback: None
) -> None:
    from datetime import time

    channel(target=http.url, quiet_from=time(22), quiet_to=time(7))
    opened(conn, at(2, 23))
    regress(conn, "KNOWN")
    evaluate(conn, at(2, 23, 30))
    deliver(at(3, 6, 59))
    assert http.got == []
    deliver(at(3, 7))
    (said,) = http.bodies
    assert said["event"] == "opened" and said["alert"]["closed_at"] == "2026-11-02T23:30:00Z"


def test_a_test_message_goes_out_even_by_a_channel_that_is_off(conn: Any, http: Receiver, loopback: None) -> None:
    queue.test(channel(target=http.url, enabled=False).pk)
    deliver()
    assert http.bodies[0]["event"] == "test"


def test_a_channel_that_is_switched_off_meanwhile_gets_nothing(conn: Any, http: Receiver, loopback: None) -> None:
    one = channel(target=http.url)
    opened(conn)
    type(one).objects.update(enabled=False)
    deliver(NOON)
    assert http.got == [] and states(conn) == [("opened", "FAILED", 1)]


def test_a_channel_of_another_secret_key_says_so(conn: Any, http: Receiver, loopback: None) -> None:
    channel(target=http.url)
    opened(conn)
    with override_settings(SECRET_KEY="another-key-of-at-least-32-characters-or-more"):
        deliver(NOON)
    assert "another SECRET_KEY" in deliveries(conn)[0]["last_error"]
    with override_settings(
        SECRET_KEY="another-key-of-at-least-32-characters-or-more", SECRET_KEY_FALLBACKS=[django_settings.SECRET_KEY]
    ):
        queue.again(deliveries(conn)[0]["id"])
        deliver()
    assert len(http.got) == 1


# --- Mail -------------------------------------------------------------------------------------------------------------
@pytest.fixture
def by_mail(settings: Any, configure: Callable[..., None], mail: MailSink) -> MailSink:
    configure(email_url=MailServer("127.0.0.1", mail.port), email_from="detiq@example.org", environment="prod")
    options = {"host": "127.0.0.1", "port": mail.port, "timeout": 5, "total_seconds": 5.0}
    settings.MAILERS = {"default": {"BACKEND": "jobs.workers.mail.DeadlineBackend", "OPTIONS": options}}
    return mail


def test_a_mail_names_what_is_wrong_and_where_to_look(conn: Any, by_mail: MailSink) -> None:
    channel("email", "ops@example.org, night@example.org")
    opened(conn)
    deliver(NOON)
    assert by_mail.recipients == [["ops@example.org", "night@example.org"]]
    (text,) = by_mail.mails
    assert "Subject: [prod] CRAWL fails again as before its fix" in text
    assert f"Message-ID: <{deliveries(conn)[0]['id']}@example.org>" in text
    assert states(conn) == [("opened", "SENT", 1)]


def test_hostile_text_stays_in_its_header(conn: Any, by_mail: MailSink) -> None:
    channel("email", "ops@example.org")
    only(conn, "tenant_dead", threshold=1)
    from tests.notifications.helpers import dead

    dead(conn, "j", tenant="acme\r\nBcc: eve@example.org")
    evaluate(conn)
    deliver()
    (text,) = by_mail.mails
    assert not re.search("^Bcc:", text, re.MULTILINE)
    assert by_mail.recipients == [["ops@example.org"]]


def test_a_mail_server_that_refuses_is_tried_again(conn: Any, by_mail: MailSink) -> None:
    channel("email", "ops@example.org")
    by_mail.refuse = 451
    opened(conn)
    deliver(NOON)
    assert deliveries(conn)[0]["last_error"] == "the mail server answered 451"
    by_mail.refuse = 0
    deliver(NOON + timedelta(minutes=1))
    assert states(conn) == [("opened", "SENT", 2)]


def test_without_a_mail_server_it_says_so(conn: Any) -> None:
    channel("email", "ops@example.org")
    opened(conn)
    deliver(NOON)
    assert deliveries(conn)[0]["last_error"] == "no mail server is set: EMAIL_URL"


@pytest.mark.parametrize(("slow", "state"), [("HELO", "PENDING"), ("RCPT", "PENDING"), ("QUIT", "SENT")])
def test_a_mail_server_may_be_slow_with_every_word_but_not_for_ever(
    conn: Any, by_mail: MailSink, settings: Any, slow: str, state: str
) -> None:
    """Twenty recipients, each of them answered a byte at a time; what it has taken by then is sent."""
    channel("email", ", ".join(f"ops{n}@example.org" for n in range(20)))
    by_mail.slow = slow
    settings.MAILERS["default"]["OPTIONS"] |= {"total_seconds": 0.4}
    opened(conn)
    began = monotonic()
    deliver(NOON)
    assert monotonic() - began < 2
    assert states(conn) == [("opened", state, 1)] and len(by_mail.mails) == (state == "SENT")
    if state == "PENDING":
        assert deliveries(conn)[0]["last_error"] == "the mail server: it took no message within 0.4 s"


def test_no_channel_takes_as_long_as_others_keep_off_its_message() -> None:
    longest = max(senders.WEBHOOK_SECONDS, senders.APPRISE_SECONDS, MAIL_SECONDS)
    assert longest <= queue.LEASE_SECONDS - 20


# --- apprise ----------------------------------------------------------------------------------------------------------
def test_apprise_sends_in_time_and_only_by_schemes_that_are_allowed(
    conn: Any, http: Receiver, configure: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("apprise")
    channel("apprise", http.url.replace("http", "ntfy").replace("/hook?token=abc", "/topic"))
    only(conn, "group_regressed")
    regress(conn)
    conn.execute("UPDATE failure_group SET type = '<!channel> @everyone'")
    evaluate(conn, NOON)
    deliver(NOON)
    assert http.got == [] and "APPRISE_SCHEMES" in deliveries(conn)[0]["last_error"]
    configure(apprise_schemes=["ntfy"])
    queue.again(deliveries(conn)[0]["id"])
    http.answers = [200]
    deliver()
    (said,) = http.bodies
    assert said["title"] == "[dev] ‹!channel› ＠everyone fails again as before its fix"  # noqa: RUF001
    assert deliveries(conn)[0]["id"] in said["message"] and not set("<>@") & set(said["message"])
    assert states(conn) == [("opened", "SENT", 1)]

    http.answers = [HANGS]
    monkeypatch.setattr(senders, "APPRISE_SECONDS", 0.5)
    conn.execute("UPDATE alert_delivery SET state = 'PENDING', due_at = now()")
    began = monotonic()
    deliver()
    assert monotonic() - began < 10 and deliveries(conn)[0]["last_error"] == "ntfy did not take it within 0.5 s"


# --- Settings ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("EMAIL_URL", "mail.example.org", "smtp://"),
        ("EMAIL_URL", "smtp://user:hunter2@host:25/path", "nothing may follow"),
        ("EMAIL_URL", "smtp://user:hunter2@host:port", "EMAIL_URL"),
        ("EMAIL_FROM", "nobody", "no mail address"),
        ("DETIQ_PUBLIC_URL", "detiq.example.org", "https://"),
        ("WEBHOOK_ALLOWED_HOSTS", "https://hooks", "host name"),
        ("REMOTE_ALLOWED_HOSTS", "localhost:8080", "host name"),
        ("APPRISE_SCHEMES", "slack,json", "json"),
        ("APPRISE_SCHEMES", "slack://", "://"),
    ],
)
def test_a_bad_setting_is_an_error_that_names_it_and_shows_no_password(name: str, value: str, says: str) -> None:
    with pytest.raises(SettingError) as refused:
        load({name: value})
    assert name in str(refused.value) and says in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_a_mail_server_is_read_and_shown_without_its_password() -> None:
    found = load({"EMAIL_URL": "smtp+starttls://ops%40example.org:p%3Aw@mail.example.org"}).email_url
    assert found == MailServer("mail.example.org", 587, "ops@example.org", "p:w", "starttls")
    assert "p:w" not in f"{found} {found!r}"
    assert not load({}).email_url


def test_whoever_lost_a_message_to_another_does_not_give_it_up(conn: Any, http: Receiver, loopback: None) -> None:
    """The first worker hung for longer than its time; the second is at it when the first says that it failed."""
    channel(target=http.url)
    opened(conn)
    (first,) = queue.take(8, NOON)
    (second,) = queue.take(8, NOON + timedelta(seconds=61))
    assert first["id"] == second["id"]
    queue.not_sent(first, "late", hopeless=True, now=NOON + timedelta(seconds=62))
    assert states(conn) == [("opened", "PENDING", 2)]
    queue.sent(second)
    assert states(conn) == [("opened", "SENT", 2)]
