"""Signing in: tries are limited, second factors work, grave views ask again, sessions can be ended."""

import re
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.test import Client, override_settings

from jobs import conf
from jobs.console.accounts import FactorAdapter
from jobs.models import AuditEntry, Job
from tests.console.addresses import HTMX
from tests.factories import JobFactory, user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_cache")]
PASSWORD = "a staple that no horse has"


@pytest.fixture
def dana() -> User:
    person = user("admin", "dana")
    person.set_password(PASSWORD)
    person.save()
    return person


@pytest.fixture
def mfa_for_admins(monkeypatch: pytest.MonkeyPatch) -> None:
    strict = replace(conf.conf(), require_mfa="admins")
    monkeypatch.setattr("jobs.console.accounts.conf", lambda: strict)


def sign_in(client: Client, password: str = PASSWORD) -> object:
    return client.post("/accounts/login/", {"login": "dana", "password": password})


def code(secret: str) -> str:
    counter = next(iter(yield_hotp_counters_from_time()))
    return format_hotp_value(hotp_value(secret, counter))


def enrol(client: Client) -> str:
    """Adds an authenticator app to the one who is signed in. Its secret."""
    page = client.get("/accounts/2fa/totp/activate/", follow=True)
    if "Confirm it is you" in page.content.decode():
        page = client.post(page.redirect_chain[-1][0], {"password": PASSWORD}, follow=True)
    secret = client.session["mfa.totp.secret"]
    assert "data:image/svg+xml" in page.content.decode() and secret in page.content.decode()
    done = client.post("/accounts/2fa/totp/activate/", {"code": code(secret)}, follow=True)
    assert "ecovery" in done.content.decode()
    return str(secret)


def test_wrong_passwords_are_limited_for_all_processes_together(client: Client, dana: User) -> None:
    for _ in range(5):
        assert sign_in(client, "wrong").status_code == 200
    answer = sign_in(Client(), PASSWORD)
    assert "Too many failed" in answer.content.decode()
    assert "_auth_user_id" not in client.session
    cache.clear()
    assert sign_in(client).status_code == 302


def test_an_admin_is_asked_to_enrol_and_may_go_on(client: Client, dana: User) -> None:
    sign_in(client)
    page = client.get("/")
    assert page.status_code == 200 and "second factor" in page.content.decode()
    assert "second factor: see" not in client.get("/").content.decode()


def test_a_second_factor_is_asked_at_the_login(client: Client, dana: User) -> None:
    sign_in(client)
    secret = enrol(client)
    assert secret not in str(Authenticator.objects.get(type="totp").data)
    again = Client()
    asked = sign_in(again)
    assert asked["Location"].startswith("/accounts/2fa/authenticate/")
    assert again.get("/").status_code == 302
    assert "code" in again.get(asked["Location"]).content.decode()
    assert again.post("/accounts/2fa/authenticate/", {"code": "000000"}).status_code == 200
    recovery = Authenticator.objects.get(type="recovery_codes").wrap().get_unused_codes()[0]
    assert again.post("/accounts/2fa/authenticate/", {"code": recovery}).status_code == 302
    assert again.get("/").status_code == 200
    spent = Client()
    sign_in(spent)
    assert spent.post("/accounts/2fa/authenticate/", {"code": recovery}).status_code == 200


def test_secrets_survive_a_new_key_that_knows_the_old_one() -> None:
    kept = FactorAdapter().encrypt("JBSWY3DP")
    assert "JBSWY3DP" not in kept
    from django.conf import settings

    with override_settings(SECRET_KEY="another", SECRET_KEY_FALLBACKS=[settings.SECRET_KEY]):
        assert FactorAdapter().decrypt(kept) == "JBSWY3DP"


@pytest.mark.django_db(transaction=True)
def test_where_it_is_a_duty_the_console_stays_shut_until_it_is_done(
    client: Client, dana: User, mfa_for_admins: None, as_role: Callable[..., Client]
) -> None:
    sign_in(client)
    assert client.get("/jobs/")["Location"] == "/accounts/2fa/"
    assert client.get("/jobs/", headers=HTMX)["HX-Redirect"] == "/accounts/2fa/"
    assert client.post("/actions/pause/", {"type": "CRAWL", "reason": "x"})["Location"] == "/accounts/2fa/"
    assert client.get("/live/").status_code == 401
    enrol(client)
    assert client.get("/jobs/").status_code == 200
    assert as_role("operator").get("/jobs/").status_code == 200


