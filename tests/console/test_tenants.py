"""Who suffers, and who takes the capacity: shares, fair shares, and a starvation alarm that names both."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from jobs.console.queries import overview, tenants
from jobs.console.queries.overview.tenants import Capacity
from jobs.models import TallyTenant, TenantSetting
from tests.console.test_failures import fold
from tests.factories import JobFactory, PauseFactory, WorkerFactory

pytestmark = pytest.mark.django_db


def took(tenant: str, seconds: float, started: int = 10, minutes_ago: int = 1) -> None:
    minute = timezone.now().replace(second=0, microsecond=0) - timedelta(minutes=minutes_ago)
    TallyTenant.objects.create(minute=minute, tenant_id=tenant, started=started, seconds=seconds)


def waits(tenant: str, n: int = 1, minutes: float = 14, **columns: Any) -> None:
    JobFactory.create_batch(n, tenant_id=tenant, queued_at=timezone.now() - timedelta(minutes=minutes), **columns)


def test_shares_are_set_against_fair_ones_by_weight() -> None:
    took("fjordline", 300)
    took("acme", 100)
    TenantSetting.objects.create(tenant_id="acme", weight=3, updated_by="kim")
    lines = {line.tenant: line for line in overview.read_detail().tenants}
    assert (lines["fjordline"].share, lines["fjordline"].fair) == (0.75, 0.25)
    assert (lines["acme"].share, lines["acme"].fair) == (0.25, 0.75)
    assert lines["fjordline"].times_fair == 3


def test_a_run_under_way_counts_as_far_as_it_is() -> None:
    JobFactory(running=True, tenant_id="long", started_at=timezone.now() - timedelta(hours=9))
    JobFactory(running=True, tenant_id="short", started_at=timezone.now() - timedelta(seconds=100))
    JobFactory(running=True, tenant_id="odd", started_at=timezone.now() + timedelta(days=400))
    JobFactory(running=True, tenant_id="inline", inline=True)
    lines = {line.tenant: line for line in overview.read_detail().tenants}
    assert lines["long"].share == pytest.approx(0.9, abs=0.01) and lines["short"].share == pytest.approx(0.1, abs=0.01)
    assert not lines["odd"].share and "inline" not in lines


def test_a_flood_and_a_starved_tenant_are_both_named(viewer: Client) -> None:
    WorkerFactory()
    took("flood", 5000, 500)
    waits("flood", 30, minutes=1)
    waits("small")
    found = overview.read_detail()
    assert list(found.starved) == ["small"] and found.greediest is not None and found.greediest.tenant == "flood"
    page = viewer.get("/").content.decode()
    assert (
        "1 starved" in page
        and "small has had no start for 14 min" in page
        and "flood takes 100 %" in page.replace("100%", "100 %")
    )
    assert "Starved" in viewer.get("/tenants/").content.decode()


@pytest.mark.parametrize(
    "reason", ["paused", "project", "type paused", "cap", "suspended", "no handler", "nobody starts", "short"]
)
def test_who_waits_for_a_known_reason_does_not_starve(reason: str) -> None:
    WorkerFactory(types=["OTHER"] if reason == "no handler" else ["CRAWL"])
    took("others", 100, minutes_ago=14 if reason == "nobody starts" else 1)
    waits("small", minutes=1 if reason == "short" else 14)
    if reason == "paused":
        PauseFactory(type=None, tenant_id="small")
    if reason == "project":
        PauseFactory(type=None, tenant_id="small", project_id="web")
    if reason == "type paused":
        PauseFactory(type="CRAWL")
    if reason == "cap":
        JobFactory.create_batch(4, running=True, tenant_id="small")
    if reason == "suspended":
        TenantSetting.objects.create(tenant_id="small", cap=0, updated_by="kim")
    assert overview.read_detail().starved == {}


def test_jains_index() -> None:
    even = Capacity({"a": 5.0, "b": 5.0}, {}, {}, {})
    assert even.fairness() == pytest.approx(1) and Capacity({"a": 1.0}, {}, {}, {}).fairness() is None
    assert Capacity({"a": 3.0, "b": 1.0}, {}, {}, {"a": 3}).fairness() == pytest.approx(1)
    assert Capacity({"a": 1000.0, "b": 0.001}, {}, {}, {}).fairness() == pytest.approx(0.5, abs=0.01)


def test_the_page_shows_caps_waits_and_marks(viewer: Client) -> None:
    WorkerFactory()
    TenantSetting.objects.create(tenant_id="closed", cap=0, updated_by="kim", note="contract ended")
    waits("closed", 2)
    waits("full", 3)
    JobFactory.create_batch(4, running=True, tenant_id="full")
    page = viewer.get("/tenants/").content.decode()
    assert "4 of 4" in page and "Suspended" in page and "suspended, cap 0" in page and "contract ended" in page
    only = viewer.get("/tenants/?name=clos").content.decode()
    assert "closed" in only and "4 of 4" not in only


def test_of_many_tenants_the_busiest_are_shown_and_all_are_counted(
    viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tenants, "MOST", 3)
    for index, name in enumerate(["one", "two", "three", "four"], 1):
        waits(name, index)
    JobFactory.create_batch(3, running=True, tenant_id="two")
    JobFactory(done=True, tenant_id="idle")
    fold()
    waiting = overview.read_detail().waiting
    assert waiting == ["four", "three", "two", "one"]
    rows = tenants.page("", {"two": 3}, ["one"], waiting)
    assert [row["tenant_id"] for row in rows] == ["one", "four", "three"]
    assert (rows[1]["queued"], rows[1]["total"]) == (4, 4)
    assert [row["tenant_id"] for row in tenants.page("o", {"two": 3}, [], waiting)] == ["four", "two", "one"]
    page = viewer.get("/tenants/").content.decode()
    assert "5 with jobs; the busiest 3 are shown" in page and "idle" not in page


def test_nobody_starves_when_many_wait_for_few_starts() -> None:
    WorkerFactory()
    took("others", 100, started=30)  # two starts a minute
    for index in range(20):
        waits(f"t{index}", minutes=25)
    assert overview.read_detail().starved == {}, "a round takes ten minutes: three have not passed"
    for index in range(20):
        waits(f"t{index}", minutes=45)
    took("t3", 5, started=1, minutes_ago=20)
    assert set(overview.read_detail().starved) == {f"t{index}" for index in range(20)} - {"t3"}
