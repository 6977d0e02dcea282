"""Pauses from the console."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from jobs.models import AuditEntry, Job, Pause, SystemConfig
from tests.console.addresses import HTMX
from tests.factories import JobFactory, PauseFactory

pytestmark = pytest.mark.django_db


def test_a_pause_has_a_scope_a_reason_and_an_end(operator: Client) -> None:
    for _ in range(3):
        JobFactory(type="CRAWL", tenant_id="acme")
    response = operator.post("/actions/pause/", {"type": "CRAWL", "tenant": "acme", "ends": "3600", "reason": "502s"})
    assert response.status_code == 302
    pause = Pause.objects.get()
    assert (pause.scope, pause.reason, pause.owner) == ("CRAWL for acme", "502s", "the-operator")
    assert AuditEntry.objects.get().action == "pause"
    page = operator.get("/pauses/").content.decode()
    assert "CRAWL for acme" in page and "502s" in page and "holds 3" in page
    for path in ("/jobs/", "/settings/"):
        assert "1 pause holds 3 jobs." in operator.get(path).content.decode()


@pytest.mark.parametrize(
    "form", [{"reason": "x"}, {"type": "CRAWL", "everything": "on", "reason": "x"}, {"type": "CRAWL"},
             {"type": "a\x00", "reason": "x"}, {"type": "CRAWL", "reason": "x", "ends": "-5"},
             {"type": "CRAWL", "reason": "x", "ends": "1e99"}],
)  # fmt: skip
def test_an_unclear_pause_is_refused(admin: Client, form: dict[str, str]) -> None:
    response = admin.post("/actions/pause/", {"ends": "3600"} | form, headers=HTMX)
    assert response.status_code == 422 and "problem" in response.content.decode()
    assert not Pause.objects.exists()


def test_only_an_admin_pauses_without_an_end(as_role: Callable[..., Client]) -> None:
    form = {"everything": "on", "reason": "incident", "ends": ""}
    assert as_role("operator").post("/actions/pause/", form).status_code == 403
    assert not Pause.objects.exists()
    assert "when somebody lifts it" not in as_role("operator").get("/pauses/new/").content.decode()
    assert as_role("admin").post("/actions/pause/", form).status_code == 302


def test_the_flag_of_another_program_is_shown_as_such_and_can_be_lifted(operator: Client) -> None:
    SystemConfig.objects.create(key="queue.paused", value="true")
    JobFactory()
    assert "another program" in operator.get("/pauses/").content.decode()
    assert "Everything is paused" in operator.get("/").content.decode()
    assert "sets it to false" in operator.get("/pauses/lift/?id=", headers=HTMX).content.decode()
    assert operator.post("/actions/resume/", {"id": "", "reason": "it is over"}).status_code == 302
    assert SystemConfig.objects.get().value == "false"


def test_what_a_pause_would_hold_is_said_before(operator: Client) -> None:
    JobFactory.create_batch(2, type="CRAWL")
    JobFactory(running=True, type="CRAWL")
    said = operator.get("/pauses/effect/", {"type": "CRAWL"}, headers=HTMX).content.decode()
    assert "Holds 2 queued jobs now." in said and "1 running job will finish" in said
    JobFactory(type="CRAWL", project_id="web")
    JobFactory(type="CRAWL", project_id="web", retry_wait=True)
    said = operator.get("/pauses/effect/", {"project": "web"}, headers=HTMX).content.decode()
    assert "Holds 1 queued job now." in said and "1 retry in wait" in said
    assert operator.get("/pauses/effect/", {"type": "\x00"}).status_code == 200


def test_a_pause_already_lifted_is_said(operator: Client) -> None:
    pause = PauseFactory()
    form = {"id": str(pause.pk), "reason": "over"}
    assert operator.post("/actions/resume/", form | {"reason": ""}).status_code == 422
    assert operator.post("/actions/resume/", form).status_code == 302
    for pause_id in (form["id"], "999999999999999999", "abc", "1 OR 1=1"):
        response = operator.post("/actions/resume/", form | {"id": pause_id})
        assert response.status_code == 409 and "nothing changed" in response.content.decode()
    ended = operator.get("/pauses/").content.decode()
    assert "the-operator: over" in ended


def test_lifting_one_of_several_says_what_still_holds(operator: Client) -> None:
    """Several at once: what overlaps the lifted one still holds, what does not is left out."""
    lifted = PauseFactory(type="CRAWL", tenant_id="acme")
    PauseFactory(type="CRAWL", reason="502s")
    PauseFactory(type=None, tenant_id="acme", reason="contract")
    PauseFactory(type="DISCOVER", reason="elsewhere")
    JobFactory(type="CRAWL", tenant_id="acme")
    dialog = operator.get("/pauses/lift/", {"id": lifted.pk}, headers=HTMX).content.decode()
    assert "Still held afterwards" in dialog and "502s" in dialog and "contract" in dialog and "elsewhere" not in dialog
    response = operator.post("/actions/resume/", {"id": str(lifted.pk), "reason": "over"}, headers=HTMX)
    toast = response["HX-Trigger"]
    assert "Still held by 2 pauses" in toast and "All types for acme" in toast and "DISCOVER" not in toast


def test_what_started_after_a_pause_is_listed_until_it_is_over(operator: Client) -> None:
    PauseFactory(type="CRAWL", created_at=timezone.now() - timedelta(minutes=5))
    JobFactory(running=True, type="CRAWL", name="before it", started_at=timezone.now() - timedelta(minutes=9))
    JobFactory(running=True, type="OTHER", name="another type", started_at=timezone.now())
    page = operator.get("/pauses/").content.decode()
    assert "Nothing that runs started after its pause" in page
    late = JobFactory(running=True, type="CRAWL", name="slipped", started_at=timezone.now(), worker_id="node-7")
    page = operator.get("/pauses/").content.decode()
    assert "slipped" in page and "node-7" in page and "before it" not in page and "another type" not in page
    assert "Not obeyed by another program" in page
    Job.objects.filter(pk=late.pk).update(status="DONE")
    assert "slipped" not in operator.get("/pauses/").content.decode()
