"""The artifacts' pages in a real browser: a file chosen and sent, its page, reading for everyone."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from jobs.artifacts import records
from jobs.ledger import outbox
from jobs.models import LedgerJob, LifecycleEvent, ProjectArtifact
from tests.console.looks import look
from tests.factories import HOSTILE, LONG, ArtifactFactory, ArtifactFileFactory, JobFactory

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
def some() -> None:
    words = ["checkout", "invoice", "sign-in", "basket", "customer", "payment", "card", "refund", "e-mail", "order"]
    summary = "Word document “Requirements: visitor badges”. Reception prints a badge for each visitor. R1 The system shall print a badge within ten seconds."
    for n, (name, doc_type) in enumerate(
        [
            ("visitor-badges.docx", "REQUIREMENTS"),
            ("checkout-test-cases.csv", "TEST_CASES"),
            ("petstore.yaml", "API_SPEC"),
            ("staging.env", "ENV_CONFIG"),
        ]
    ):
        ArtifactFactory(
            id=f"a{n}",
            tenant_id="acme",
            project_id="portal",
            name=name,
            doc_type=doc_type,
            summary=summary,
            keywords=words,
        )
        ArtifactFileFactory(artifact_id=f"a{n}", tenant_id="acme", size_bytes=18_204 * (n + 1), kind="Word document")
    ArtifactFactory(
        id="a8",
        tenant_id="acme",
        project_id="portal",
        name="scan.pdf",
        status="ERROR",
        summary="AI analysis failed",
        doc_type=None,
        keywords=[],
    )
    ArtifactFactory(
        id="a9",
        tenant_id="acme",
        project_id="portal",
        name="new.md",
        status="PENDING",
        summary=None,
        doc_type=None,
        keywords=[],
    )
    ArtifactFactory(
        id="b", tenant_id=LONG, name=LONG, doc_type=HOSTILE, summary=LONG, keywords=[LONG] * 4, status=HOSTILE
    )
    job = JobFactory(done=True, type="ARTIFACT_INTEL", tenant_id="acme", current_step="Saving results")
    outbox.enqueue(company_id="acme", document_id="a0", hook_type="ARTIFACT_INTEL")
    LedgerJob.objects.create(event_id=LifecycleEvent.objects.get().id, document_id="a0", job_id=job.id)
    records.refresh_project("acme", "portal")


PAGES = ["/artifacts/?tenant=acme&project=portal", "/artifacts/", "/artifacts/artifact/?id=a0", "/artifacts/artifact/?id=b",
         "/artifacts/new/", "/artifacts/reprocess/?id=a8"]  # fmt: skip


def test_every_page_fits_and_can_be_read(page: Page, live_site: str, sign_in: Callable[..., Any], some: None) -> None:
    sign_in("admin")
    for path in PAGES:
        look(page, live_site + path)


def test_a_file_is_sent_and_analysed_again(
    page: Page, live_site: str, sign_in: Callable[..., Any], tmp_path: Path
) -> None:
    sign_in("operator")
    path = tmp_path / "<b>plan.md"
    path.write_text("As a customer, I want to sign in.\n")
    page.goto(live_site + "/artifacts/?tenant=acme")
    page.get_by_role("link", name="Upload…").click()
    expect(page.get_by_role("textbox", name="Tenant")).to_have_value("acme")
    page.get_by_label("File").set_input_files(str(path))
    page.get_by_role("button", name="Upload the file").click()
    expect(page.get_by_role("heading", name="<b>plan.md")).to_be_visible()
    page.get_by_role("link", name="Analyse again…").click()
    dialog = page.locator("#dialog")
    dialog.get_by_label("Reason").fill("new rules")
    dialog.get_by_role("button", name="Analyse again").click()
    expect(page.get_by_text("its analysis is queued again")).to_be_visible()
    assert ProjectArtifact.objects.get().name == "<b>plan.md"
    assert LifecycleEvent.objects.filter(hook_type="ARTIFACT_INTEL").count() == 2
