"""Why isn't this running? One job's gates and a set's reasons, in words, with what clears them."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from jobs.console.views import job as job_view
from jobs.models import SystemConfig, TenantSetting, TypeSetting
from jobs.queue import waiting
from tests.console.addresses import HTMX
from tests.factories import HOSTILE, JobFactory, PauseFactory, WorkerFactory, at, everything

pytestmark = pytest.mark.django_db


def gates(client: Client, job_id: str = "j") -> dict[str, tuple[str, str]]:
    """Gate → its result and the row's text."""
    page = client.get(f"/jobs/{job_id}/", headers=HTMX).content.decode()
    table = page.split('aria-label="Gates"')[1].split("</table>")[0]
    found = {}
    for result, row in re.findall(r'<tr class="(\w+)">(.*?)</tr>', table, re.DOTALL):
        text = re.sub(r"<[^>]+>", " ", row)
        name = re.search(r'scope="row"[^>]*>([^<]+)<', row)
        assert name
        found[name[1]] = (result, " ".join(text.split()))
    return found


def answer(client: Client, job_id: str = "j") -> str:
    page = client.get(f"/jobs/{job_id}/", headers=HTMX).content.decode()
    return " ".join(re.sub(r"<[^>]+>", " ", page.split('class="answer">')[1].split("</p>")[0]).split())


@pytest.fixture
def ready() -> None:
    JobFactory(id="j", tenant_id="acme", project_id="web", type="CRAWL")
    WorkerFactory(id="w:1:a", types=["CRAWL"], slots=8)


def test_the_gates_stand_in_the_order_of_the_claim(viewer: Client, ready: None) -> None:
    found = gates(viewer)
    assert list(found) == [
        "Pause, everything", "State", "Not before", "Pause, type, tenant or project", "Tenant’s cap", "Type’s cap",
        "Worker with a handler", "Free slot", "Turn",
    ]  # fmt: skip
    assert {result for result, _ in found.values()} == {"pass"}
    assert "it is the next of all" in found["Turn"][1]
    assert "Waits for its turn." in answer(viewer)
    assert "Nothing holds it" in viewer.get("/jobs/j/").content.decode()


def shut(found: dict[str, tuple[str, str]]) -> list[str]:
    return [name for name, (result, _) in found.items() if result == "blocks"]


def test_a_pause_says_who_why_and_until_when(viewer: Client, ready: None) -> None:
    PauseFactory(type=None, project_id="web", owner="kim", reason="their API answers 502", ends_at=at(2099, 1, 1, 4))
    found = gates(viewer)
    assert shut(found) == ["Pause, type, tenant or project"]
    assert "by kim: their API answers 502" in found["Pause, type, tenant or project"][1]
    assert "04:00 UTC, or lift it" in found["Pause, type, tenant or project"][1]
    assert "All types for project web are paused until 04:00 UTC." in answer(viewer)


def test_what_pauses_everything_is_a_gate_of_its_own(viewer: Client, ready: None) -> None:
    SystemConfig.objects.create(key="queue.paused", value="true")
    found = gates(viewer)
    assert shut(found) == ["Pause, everything"]
    assert "another program" in found["Pause, everything"][1]


def test_a_full_tenant_links_to_the_jobs_that_fill_it_and_marks_the_silent(viewer: Client, ready: None) -> None:
    for index in range(4):
        JobFactory(tenant_id="acme", running=True, heartbeat_at=timezone.now() - timedelta(minutes=index))
    found = gates(viewer)
    assert shut(found) == ["Tenant’s cap"]
    assert "acme uses 4 of 4 slots; 3 of them silent" in found["Tenant’s cap"][1]
    assert "/jobs/?tenant=acme&amp;state=RUNNING%2CCANCEL_REQUESTED" in viewer.get("/jobs/j/").content.decode()
    assert viewer.get("/jobs/?tenant=acme&state=RUNNING,CANCEL_REQUESTED").content.decode().count("data-id=") == 4


def test_a_suspended_tenant_a_full_type_a_later_time(viewer: Client, ready: None) -> None:
    TenantSetting.objects.create(tenant_id="acme", cap=0, updated_by="kim")
    TypeSetting.objects.create(type="CRAWL", cap=0, updated_by="kim")
    job = JobFactory(id="later", tenant_id="b", type="CRAWL", next_retry_at=timezone.now() + timedelta(hours=2))
    assert shut(gates(viewer)) == ["Tenant’s cap", "Type’s cap"]
    assert answer(viewer).startswith("acme is suspended: its cap is 0, and CRAWL is suspended: its cap is 0.")
    found = gates(viewer, job.id)
    assert shut(found) == ["Not before", "Type’s cap"]
    assert "( in 1 h )" in found["Not before"][1]


def test_no_worker_a_silent_one_and_another_programs(viewer: Client) -> None:
    JobFactory(id="j", type="CRAWL", tenant_id="acme")
    assert shut(gates(viewer)) == ["Worker with a handler"]
    assert "no live worker" in answer(viewer).lower()
    WorkerFactory(types=["CRAWL"], heartbeat_at=timezone.now() - timedelta(minutes=3))
    assert "The workers for CRAWL are silent (1)." in answer(viewer)
    JobFactory(running=True, type="CRAWL", worker_id="node-7", tenant_id="z")
    found = gates(viewer)
    assert found["Worker with a handler"][0] == found["Free slot"][0] == "unknown"
    assert shut(found) == []
    assert "Waits for another program’s worker." in answer(viewer)


