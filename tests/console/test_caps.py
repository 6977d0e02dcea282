"""Caps, weights and notes from the console: what is typed, who may, what two at once get, what is said before."""

from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from jobs.models import AuditEntry, TenantSetting, TypeSetting
from tests.console.addresses import HTMX
from tests.factories import JobFactory

pytestmark = pytest.mark.django_db


def post(client: Client, htmx: bool = True, **form: Any) -> Any:
    return client.post("/actions/cap/", {"id": "acme", "reason": "a test"} | form, headers=HTMX if htmx else {})


def setting() -> dict[str, Any]:
    return TenantSetting.objects.filter(pk="acme").values().first() or {}


def test_zero_suspends_empty_is_the_default_and_nothing_else_is_unlimited(admin: Client) -> None:
    """0 stops a tenant, and the page says so; an empty cap is the default; what is no cap changes nothing."""
    TenantSetting.objects.create(tenant_id="acme", cap=3, updated_by="kim")
    JobFactory.create_batch(2, running=True, tenant_id="acme")
    JobFactory.create_batch(10, tenant_id="acme")
    response = post(admin, cap="0")
    assert response.status_code == 200 and "suspended" in response["HX-Trigger"]
    assert setting()["cap"] == 0
    page = admin.get("/tenants/tenant/?id=acme").content.decode()
    assert "Suspended" in page and "2 running will finish" in page
    response = post(admin, cap="")
    assert "default cap, 4" in response["HX-Trigger"] and setting()["cap"] is None and not setting()["unlimited"]
    before = setting()
    for cap in ("-1", "99999999999", "abc", "unlimited", "1.5", "100001"):
        response = post(admin, cap=cap)
        assert response.status_code == 422 and 'id="cap-problem"' in response.content.decode(), cap
        assert "is no whole number" in response.content.decode()
    assert setting() == before
    assert post(admin, cap="3 ").status_code == 200 and setting()["cap"] == 3
    assert post(admin, cap="5", unlimited="on").status_code == 422
    assert post(admin, cap="", unlimited="on").status_code == 200 and setting()["unlimited"]


@pytest.mark.parametrize(
    ("form", "field"),
    [({"weight": "0"}, "cap-weight-problem"), ({"weight": "x"}, "cap-weight-problem"), ({"note": "x" * 2001}, "problem"),
     ({"ends": "-5"}, "problem"), ({"reason": " "}, "cap-reason-problem"), ({"note": "a\x00"}, "problem")],
)  # fmt: skip
def test_what_cannot_be_used_is_named_and_changes_nothing(admin: Client, form: dict[str, str], field: str) -> None:
    response = post(admin, **{"cap": "5"} | form)
    assert response.status_code == 422 and field in response.content.decode()
    assert not setting() and not AuditEntry.objects.exists()


def test_every_change_is_audited_with_before_and_after(admin: Client) -> None:
    post(admin, cap="5", reason="contract", weight="2", note="gold")
    post(admin, cap="2", weight="2", note="gold", ends="3600")
    first, second = AuditEntry.objects.order_by("id")
    assert (first.action, first.target, first.tenant_id, first.reason) == ("cap", "tenant acme", "acme", "contract")
    assert first.before == {"cap": "default", "weight": 1, "note": ""}
    assert first.after == {"cap": 5, "weight": 2, "note": "gold"} and second.before == first.after
    assert second.after["cap"] == 2 and second.after["then"] == 5 and second.after["ends_at"]
    entry = admin.get(f"/audit/entry/?id={second.pk}").content.decode()
    assert "/tenants/tenant/?id=acme" in entry and "gold" in entry


def test_the_second_of_two_is_told_and_undoes_nothing(admin: Client, as_role: Callable[..., Client]) -> None:
    opened = admin.get("/caps/tenant/?id=acme", headers=HTMX).content.decode()
    assert 'name="version" value="0"' in opened
    post(as_role("admin"), cap="5", note="from Dana", version="0")
    form = {"cap": "9", "note": "", "weight": "3", "version": "0"}
    response = post(admin, **form)
    said = unescape(response.content.decode())
    assert response.status_code == 422 and "changed this since you opened it" in said
    assert "You had typed: cap 9, weight 3" in said and 'name="version" value="1"' in said and "from Dana" in said
    assert post(admin, htmx=False, **form).status_code == 409
    assert (setting()["cap"], setting()["note"], setting()["weight"]) == (5, "from Dana", 1)
    assert AuditEntry.objects.count() == 1


