"""What people do to a job: done once, with a reason, or refused with the state that was found."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from jobs.models import AuditEntry, Job, JobHistory, Worker
from tests.console.addresses import HTMX
from tests.factories import JobFactory

pytestmark = pytest.mark.django_db


def test_cancelling_needs_a_reason_and_keeps_it(operator: Client) -> None:
    job = JobFactory()
    for reason in ("", "   ", "a\x00b", "x" * 2001):
        response = operator.post("/actions/cancel/", {"id": job.id, "reason": reason}, headers=HTMX)
        assert response.status_code == 422 and 'aria-invalid="true"' in response.content.decode()
    assert Job.objects.get().status == "QUEUED"
    response = operator.post("/actions/cancel/", {"id": job.id, "reason": "duplicate"}, headers=HTMX)
    assert response.status_code == 200 and response.content == b""
    assert "cancelled" in json.loads(response["HX-Trigger"])["detiq:toast"]["text"]
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.action, entry.reason, entry.address) == (
        "the-operator",
        "cancel",
        "duplicate",
        "127.0.0.1",
    )
    assert JobHistory.objects.last().reason == "duplicate"


@pytest.mark.parametrize(
    ("action", "trait", "found"),
    [("cancel", "done", "Done"), ("retry", "done", "Done"), ("retry", "running", "Running"), ("run-now", "dead", "Dead"),
     ("rerun", "running", "Running"), ("force-cancel", "done", "Done"), ("cancel", "cancelled", "Cancelled")],
)  # fmt: skip
def test_another_state_is_named_and_nothing_happens(admin: Client, action: str, trait: str, found: str) -> None:
    job = JobFactory(**{trait: True})
    before = Job.objects.filter(pk=job.pk).values().get()
    for headers in ({}, HTMX):
        response = admin.post(f"/actions/{action}/", {"id": job.id, "reason": "x"}, headers=headers)
        assert response.status_code == 409
        assert found in response.content.decode() and "nothing changed" in response.content.decode()
    assert admin.get(f"/dialogs/{action}/", {"id": job.id}).status_code == 409
    assert Job.objects.filter(pk=job.pk).values().get() == before
    assert not AuditEntry.objects.exists() and Job.objects.count() == 1


def test_pressing_twice_acts_once(operator: Client, empty_cache: None) -> None:
    job = JobFactory(dead=True)
    first = operator.post("/actions/retry/", {"id": job.id, "reason": "x"})
    second = operator.post("/actions/retry/", {"id": job.id, "reason": "x"})
    assert (first.status_code, second.status_code) == (302, 409)
    assert AuditEntry.objects.count() == 1 and Job.objects.get().redrive_count == 1
    done = JobFactory(done=True)
    form = {"id": done.id, "reason": "again", "token": "one-form"}
    answers = {operator.post("/actions/rerun/", form)["Location"] for _ in range(3)}
    assert len(answers) == 1 and Job.objects.filter(origin_id=done.id).count() == 1
    operator.post("/actions/rerun/", form | {"token": "another-form"})
    assert Job.objects.filter(origin_id=done.id).count() == 2


def test_a_retry_keeps_the_checkpoint_or_starts_over(operator: Client) -> None:
    kept, dropped = JobFactory(dead=True), JobFactory(dead=True)
    operator.post("/actions/retry/", {"id": kept.id, "reason": "x", "checkpoint": "keep"})
    operator.post("/actions/retry/", {"id": dropped.id, "reason": "x", "checkpoint": "drop"})
    assert Job.objects.get(id=kept.id).checkpoint and not Job.objects.get(id=dropped.id).checkpoint


def test_a_job_that_is_gone_is_404(operator: Client) -> None:
    for headers in ({}, HTMX):
        response = operator.post("/actions/cancel/", {"id": "nope", "reason": "x"}, headers=headers)
        assert response.status_code == 404 and "nope" in response.content.decode() + "nope"
    assert operator.post("/actions/cancel/", {"id": "a\x00", "reason": "x"}).status_code == 404


@pytest.mark.parametrize(
    "name", ['Müller "Süd" \\ Öl', "Рога и копыта", "名前 🦊\nHX-Redirect: https://evil", "x" * 20_000]
)
def test_a_toast_is_ascii_json_whatever_the_name(operator: Client, name: str) -> None:
    job = JobFactory(name=name)
    response = operator.post("/actions/cancel/", {"id": job.id, "reason": name[:1500]}, headers=HTMX)
    assert response.status_code == 200
    header = response["HX-Trigger"]
    assert header.isascii() and len(header) < 4000 and "\n" not in header
    events = json.loads(header)
    assert set(events) == {"detiq:toast", "detiq:close", "detiq:refresh"}
    assert events["detiq:toast"]["text"].startswith(name[:50].strip())
    assert "HX-Redirect" not in response


def test_a_running_job_is_asked_and_only_an_admin_forces(as_role: Callable[..., Client]) -> None:
    job = JobFactory(running=True)
    as_role("support").post("/actions/cancel/", {"id": job.id, "reason": "x"})
    assert Job.objects.get().status == "CANCEL_REQUESTED"
    assert as_role("operator").post("/actions/force-cancel/", {"id": job.id, "reason": "x"}).status_code == 403
    as_role("admin").post("/actions/force-cancel/", {"id": job.id, "reason": "x", "sure": "on"})
    assert Job.objects.get().status == "CANCELLED"


def test_a_priority_is_set_while_it_waits_and_nothing_else_is_touched(operator: Client) -> None:
    """A form never writes back what it did not ask for: the job may run or end while the form is open."""
    job = JobFactory(priority=1)
    for wrong in ("", "x", "1.5", "99999999999", "1000001", "--5"):
        response = operator.post(
            "/actions/set-priority/", {"id": job.id, "reason": "x", "priority": wrong}, headers=HTMX
        )
        assert response.status_code == 422 and "priority-problem" in response.content.decode(), wrong
    assert operator.post("/actions/set-priority/", {"id": job.id, "reason": "x", "priority": "-7"}).status_code == 302
    assert Job.objects.get().priority == -7
    for trait in ({"status": "RUNNING"}, {"status": "DONE", "result": {"pages": 3}}):
        Job.objects.update(**trait)
        before = Job.objects.values().get()
        response = operator.post("/actions/set-priority/", {"id": job.id, "reason": "x", "priority": "3"})
        assert response.status_code == 409 and Job.objects.values().get() == before


def test_a_purge_can_be_undone_at_once_and_later(admin: Client) -> None:
    job = JobFactory(dead=True, name="bad")
    before = Job.objects.values().get()
    response = admin.post("/actions/purge/", {"id": job.id, "reason": "junk"}, headers=HTMX)
    toast = json.loads(response["HX-Trigger"])["detiq:toast"]
    assert not Job.objects.exists() and toast["undo_url"] and toast["undo_until"]
    assert admin.post(toast["undo_url"]).status_code == 302
    assert Job.objects.values().get() == before
    assert admin.post(toast["undo_url"]).status_code == 404  # done once
    admin.post("/actions/purge/", {"id": job.id, "reason": "junk"})
    page = admin.get(f"/jobs/{job.id}/")
    assert page.status_code == 404 and "Restore…" in page.content.decode()
    assert admin.post("/actions/restore/", {"id": job.id, "reason": "needed"}).status_code == 302
    assert Job.objects.values().get() == before
    assert [one.action for one in AuditEntry.objects.order_by("id")] == ["purge", "restore", "purge", "restore"]


@pytest.mark.parametrize("trait", ["running", "cancel_requested", "retry_wait"])
def test_what_has_not_ended_is_not_purged(admin: Client, trait: str) -> None:
    job = JobFactory(**{trait: True})
    assert admin.post("/actions/purge/", {"id": job.id, "reason": "x"}).status_code == 409
    assert Job.objects.exists() and not AuditEntry.objects.exists()


def test_a_dialog_says_that_the_job_has_changed_since_and_does_nothing_yet(operator: Client) -> None:
    job = JobFactory()
    page = operator.get("/dialogs/cancel/", {"id": job.id}, headers=HTMX).content.decode()
    seen = re.search('name="seen" value="([^"]+)"', page)
    assert seen and "It ends at once" in page
    form = {"id": job.id, "reason": "duplicate", "seen": seen[1]}
    Job.objects.update(status="RUNNING", started_at=timezone.now(), heartbeat_at=timezone.now(), worker_id="w:1:a")
    response = operator.post("/actions/cancel/", form, headers=HTMX)
    said = response.content.decode()
    assert (
        response.status_code == 422 and "it is Running now" in said and "asked to stop" in said and "duplicate" in said
    )
    assert Job.objects.get().status == "RUNNING"
    fresh = re.search('name="seen" value="([^"]+)"', said)
    assert fresh and operator.post("/actions/cancel/", form | {"seen": fresh[1]}, headers=HTMX).status_code == 200
    assert Job.objects.get().status == "CANCEL_REQUESTED"


def test_a_retry_dialog_says_where_the_checkpoint_is(operator: Client) -> None:
    job = JobFactory(dead=True, progress=62, current_step="page 31 of 50")
    page = operator.get("/dialogs/retry/", {"id": job.id}, headers=HTMX).content.decode()
    assert "62 %, page 31 of 50; saved" in page
    again = operator.post("/actions/retry/", {"id": job.id, "reason": "", "checkpoint": "drop"}, headers=HTMX)
    assert re.search('value="drop" checked', again.content.decode())


def test_a_retry_from_a_checkpoint_that_is_gone_is_refused(operator: Client) -> None:
    job = JobFactory(dead=True)
    page = operator.get("/dialogs/retry/", {"id": job.id}, headers=HTMX).content.decode()
    seen = page.split('name="seen" value="')[1].split('"')[0]
    Job.objects.filter(pk=job.pk).update(checkpoint=None)
    form = {"id": job.id, "reason": "x", "checkpoint": "keep", "seen": seen}
    answer = operator.post("/actions/retry/", form, headers=HTMX)
    assert answer.status_code == 422 and "has changed since you opened this" in answer.content.decode()
    assert "It has none" in answer.content.decode()
    assert Job.objects.get().dlq and not AuditEntry.objects.exists()


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"checkpoint": None}, "it has no checkpoint"),
        ({"checkpoint_version": "1"}, "written by version 1 of its handler, which is version 2 now"),
    ],
)
def test_a_retry_that_cannot_resume_says_why_and_can_start_over(
    operator: Client, columns: dict[str, Any], why: str
) -> None:
    """By page and command alike; a checkpoint of the handler's version, or of none, is gone on from."""
    Worker.objects.create(id="old", host="h", pid=1, slots=1, types=["CRAWL"], started_at=timezone.now())
    Worker.objects.create(id="new", host="h", pid=2, slots=1, types=["CRAWL"], versions={"CRAWL": "2"})
    fits, none = (JobFactory(dead=True, type="CRAWL", checkpoint_version=one) for one in ("2", None))
    job = JobFactory(dead=True, type="CRAWL", **columns)
    form = {"id": job.id, "reason": "x", "checkpoint": "keep"}
    answer = operator.post("/actions/retry/", form, headers=HTMX)
    assert answer.status_code == 422 and why in answer.content.decode().replace("It has", "it has")
    assert re.search('value="drop" checked', answer.content.decode())
    with pytest.raises(CommandError, match=f"{why}.*add --checkpoint drop") as refused:
        call_command("job", "retry", job.id, fits.id, none.id, "--checkpoint", "keep", "--reason", "x")
    assert refused.value.returncode == 1 and Job.objects.get(pk=job.pk).dlq
    assert all(Job.objects.get(pk=one.pk).checkpoint and not Job.objects.get(pk=one.pk).dlq for one in (fits, none))
    assert operator.post("/actions/retry/", form | {"checkpoint": "drop"}).status_code == 302
    done = Job.objects.get(pk=job.pk)
    assert (done.status, done.checkpoint, done.checkpoint_version) == ("QUEUED", None, None)