def test_a_security_key_can_be_added(client: Client, dana: User) -> None:
    sign_in(client)
    page = client.get("/accounts/2fa/webauthn/add/", follow=True)
    page = client.post(page.redirect_chain[-1][0], {"password": PASSWORD}, follow=True)
    assert "creation_options" in page.content.decode() and "mfa/js/webauthn.js" in page.content.decode()


@pytest.mark.parametrize("path", ["/people/new/", "/people/change/?user=dana"])
def test_a_grave_page_asks_again_who_it_is(as_role: Callable[..., Client], dana: User, path: str) -> None:
    client = as_role("admin", "dana", proved=False)
    asked = client.get(path)
    assert asked.status_code == 302 and asked["Location"].startswith("/accounts/reauthenticate/?next=")
    assert client.post(asked["Location"], {"password": "wrong"}).status_code == 200
    assert client.get(path).status_code == 302
    back = client.post(asked["Location"], {"password": PASSWORD})
    assert back["Location"] == path
    assert client.get(path).status_code == 200


def test_a_grave_action_is_not_done_before_it_is_proved(as_role: Callable[..., Client], dana: User) -> None:
    client, form = as_role("admin", "dana", proved=False), {"username": "erik", "role": "admin", "reason": "x"}
    asked = client.post("/actions/people/create/", form, headers={"Referer": "http://testserver/people/new/"})
    assert asked["Location"] == "/accounts/reauthenticate/?next=%2Fpeople%2Fnew%2F"
    script = client.post("/actions/people/create/", form, headers=HTMX | {"HX-Current-URL": "http://evil.example/x"})
    assert (script.status_code, script["HX-Redirect"]) == (403, "/accounts/reauthenticate/?next=%2F")
    assert not User.objects.filter(username="erik").exists()
    session = client.session
    session["account_authentication_methods"] = [{"method": "password", "at": time.time() - 301}]
    session["account_authentication_methods_user"] = str(dana.pk)
    session.save()
    assert client.post("/actions/people/create/", form).status_code == 302
    session["account_authentication_methods"] = [{"method": "password", "at": time.time() - 290}]
    session.save()
    assert client.post("/actions/people/create/", form).status_code == 200


def test_sessions_are_listed_and_ended(client: Client, dana: User) -> None:
    other = Client(headers={"User-Agent": "an old phone"})
    sign_in(client)
    sign_in(other)
    page = client.get("/accounts/sessions/").content.decode()
    assert "an old phone" in page and "127.0.0.1" in page
    client.post("/accounts/sessions/")
    assert other.get("/").status_code == 302
    assert client.get("/").status_code == 200
    assert Session.objects.count() == 1


@pytest.mark.parametrize(
    "path", ["/accounts/2fa/", "/accounts/sessions/", "/accounts/password/change/", "/accounts/2fa/webauthn/"]
)
def test_the_accounts_pages_are_ours_to_look_at(client: Client, dana: User, path: str) -> None:
    sign_in(client)
    page = client.get(path, follow=True).content.decode()
    assert 'class="entrance' in page and "{%" not in page
    assert re.search(r"<title>\s*\S+", page)
    assert "style=" not in page


def test_strangers_reach_no_page_of_an_account(client: Client) -> None:
    for path in ("/accounts/2fa/", "/accounts/sessions/", "/accounts/2fa/totp/activate/", "/accounts/reauthenticate/",
                 "/accounts/2fa/recovery-codes/", "/accounts/2fa/authenticate/"):  # fmt: skip
        assert client.get(path)["Location"].startswith("/accounts/login/"), path


def test_purges_and_caps_ask_again_who_it_is(as_role: Callable[..., Client]) -> None:
    job = JobFactory(done=True)
    client = as_role("admin", "stale", proved=False)
    purge_events = "/ledger/act/?verb=purge&state=failed"
    for path in (f"/dialogs/purge/?id={job.id}", "/bulk/purge/?type=CRAWL", "/caps/tenant/?id=acme", purge_events):
        assert "/accounts/reauthenticate/" in client.get(path).headers.get("Location", ""), path
    forms = {
        "/actions/purge/": {"id": job.id, "reason": "x"},
        "/actions/bulk/purge/": {"query": "type=CRAWL", "reason": "x", "expected": "1"},
        "/actions/cap/": {"id": "acme", "cap": "5", "reason": "x", "ends": "3600"},
        "/actions/ledger-purge/": {"state": "failed", "reason": "x"},
        "/actions/alert/rule/": {"name": "oldest_wait", "minutes": "5", "reason": "x"},
    }
    for path, form in forms.items():
        assert "/accounts/reauthenticate/" in client.post(path, form).headers.get("Location", ""), path
    assert (
        Job.objects.filter(id=job.id).exists() and not AuditEntry.objects.filter(action__in=["purge", "cap"]).exists()
    )
