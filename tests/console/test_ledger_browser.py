"""The ledger's pages in a real browser: retrying what was previewed, reading for everyone, no page wider than its window."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from jobs.models import LedgerJob, LifecycleEvent
from tests.console.looks import look
from tests.factories import HOSTILE, LONG, EventFactory, JobFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(page: Page) -> Iterator[Page]:
    """A page whose console must stay without errors: a violation of the policy is one."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    assert [text for text in said if not re.search("status of 4|Error Code 4", text)] == []


@pytest.fixture
def stuck() -> None:
    job = JobFactory(dead=True, type="ARTIFACT_INTEL", tenant_id="acme")
    for n in range(4):
        EventFactory(company_id="acme", document_id=f"doc_{n}", hook_type="ARTIFACT_INTEL", attempts=5)
    EventFactory(document_id=LONG[:400], company_id=LONG[:400], hook_type=HOSTILE[0][:200], last_error=LONG)
    EventFactory(hook_type="INDEX", status="pending", attempts=5, document_id="doc_8")
    EventFactory(hook_type="INDEX", status="pending", document_id="doc_9")
    EventFactory(hook_type="INDEX", status="running", attempts=1, document_id="plan", company_id="acme")
    EventFactory(id="made", status="succeeded", attempts=1, document_id="plan", company_id="acme", last_error=None,
                 hook_type="ARTIFACT_INTEL", completed_at=timezone.now() - timedelta(minutes=2))  # fmt: skip
    EventFactory(id="twin", status="succeeded", document_id="plan", company_id="acme", last_error=None, ran_with="made")
    EventFactory(attempts=5, document_id="plan", company_id="acme", hook_type="MAIL")
    LedgerJob.objects.create(event_id="made", document_id="plan", job_id=job.id)
    EventFactory(id="late", attempts=5, document_id=LONG[:400], hook_type=HOSTILE[0][:200])
    LedgerJob.objects.create(event_id="late", document_id="plan", job_id=JobFactory(done=True).id)


PAGES = ["/ledger/", "/ledger/document/?company=acme&document=plan", "/ledger/contradictions/",
         "/ledger/act/?verb=purge&state=failed", "/ledger/repair/?kind=stuck_with_job"]  # fmt: skip


def test_every_page_fits_and_can_be_read(page: Page, live_site: str, sign_in: Callable[..., Any], stuck: None) -> None:
    sign_in("admin")
    for path in PAGES:
        look(page, live_site + path)


def test_failed_events_are_retried_as_previewed(
    page: Page, live_site: str, sign_in: Callable[..., Any], stuck: None
) -> None:
    sign_in("operator")
    page.goto(f"{live_site}/ledger/?state=failed&hook=ARTIFACT_INTEL")
    page.get_by_role("link", name="Retry these…").click()
    expect(page.locator("#dialog")).to_contain_text("Retry 4 failed events")
    page.locator("#dialog textarea").fill("the index is back")
    page.locator("#dialog").get_by_role("button", name="Retry 4 events").click()
    expect(page.get_by_text("4 events back in line.")).to_be_visible()
    expect(page.get_by_text("No event is here.")).to_be_visible()
    assert LifecycleEvent.objects.filter(hook_type="ARTIFACT_INTEL", status="pending", attempts=0).count() == 4
