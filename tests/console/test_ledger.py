"""The ledger's pages: every count leads to its rows, a document has its story, what is stuck is retried or purged."""

import html
import re
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from jobs.ledger import outbox
from jobs.models import AuditEntry, LedgerJob, LifecycleEvent, TenantLimit
from tests.console.addresses import HTMX, LEDGER_PAGES
from tests.factories import HOSTILE, LONG, EventFactory, JobFactory, user

pytestmark = pytest.mark.django_db


def text(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200, response.content[:500]
    return html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode()))


def posted(client: Client, verb: str, **form: Any) -> Any:
    return client.post(f"/actions/ledger-{verb}/", {"reason": "the index is back"} | form)


def statuses() -> dict[str, tuple[str, int]]:
    return {row.id: (row.status, row.attempts) for row in LifecycleEvent.objects.all()}


# --- Looking ----------------------------------------------------------------------------------------------------------
def test_each_count_leads_to_exactly_its_rows(viewer: Client) -> None:
    for n in range(3):
        EventFactory(id=f"f{n}", document_id=f"failed-{n}", hook_type="MAIL")
    EventFactory(id="x", document_id="exhausted-0", hook_type="MAIL", status="pending", attempts=5)
    EventFactory(id="p", document_id="waiting-0", hook_type="INDEX", status="pending")
    page = viewer.get("/ledger/").content.decode()
    found = {(html.unescape(url), int(n)) for url, n in re.findall(r'<a href="(/ledger/\?[^"]+)">(\d+)</a>', page)}
    assert len(found) == 3
    for url, n in found:
        assert len(re.findall(r'id="event-', viewer.get(url).content.decode())) == n, url
    assert "3 failed, 1 exhausted" in text(viewer, "/ledger/")


def test_the_address_narrows_by_company_document_and_hook(viewer: Client) -> None:
    EventFactory(id="a", company_id="acme", document_id="plan")
    EventFactory(id="b", company_id="globex", document_id="report")
    for narrow in ("company=acme", "document=plan"):
        page = text(viewer, f"/ledger/?{narrow}")
        assert "plan" in page and "report" not in page
    assert "No event is here" in text(viewer, "/ledger/?hook=NOBODYS")


def test_lists_are_paged_by_key(viewer: Client) -> None:
    for n in range(60):
        EventFactory(document_id=f"doc-{n:02}")
    first = viewer.get("/ledger/").content.decode()
    older = html.unescape(re.search(r'rel="next"[^>]*href="([^"]+)"', first)[1])
    ids = [re.findall(r'id="event-([^"]+)"', page) for page in (first, viewer.get(older).content.decode())]
    assert (len(ids[0]), len(ids[1]), len({*ids[0], *ids[1]})) == (50, 10, 60)


def test_a_documents_story_has_its_events_and_their_jobs(viewer: Client) -> None:
    job = JobFactory(dead=True, type="ARTIFACT_INTEL")
    EventFactory(id="e1", company_id="acme", document_id="plan", hook_type="ANALYSE", status="succeeded")
    EventFactory(id="e2", company_id="acme", document_id="plan", hook_type="MAIL", attempts=3)
    EventFactory(id="e3", company_id="globex", document_id="plan", hook_type="THEIRS")
    LedgerJob.objects.create(event_id="e1", document_id="plan", job_id=job.id)
    LedgerJob.objects.create(event_id="e1", document_id="plan", job_id="purged-job")
    page = text(viewer, "/ledger/document/?company=acme&document=plan")
    assert page.index("MAIL: Failed") < page.index("ANALYSE: Succeeded") and "THEIRS" not in page
    assert "ARTIFACT_INTEL" in page and "is gone" in page and "3 attempts" in page
    assert viewer.get("/ledger/document/").status_code == 404


def test_who_is_limited_to_a_company_sees_its_events_alone_and_changes_none(as_role: Any) -> None:
    client = as_role("support")
    TenantLimit.objects.create(user=user("support"), tenant_id="acme")
    EventFactory(id="own", company_id="acme", document_id="plan", hook_type="MAIL")
    EventFactory(id="theirs", company_id="globex", document_id="report", hook_type="SECRET")
    page = text(client, "/ledger/")
    assert "plan" in page and "report" not in page and "SECRET" not in page and "1 failed" in page
    assert "Contradictions" not in page
    assert client.get("/ledger/document/?company=acme&document=plan").status_code == 200
    assert client.get("/ledger/document/?company=globex&document=report").status_code == 404
    for id in ("own", "theirs"):
        assert posted(client, "retry", id=id).status_code in {403, 404}
    assert client.get("/ledger/act/?verb=retry&id=theirs").status_code == 403
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize("value", [*HOSTILE, LONG])
def test_what_is_stored_is_never_markup(viewer: Client, value: str) -> None:
    EventFactory(id="e", company_id="acme", document_id=value[:500], hook_type=value[:500], last_error=value)
    for path in ["/ledger/", *LEDGER_PAGES]:
        response = viewer.get(path.format(quote(value[:500] if "document" in path else "e", safe="")))
        assert response.status_code == 200 and "<script>alert" not in response.content.decode()


# --- Acting -----------------------------------------------------------------------------------------------------------
def test_a_failed_event_that_is_retried_waits_with_all_its_attempts_and_the_audit_keeps_what_it_was(
    operator: Client,
) -> None:
    EventFactory(id="e", attempts=5)
    assert posted(operator, "retry", id="e").status_code == 302
    assert statuses() == {"e": ("pending", 0)}
    assert [event.id for event in outbox.claim_pending_batch(10, 5)] == ["e"]
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.target, entry.reason) == ("ledger_retry", "event e", "the index is back")
    assert (entry.before["attempts"], entry.before["last_error"]) == (5, "connection refused")


