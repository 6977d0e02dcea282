"""People, roles and limits: managed by admins, audited with before and after; the last admin stays."""

import re
import threading
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client

from jobs.domain.errors import InvalidInput
from jobs.models import AuditEntry, TenantLimit
from jobs.operations import people
from jobs.operations.actions import Person
from jobs.operations.people import LastAdmin, role_of
from tests.factories import HOSTILE, user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_cache")]

DANA = Person("dana")
CREATE, CHANGE, LINK = "/actions/people/create/", "/actions/people/change/", "/actions/people/link/"
PASSWORD = "a staple that no horse has"


def test_a_new_user_sets_a_password_by_a_link_that_is_shown_once(admin: Client, client: Client) -> None:
    form = {"username": "erik", "role": "support", "tenants": "acme\r\n\r\n globex ", "reason": "joins the team"}
    page = admin.post(CREATE, form).content.decode()
    link = re.search(r'id="one-time-link">http://testserver(/[^<]+)<', page)[1]
    made = User.objects.get(username="erik")
    assert (role_of(made), made.has_usable_password()) == ("support", False)
    assert list(TenantLimit.objects.values_list("tenant_id", flat=True)) == ["acme", "globex"]
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.action, entry.target, entry.reason) == (
        "the-admin",
        "create_person",
        "user erik",
        "joins the team",
    )
    assert entry.after == {"role": "support", "active": True, "tenants": ["acme", "globex"]}
    assert link not in admin.get("/people/change/?user=erik").content.decode()

    form_page = client.get(link, follow=True)
    assert "Set a password" in form_page.content.decode() and link not in form_page.content.decode()
    weak = client.post(form_page.redirect_chain[-1][0], {"password1": "erik", "password2": "erik"})
    assert weak.status_code == 200 and "too short" in weak.content.decode()
    client.post(form_page.redirect_chain[-1][0], {"password1": PASSWORD, "password2": PASSWORD})
    assert Client().post("/accounts/login/", {"login": "erik", "password": PASSWORD}).status_code == 302
    assert "leads nowhere any more" in Client().get(link, follow=True).content.decode()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"username": "The-Admin"}, "somebody has this name already"),
        ({"username": "e rik"}, "only letters, digits"),
        ({"username": HOSTILE}, "only letters, digits"),
        ({"username": ""}, "Write a name to sign in with."),
        ({"role": "king"}, "is not one of the available choices"),
        ({"role": "operator", "tenants": "acme"}, "only viewer and support can be limited"),
        ({"tenants": "a" * 301}, "longer than 300"),
        ({"reason": " "}, "Write why, in a few words."),
    ],
)
def test_what_cannot_be_made_says_which_field(admin: Client, change: dict[str, str], message: str) -> None:
    response = admin.post(CREATE, {"username": "erik", "role": "support", "reason": "x"} | change)
    assert response.status_code == 422
    assert message in response.content.decode()
    assert User.objects.count() == 1 and not AuditEntry.objects.exists()


def test_the_second_of_two_admins_is_told_and_takes_no_limit_away(admin: Client) -> None:
    TenantLimit.objects.create(user=user("support", "lena"), tenant_id="acme")
    seen = re.search(r'name="seen" value="([^"]+)"', admin.get("/people/change/?user=lena").content.decode())[1]
    form = {"user": "lena", "role": "support", "active": "on", "reason": "x", "seen": seen}
    assert admin.post(CHANGE, form | {"tenants": "acme\nglobex"}).status_code == 302
    answer = admin.post(CHANGE, form | {"tenants": ""})
    assert answer.status_code == 409 and "was changed since you opened this" in answer.content.decode()
    assert set(TenantLimit.objects.values_list("tenant_id", flat=True)) == {"acme", "globex"}
    assert AuditEntry.objects.filter(action="change_person").count() == 1


