"""Which types run elsewhere: by page and by command, for admins, audited, with a secret that is shown once."""

import json
import logging
import re
from collections.abc import Callable
from io import StringIO
from ipaddress import ip_address
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from jobs.conf import SETTINGS
from jobs.domain.errors import SettingError
from jobs.handlers.web.errors import AddressNotAllowed
from jobs.handlers.web.named_hosts import NamedHostsGuard
from jobs.models import AuditEntry, RemoteRun, RemoteType
from jobs.queue import remote
from jobs.queue.retention import Retention, targets
from tests.browser import just_proved
from tests.factories import HOSTILE, JobFactory, RemoteTypeFactory, user

pytestmark = pytest.mark.django_db
FORM = {
    "type": "FAR",
    "url": "https://crawler.example.com/run",
    "first_answer_seconds": "30",
    "silence_seconds": "300",
    "longest_run_seconds": "3600",
    "reason": "the new crawler",
}


@pytest.fixture
def admin(db: None) -> Client:
    client, person = Client(), user("admin")
    client.force_login(person, "django.contrib.auth.backends.ModelBackend")
    just_proved(client, person)
    return client


def secret_on(response: Any) -> str:
    found = re.search(r'id="remote-secret">([^<]+)<', response.content.decode())
    assert found
    return found[1]


# --- The pages --------------------------------------------------------------------------------------------------------


def test_a_mapping_is_made_and_its_secret_shown_once(admin: Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        secret = secret_on(admin.post("/actions/remote/set/", FORM))
    assert secret.startswith("dts_") and len(secret) > 40
    terms = remote.terms("FAR")
    assert terms and terms.secrets == (secret,) and terms.url == FORM["url"]
    pages = [admin.get(path).content.decode() for path in ("/settings/remote/", "/settings/remote/type/?type=FAR")]
    kept = [*pages, caplog.text, repr(terms), json.dumps(list(AuditEntry.objects.values()), default=str),
            json.dumps(list(RemoteType.objects.values()), default=str), admin.get("/audit/").content.decode()]  # fmt: skip
    assert not any(secret in text for text in kept)
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.target, entry.reason) == ("set_remote", "type FAR", "the new crawler")
    assert entry.after["url"] == FORM["url"] and "secret" not in json.dumps(entry.after)


def test_a_change_keeps_the_secret_and_says_what_was(admin: Client) -> None:
    secret = secret_on(admin.post("/actions/remote/set/", FORM))
    answer = admin.post("/actions/remote/set/", FORM | {"known": "FAR", "silence_seconds": "60"})
    assert answer.status_code == 302
    terms = remote.terms("FAR")
    assert terms and (terms.secrets, terms.silence_seconds) == ((secret,), 60)
    entry = AuditEntry.objects.latest("id")
    assert (entry.before["silence_seconds"], entry.after["silence_seconds"]) == (300, 60)


def test_rotation_shows_a_new_secret_and_keeps_the_old_one_for_a_while(admin: Client) -> None:
    old = secret_on(admin.post("/actions/remote/set/", FORM))
    new = secret_on(admin.post("/actions/remote/rotate/", {"type": "FAR", "overlap": "1.5", "reason": "quarter"}))
    terms = remote.terms("FAR")
    assert terms and terms.secrets == (new, old)
    entry = AuditEntry.objects.latest("id")
    assert entry.action == "rotate_remote" and entry.numbers == {"overlap_hours": 1.5}
    assert "two until" in admin.get("/settings/remote/").content.decode()


def test_a_mapping_is_removed(admin: Client) -> None:
    RemoteTypeFactory()
    assert admin.post("/actions/remote/remove/", {"type": "FAR", "reason": "over"}).status_code == 302
    assert remote.types() == []
    assert AuditEntry.objects.get().action == "remove_remote"
    assert admin.post("/actions/remote/remove/", {"type": "FAR", "reason": "over"}).status_code == 404


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", "http://crawler.example.com/"),
        ("url", "https://127.0.0.1/"),
        ("url", "https://[::1]/"),
        ("url", "http://crawler.example.org/"),
        ("url", "https://169.254.169.254/"),
        ("url", "https://10.1.2.3/run"),
        ("url", "https://user:pass@crawler.example.com/"),
        ("url", "ftp://crawler.example.com/"),
        ("url", "https://"),
        ("url", ""),
        ("type", " "),
        ("silence_seconds", "0"),
        ("longest_run_seconds", "9" * 30),
        ("first_answer_seconds", "soon"),
        ("reason", " "),
    ],
)
def test_what_cannot_be_used_is_said_at_its_field(admin: Client, field: str, value: str) -> None:
    response = admin.post("/actions/remote/set/", FORM | {field: value})
    assert response.status_code == 422
    assert 'class="problem"' in response.content.decode()
    assert "remote_allowed_hosts" not in response.content.decode()
    assert not RemoteType.objects.exists() and not AuditEntry.objects.exists()