def test_a_run_is_forced_at_once_unless_its_worker_is_alive(admin: Client) -> None:
    """A worker that is gone is not waited for; one that was just heard of is named, and forcing it takes a second word."""
    gone = JobFactory(running=True, heartbeat_at=timezone.now() - timedelta(minutes=2))
    alive = JobFactory(running=True, heartbeat_at=timezone.now() - timedelta(seconds=3))
    assert (
        "Its worker is alive" not in admin.get("/dialogs/force-cancel/", {"id": gone.id}, headers=HTMX).content.decode()
    )
    assert admin.post("/actions/force-cancel/", {"id": gone.id, "reason": "x"}, headers=HTMX).status_code == 200
    dialog = admin.get("/dialogs/force-cancel/", {"id": alive.id}, headers=HTMX).content.decode()
    assert "Its worker is alive: heartbeat 3 s ago" in dialog and "--sure" in dialog
    response = admin.post("/actions/force-cancel/", {"id": alive.id, "reason": "x"}, headers=HTMX)
    assert response.status_code == 422 and "tick it to force it" in response.content.decode()
    with pytest.raises(CommandError, match="say that you are sure"):
        call_command("job", "force-cancel", alive.id, "--reason", "x")
    assert Job.objects.get(id=alive.id).status == "RUNNING" and AuditEntry.objects.count() == 1
    admin.post("/actions/force-cancel/", {"id": alive.id, "reason": "x", "sure": "on"}, headers=HTMX)
    assert set(Job.objects.values_list("status", flat=True)) == {"CANCELLED"}
    assert list(AuditEntry.objects.values_list("action", flat=True)) == ["force_cancel", "force_cancel"]