def test_a_change_ends_every_session_at_once_and_is_audited(admin: Client, as_role: Callable[..., Client]) -> None:
    theirs, elsewhere, other = as_role("support", "lena"), as_role("support", "lena"), as_role("viewer", "otto")
    assert theirs.get("/jobs/").status_code == 200
    form = {"user": "lena", "role": "viewer", "tenants": "acme", "active": "on", "reason": "moved to billing"}
    assert admin.post(CHANGE, form).status_code == 302
    assert (theirs.get("/jobs/").status_code, elsewhere.get("/jobs/").status_code) == (302, 302)
    assert theirs.get("/live/").status_code == 401
    assert other.get("/jobs/").status_code == 200
    entry = AuditEntry.objects.get(action="change_person")
    assert entry.before == {"role": "support", "active": True, "tenants": "all"}
    assert entry.after == {"role": "viewer", "active": True, "tenants": ["acme"]}
    assert entry.numbers == {"sessions_ended": 2}
    page = admin.get("/people/").content.decode()
    assert "lena" in page and "acme" in page
    assert "acme" in admin.get("/people/change/?user=lena").content.decode()


def test_who_is_switched_off_gets_no_further(admin: Client, as_role: Callable[..., Client]) -> None:
    theirs = as_role("viewer", "lena")
    person = User.objects.get(username="lena")
    person.set_password(PASSWORD)
    person.save()
    admin.post(CHANGE, {"user": "lena", "role": "viewer", "reason": "left"})
    assert theirs.get("/").status_code == 302
    client = Client()
    client.post("/accounts/login/", {"login": "lena", "password": PASSWORD})
    assert client.get("/").status_code == 302
    assert "Switched off" in admin.get("/people/").content.decode()


@pytest.mark.parametrize("form", [{"role": "operator", "active": "on"}, {"role": "admin"}])
def test_the_last_active_admin_stays_one(admin: Client, form: dict[str, str]) -> None:
    off = user("admin", "gone")
    off.is_active = False
    off.save()
    response = admin.post(CHANGE, {"user": "the-admin", "reason": "x"} | form)
    assert response.status_code == 409
    assert "last active admin" in response.content.decode()
    assert role_of(User.objects.get(username="the-admin")) == "admin" and not AuditEntry.objects.exists()
    assert admin.get("/people/").status_code == 200
    user("admin", "second")
    assert admin.post(CHANGE, {"user": "the-admin", "reason": "x"} | form).status_code == 302


@pytest.mark.django_db(transaction=True)
def test_two_admins_cannot_demote_each_other_at_once() -> None:
    user("admin", "dana")
    user("admin", "otto")
    refused, gate = [], threading.Barrier(2)

    def demote(name: str) -> None:
        gate.wait()
        try:
            people.change(DANA, name, role="viewer", tenants=[], active=True, reason="x")
        except LastAdmin:
            refused.append(name)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=demote, args=(name,)) for name in ("dana", "otto")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(refused) == 1
    assert [one.username for one in User.objects.filter(groups__name="admin")] == refused


def test_a_superuser_counts_as_an_admin_until_demoted() -> None:
    boss = user("", "boss")
    boss.is_superuser = True
    boss.save()
    with pytest.raises(LastAdmin):
        people.change(DANA, "boss", role="viewer", tenants=[], active=True, reason="x")
    user("admin", "otto")
    people.change(DANA, "boss", role="viewer", tenants=[], active=True, reason="x")
    boss.refresh_from_db()
    assert (boss.is_superuser, role_of(boss)) == (False, "viewer")


def test_a_lost_password_ends_sessions_and_gives_a_new_link(admin: Client, as_role: Callable[..., Client]) -> None:
    theirs = as_role("viewer", "lena")
    page = admin.post(LINK, {"user": "lena", "reason": "forgot it", "factors": "on"}).content.decode()
    assert "one-time-link" in page
    assert theirs.get("/").status_code == 302
    assert AuditEntry.objects.get().numbers == {"sessions_ended": 1, "factors_removed": 0}
    assert admin.post(LINK, {"user": "lena", "reason": ""}).status_code == 422


def test_a_user_that_is_not_there(admin: Client) -> None:
    for name in ("nobody-of-us", "x" * 400, "a\0b"):
        assert admin.get("/people/change/", {"user": name}).status_code == 404
        assert admin.post(CHANGE, {"user": name, "role": "viewer", "reason": "x"}).status_code == 404


def test_a_reason_is_asked_for_everywhere() -> None:
    user("viewer", "lena")
    for act in (
        lambda: people.create(DANA, username="a", role="viewer", reason=" "),
        lambda: people.change(DANA, "lena", role="viewer", tenants=[], active=True, reason=""),
        lambda: people.reset(DANA, "lena", reason=""),
        lambda: people.end_sessions(DANA, "lena", reason=""),
    ):
        with pytest.raises(InvalidInput, match="reason"):
            act()