def test_who_has_not_proved_who_they_are_lately_is_asked(db: None) -> None:
    client = Client()
    client.force_login(user("admin"), "django.contrib.auth.backends.ModelBackend")
    RemoteTypeFactory()
    for path, form in (("set", FORM), ("rotate", {"type": "FAR", "overlap": "0", "reason": "x"})):
        response = client.post(f"/actions/remote/{path}/", form)
        assert response.status_code == 302 and "reauthenticate" in response["Location"]
    assert not AuditEntry.objects.exists()


def test_hostile_text_is_text(admin: Client) -> None:
    RemoteTypeFactory(type=HOSTILE, url="https://x.example/" + HOSTILE)
    JobFactory(type=HOSTILE, running=True)
    for path in ("/settings/remote/", "/settings/remote/type/"):
        page = admin.get(path, {"type": HOSTILE} if path.endswith("type/") else {}).content.decode()
        assert HOSTILE not in page and "<svg/onload" not in page
    assert admin.get("/settings/remote/type/", {"type": "a\0"}).status_code == 404
    assert admin.get("/settings/remote/type/", {"type": "missing"}).status_code == 404


# --- The command ------------------------------------------------------------------------------------------------------


def run(*words: str) -> str:
    out = StringIO()
    call_command("remote", *words, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_the_command_does_the_same(db: None) -> None:
    made = run("set", "FAR", "--url", FORM["url"], "--silence", "60", "--reason", "new")
    secret = made.split()[1]
    assert remote.terms("FAR").secrets == (secret,)  # type: ignore[union-attr]
    assert "changed" in run("set", "FAR", "--url", "https://other.example.com/", "--reason", "moved")
    assert remote.terms("FAR").silence_seconds == 60, "what is not named stays"  # type: ignore[union-attr]
    assert secret not in run("list") and "other.example.com" in run("list", "--json")
    new = json.loads(run("rotate", "FAR", "--overlap-hours", "0", "--reason", "seen", "--json"))["secret"]
    assert remote.terms("FAR").secrets == (new,)  # type: ignore[union-attr]
    run("remove", "FAR", "--reason", "over")
    assert remote.types() == []
    assert {entry.actor.split(":")[0] for entry in AuditEntry.objects.all()} == {"command"}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("set", "FAR", "--url", "https://127.0.0.1/", "--reason", "x"), 2),
        (("set", "FAR", "--url", FORM["url"], "--silence", "-1", "--reason", "x"), 2),
        (("rotate", "FAR", "--reason", "x"), 1),
        (("remove", "FAR", "--reason", "x"), 1),
    ],
)
def test_the_command_refuses_with_an_exit_code(db: None, words: tuple[str, ...], code: int) -> None:
    with pytest.raises(CommandError) as refused:
        run(*words)
    assert refused.value.returncode == code


# --- Where services may be --------------------------------------------------------------------------------------------


def rebinding(*addresses: str) -> Callable[[str, int], list[str]]:
    return lambda host, port: list(addresses)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "169.254.1.1", "::1", "fe80::1", "::ffff:10.0.0.1"])
def test_a_public_name_with_a_private_address_is_refused_unless_it_is_named(address: str) -> None:
    with pytest.raises(AddressNotAllowed):
        NamedHostsGuard([], rebinding("203.0.113.9", address)).addresses("crawler.example.com", 443)
    named = NamedHostsGuard(["crawler.example.com"], rebinding(address))
    assert named.addresses("Crawler.Example.com.", 443) == [ip_address(address)]


@pytest.mark.parametrize("address", ["169.254.169.254", "fd00:ec2::254", "100.100.100.200"])
def test_a_metadata_service_is_refused_under_every_name(address: str) -> None:
    with pytest.raises(AddressNotAllowed):
        NamedHostsGuard(["crawler.internal"], rebinding(address)).addresses("crawler.internal", 80)


@pytest.mark.parametrize("value", ["ftp://x", "detiq.example.com", "https://", "https://x/?a=1"])
def test_a_public_address_that_is_none_is_an_error_at_the_start(value: str) -> None:
    setting = next(one for one in SETTINGS if one.name == "DETIQ_PUBLIC_URL")
    with pytest.raises(SettingError, match="DETIQ_PUBLIC_URL"):
        setting.read({"DETIQ_PUBLIC_URL": value})
    assert setting.read({"DETIQ_PUBLIC_URL": "https://x.example/detiq/"}) == "https://x.example/detiq"


# --- What is kept -----------------------------------------------------------------------------------------------------


def test_old_runs_and_their_nonces_are_pruned(db_clean: None) -> None:
    from datetime import timedelta

    from django.utils import timezone

    from jobs.models import RemoteNonce

    for name, days in (("old", 91), ("young", 89)):
        moment = timezone.now() - timedelta(days=days)
        RemoteRun.objects.create(id=name, job_id="j", type="FAR", worker="w", started_at=moment, deadline_at=moment)
        RemoteNonce.objects.create(run_id=name, nonce="n")
    retention = Retention(timedelta(days=90))
    (fared,) = retention.prune(
        [one for one in targets(timedelta(days=90), timedelta(days=90)) if one.name == "remote"], 5
    )
    assert (fared.pruned, fared.ended, fared.rows_left) == (1, True, 0)
    assert RemoteRun.objects.get().id == "young" and RemoteNonce.objects.get().run_id == "young"