def test_every_slot_in_use(viewer: Client, ready: None) -> None:
    for _ in range(8):
        JobFactory(tenant_id="z", running=True, type="OTHER", worker_id="w:1:a")
    assert shut(gates(viewer)) == ["Free slot"]
    assert "All 8 slots for CRAWL are in use." in answer(viewer)


def test_what_is_ahead(viewer: Client, ready: None) -> None:
    JobFactory(tenant_id="acme", type="CRAWL", queued_at=timezone.now() - timedelta(hours=1))
    JobFactory(tenant_id="b", type="CRAWL", priority=3)
    JobFactory(tenant_id="c", type="CRAWL")
    turn = gates(viewer)["Turn"][1]
    assert "1 older of its own tenant and type, 1 of higher priority, takes turns with 1 other tenant" in turn


def test_too_slow_to_count_is_unknown_not_a_guess(viewer: Client, ready: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_view, "_ahead", lambda job_id: None)
    assert gates(viewer)["Turn"][0] == "unknown"


# --- a set ------------------------------------------------------------------------------------------------------------
def reasons(client: Client, query: str = "") -> dict[str, int]:
    page = client.get(f"/why/?{query}", headers=HTMX).content.decode()
    if "Nothing waits" in page:
        return {}
    table = page.split('aria-label="Reasons"')[1].split("</table>")[0]
    return {
        name: int(number.replace(",", ""))
        for name, number in re.findall(r'scope="row"[^>]*>([^<]+)</th><td class="[^"]*">([\d,]+)', table)
    }


@pytest.fixture
def a_set() -> None:
    WorkerFactory(id="w:1:a", types=["CRAWL", "DISCOVER"], slots=40)
    for index in range(4):
        JobFactory(tenant_id="full", running=True, worker_id=f"n{index}")
    JobFactory.create_batch(5, tenant_id="full", type="CRAWL")
    JobFactory.create_batch(3, tenant_id="b", type="DISCOVER", project_id="web")
    JobFactory.create_batch(2, tenant_id="b", type="CRAWL")
    JobFactory.create_batch(2, tenant_id="b", type="CRAWL", next_retry_at=timezone.now() + timedelta(hours=1))
    JobFactory(tenant_id="b", type="IMPORT_TESTS", submitted_by="dana", priority=5)
    PauseFactory(type="DISCOVER")
    JobFactory(dead=True)


def test_a_set_is_split_by_its_reasons(viewer: Client, a_set: None) -> None:
    assert reasons(viewer) == {
        "At their tenant’s cap": 5, "Held by a pause": 3, "Not due yet": 2, "Without a live worker": 1,
        "Waiting for their turn": 2,
    }  # fmt: skip
    page = viewer.get("/why/").content.decode()
    assert "Of 13 queued jobs:" in page and "11 held" in page


def test_the_filter_holds_for_a_set_too(viewer: Client, a_set: None) -> None:
    assert reasons(viewer, "tenant=full") == {"At their tenant’s cap": 5}
    assert reasons(viewer, "type=CRAWL&tenant=b") == {"Not due yet": 2, "Waiting for their turn": 2}
    assert reasons(viewer, "submitted=dana&priority=%3E0") == {"Without a live worker": 1}
    assert reasons(viewer, "project=web") == {"Held by a pause": 3}
    assert reasons(viewer, "tenant=nobody") == {}
    page = viewer.get("/why/?tenant=b", headers=HTMX).content.decode()
    assert "/jobs/?tenant=b&amp;type=DISCOVER&amp;state=QUEUED" in page


def test_a_paused_project_holds_its_own_jobs_alone(viewer: Client, a_set: None) -> None:
    PauseFactory(type=None, tenant_id="b", project_id="web")
    JobFactory(tenant_id="b", type="CRAWL", project_id="web")
    assert reasons(viewer, "tenant=b&type=CRAWL") == {
        "Held by a pause": 1,
        "Not due yet": 2,
        "Waiting for their turn": 2,
    }


def test_more_than_is_looked_at_says_at_least(viewer: Client, a_set: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from jobs.console.queries import jobs as read

    monkeypatch.setattr(read, "MOST_LANES", 1)
    page = viewer.get("/why/").content.decode()
    assert "Of ≥ 5 queued jobs:" in page and "More wait than were looked at." in page


def test_the_list_leads_there(viewer: Client, a_set: None) -> None:
    page = viewer.get("/jobs/?tenant=b&state=QUEUED").content.decode()
    assert 'href="/why/?tenant=b"' in page and "Why waiting" in page
    assert "Why waiting" not in viewer.get("/jobs/?state=DONE").content.decode()


def test_hostile_text_is_text(viewer: Client) -> None:
    everything(HOSTILE)
    TenantSetting.objects.create(tenant_id=HOSTILE, cap=0, updated_by="kim")
    PauseFactory(type=HOSTILE, reason=HOSTILE, owner=HOSTILE)
    page = viewer.get("/why/").content.decode()
    assert "<svg/onload" not in page and "&lt;svg/onload" in page


def test_the_words_of_the_list_are_the_gates(viewer: Client, a_set: None) -> None:
    page = viewer.get("/jobs/?state=QUEUED", headers=HTMX).content.decode()
    for text in ("full uses 4 of 4 slots", "DISCOVER is paused with no end set", "no live worker has a handler for IMPORT_TESTS",
                 "waits for its turn", "not to start before then"):  # fmt: skip
        assert text in page, text
    assert waiting.explain([]) == {}