@pytest.mark.parametrize("status", ["running", "succeeded", "pending"])
@pytest.mark.parametrize("verb", ["retry", "purge"])
def test_an_event_that_is_not_stuck_is_refused(admin: Client, verb: str, status: str) -> None:
    EventFactory(id="e", status=status, attempts=1)
    response = posted(admin, verb, id="e")
    assert response.status_code == 409 and f"is {status}" in response.content.decode()
    assert statuses() == {"e": (status, 1)} and not AuditEntry.objects.exists()
    assert posted(admin, verb, id="nowhere").status_code == 404


def test_a_hundred_exhausted_events_are_retried_as_they_were_previewed(operator: Client) -> None:
    for n in range(100):
        EventFactory(id=f"x{n}", status="pending", attempts=5, company_id="acme")
    EventFactory(id="theirs", status="pending", attempts=5, company_id="globex")
    EventFactory(id="failed", company_id="acme", attempts=5)
    preview = operator.get("/ledger/act/?verb=retry&state=exhausted&company=acme", headers=HTMX).content.decode()
    assert "Retry 100 exhausted events" in preview
    seen = re.search(r'name="seen" value="([^"]+)"', preview)[1]
    EventFactory(id="later", status="pending", attempts=5, company_id="acme")
    assert "100 exhausted" not in text(operator, "/ledger/")  # 102 by now
    assert posted(operator, "retry", state="exhausted", company="acme", seen=html.unescape(seen)).status_code == 302
    left = {id for id, found in statuses().items() if found == ("pending", 5)}
    assert left == {"theirs", "later"} and statuses()["failed"] == ("failed", 5)
    entry = AuditEntry.objects.get()
    assert (entry.numbers, entry.filter) == ({"done": 100}, {"state": "exhausted", "company_id": "acme"})


def test_a_purge_keeps_what_it_deletes_in_the_audit_trail(admin: Client) -> None:
    EventFactory(id="e", payload_json='{"n": 1}')
    LedgerJob.objects.create(event_id="e", document_id="d", job_id="j")
    assert posted(admin, "purge", state="failed").status_code == 302
    assert statuses() == {} and not LedgerJob.objects.exists()
    assert AuditEntry.objects.get().before["e"]["payload_json"] == '{"n": 1}'


def test_without_a_reason_nothing_is_done_and_what_is_not_stuck_has_no_such_action(admin: Client) -> None:
    EventFactory(id="e")
    assert posted(admin, "retry", id="e", reason=" ").status_code == 422
    assert posted(admin, "retry", state="running").status_code == 404
    assert statuses() == {"e": ("failed", 0)}


@pytest.mark.parametrize("part", [{"company": "a\x00"}, {"document": "x" * 301}, {"hook": "\x00"}, {"seen": "lately"}])
def test_a_part_that_cannot_be_used_is_never_read_as_all_of_them(admin: Client, part: dict[str, str]) -> None:
    EventFactory(id="a", company_id="acme")
    EventFactory(id="b", company_id="globex", document_id="x" * 300)
    for verb in ("retry", "purge"):
        assert posted(admin, verb, state="failed", **part).status_code == 422
    assert statuses() == {"a": ("failed", 0), "b": ("failed", 0)} and not AuditEntry.objects.exists()


# --- Contradictions ---------------------------------------------------------------------------------------------------
def test_events_and_jobs_that_agree_contradict_nothing(viewer: Client) -> None:
    for state in ({"done": True}, {"running": True}, {"retry_wait": True}, {}):
        job, event = JobFactory(**state), EventFactory(status="succeeded")
        LedgerJob.objects.create(event_id=event.id, document_id="d", job_id=job.id)
    EventFactory(status="failed", attempts=5)
    EventFactory(status="pending", attempts=5)
    EventFactory(status="running", attempts=1)
    assert "Events and jobs agree" in text(viewer, "/ledger/contradictions/")


def test_every_contradiction_is_found_and_explained(viewer: Client) -> None:
    dead = JobFactory(dead=True)
    made = [
        ("lost", "succeeded", "gone"),
        ("dead", "succeeded", dead.id),
        ("stuck", "failed", JobFactory(done=True).id),
    ]
    for name, status, job_id in made:
        EventFactory(id=name, document_id=f"doc-{name}", status=status)
        LedgerJob.objects.create(event_id=name, document_id="d", job_id=job_id)
    EventFactory(document_id="doc-silent", status="running", updated_at="2026-01-01T00:00Z")
    EventFactory(document_id="doc-many", status="pending", attempts=9)
    page = text(viewer, "/ledger/contradictions/")
    for name in ("lost", "dead", "stuck", "silent", "many"):
        assert page.count(f"doc-{name}") == 1, name
    assert "the job it made is gone" in page and "Its process is gone" in page


# --- Secrets ----------------------------------------------------------------------------------------------------------
def test_an_error_that_quotes_a_secret_shows_none_of_it(admin: Client, settings: Any) -> None:
    settings.DETIQ = replace(settings.DETIQ, masked_keys=["houseCode"])
    error = "RuntimeError: {'password': 'hunter2'} houseCode=hunter2 at https://x.example/"
    EventFactory(id="e", document_id="plan", company_id="acme", last_error=error, payload_json='{"token": "hunter2"}')
    for url in ("/ledger/", "/ledger/document/?company=acme&document=plan", "/ledger/act/?verb=purge&id=e"):
        assert "hunter2" not in text(admin, url), url
    assert "at https://x.example/" in text(admin, "/ledger/")
    posted(admin, "purge", id="e")
    assert "hunter2" not in str(AuditEntry.objects.get().before)
    assert "plan" in str(AuditEntry.objects.get().before)