def test_an_operators_cap_ends_by_itself(as_role: Callable[..., Client]) -> None:
    operator = as_role("operator")
    page = operator.get("/caps/tenant/?id=acme", headers=HTMX).content.decode()
    assert "when somebody changes it" not in page
    for form in ({"cap": "5"}, {"cap": "5", "ends": "3600", "weight": "7"}):
        assert post(operator, **form).status_code == 403
    assert not setting()
    assert post(operator, cap="5", ends="3600").status_code == 200
    assert setting()["previous_cap"] is None and setting()["ends_at"] > timezone.now() + timedelta(minutes=59)
    end = setting()["ends_at"]
    assert post(operator, cap="6", ends="keep").status_code == 200 and setting()["ends_at"] == end
    assert post(operator, cap="", ends="back").status_code == 200
    assert (setting()["cap"], setting()["ends_at"]) == (None, None)
    assert post(as_role("support"), cap="5", ends="3600").status_code == 403


def test_an_operator_keeps_no_end_that_lies_further_than_a_day_ahead(
    admin: Client, as_role: Callable[..., Client]
) -> None:
    until = (timezone.now() + timedelta(days=30)).strftime("%Y-%m-%dT%H:%M")
    assert post(admin, cap="3", ends="at", until=until).status_code == 200
    operator, end = as_role("operator"), setting()["ends_at"]
    assert post(operator, cap="0", ends="keep").status_code == 403
    assert setting()["cap"] == 3
    assert post(operator, cap="3", ends="keep", note="asked for by them").status_code == 200
    assert (setting()["cap"], setting()["ends_at"], setting()["note"]) == (3, end, "asked for by them")


def test_what_it_will_do_is_said_before(admin: Client) -> None:
    JobFactory.create_batch(4, running=True, tenant_id="acme")
    JobFactory.create_batch(20, tenant_id="acme")

    def said(**values: str) -> str:
        return unescape(admin.get("/caps/tenant/effect/", {"id": "acme"} | values, headers=HTMX).content.decode())

    assert "4 jobs of acme run now, 20 wait." in said(cap="5") and "up to 5 run: 1 more may start" in said(cap="5")
    assert "all 4 finish, and nothing starts until fewer than 2 run" in said(cap="2")
    assert "suspends acme" in said(cap="0") and "The default cap is 4." in said(cap="")
    assert "Without a limit up to 24 run" in said(cap="", unlimited="on")
    assert "no whole number" in said(cap="abc")


def test_what_another_programs_worker_will_not_obey_is_said(admin: Client) -> None:
    JobFactory(running=True, tenant_id="acme", worker_id="node-crawler-7")
    for path in ("/caps/tenant/?id=acme", "/tenants/tenant/?id=acme", "/pauses/effect/?tenant=acme"):
        page = admin.get(path, headers=HTMX).content.decode()
        assert "node-crawler-7" in page and "queue.paused" in page, path
    assert "node-crawler-7" not in admin.get("/pauses/effect/?everything=on", headers=HTMX).content.decode()


def test_types_have_a_cap_and_a_longest_run(admin: Client) -> None:
    form = {"id": "CRAWL", "cap": "3", "max_run_seconds": "600", "reason": "a test"}
    assert admin.post("/actions/type-cap/", form, headers=HTMX).status_code == 200
    assert TypeSetting.objects.values_list("type", "cap", "max_run_seconds").get() == ("CRAWL", 3, 600)
    assert AuditEntry.objects.get().after == {"cap": 3, "max_run_seconds": 600}
    assert admin.post("/actions/type-cap/", form | {"max_run_seconds": "0"}, headers=HTMX).status_code == 422
    page = admin.get("/types/").content.decode()
    assert "CRAWL" in page and "0 of 3" in page and "10 min" in page and "DISCOVER" in page
    assert "0 of 3" in admin.get("/types/type/?id=CRAWL").content.decode()


@pytest.mark.parametrize("name", ["", " ", "x" * 301, "a\x00b"])
def test_what_is_no_name_is_404(admin: Client, name: str) -> None:
    for path in ("/tenants/tenant/", "/types/type/", "/caps/tenant/", "/caps/type/effect/"):
        assert admin.get(path, {"id": name}).status_code == 404
    assert post(admin, id=name, cap="5").status_code == 404
    assert admin.get("/caps/project/?id=a").status_code == 404
