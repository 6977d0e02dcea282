"""What the ledger and the queue contradict each other in is found, all of it and nothing else, and repaired once."""

import json
import threading
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from jobs.domain.errors import InvalidInput
from jobs.ledger.contradictions import KINDS, find
from jobs.models import AuditEntry, Job, JobHistory, LedgerJob, LifecycleEvent
from jobs.operations import ledger_repair
from jobs.operations.actions import Person
from jobs.queue import transitions
from tests.browser import just_proved
from tests.factories import HOSTILE, EventFactory, JobFactory, user

pytestmark = pytest.mark.django_db
KIM = Person("kim")
OLD = timezone.now() - timedelta(hours=1)


def event(id: str, job: Any = None, **more: Any) -> LifecycleEvent:
    """An event, with the job it made."""
    made = EventFactory(id=id, document_id=f"doc-{id}", **{"status": "succeeded", "updated_at": OLD} | more)
    if job is not None:
        LedgerJob.objects.create(event_id=id, document_id=made.document_id, job_id=getattr(job, "id", job))
    return made


def seeded() -> dict[str, set[str]]:
    """Contradictions of every kind; their events by kind."""
    event("gone", "a-job-that-never-was", payload_json='{"why": "saved"}')
    event("trashed", JobFactory(id="trashed-job", done=True))
    transitions.purge(["trashed-job"], actor="kim", reason="by mistake")
    event("dead", JobFactory(id="dead-job", dead=True))
    event("done", JobFactory(done=True), status="failed", attempts=5)
    event("exhausted", JobFactory(running=True), status="pending", attempts=5)
    event("silent", status="running", attempts=1, updated_at=timezone.now() - timedelta(hours=2))
    event("future", status="running", attempts=1, updated_at=timezone.now() + timedelta(days=2))
    event("many", status="pending", attempts=9)
    return {
        "lost_job": {"gone", "trashed"},
        "dead_job": {"dead"},
        "stuck_with_job": {"done", "exhausted"},
        "silent": {"silent", "future"},
        "attempts": {"many"},
    }


def agreeing() -> None:
    """Events and jobs that agree, near misses of every kind among them."""
    for n, trait in enumerate([{}, {"running": True}, {"retry_wait": True}, {"done": True}, {"cancelled": True}]):
        event(f"agrees-{n}", JobFactory(**trait))
    event("never made one", status="failed", attempts=5)
    event("both failed", JobFactory(dead=True), status="failed", attempts=5)
    event("cancelled", JobFactory(cancelled=True), status="failed", attempts=5)
    event("no job left", "pruned-long-ago", status="failed", attempts=5)
    event("waits", JobFactory(done=True), status="pending", attempts=2)
    event("runs", status="running", attempts=1, updated_at=timezone.now())
    event("exhausted alone", status="pending", attempts=5)
    event("pruned with time", "pruned", updated_at=timezone.now() - timedelta(days=85))
    event("saved anew", "gone-but-made-up-for", created_at=OLD)
    EventFactory(document_id="doc-saved anew", status="pending", created_at=timezone.now())
    event("second run", JobFactory(id="first-try", dead=True))
    later = JobFactory(done=True)
    LedgerJob.objects.create(event_id="second run", document_id="d", job_id=later.id,
                             made_at=timezone.now() + timedelta(seconds=1))  # fmt: skip
    JobFactory(dead=True)


def found() -> dict[str, set[str]]:
    return {kind: ids for kind in KINDS if (ids := {row["id"] for row in find(kind, 100)[0]})}


def states() -> tuple[Any, ...]:
    return (
        list(LifecycleEvent.objects.order_by("id").values()),
        list(Job.objects.order_by("id").values()),
        AuditEntry.objects.count(),
    )


def test_all_of_it_is_found_and_nothing_of_what_agrees(db: None) -> None:
    agreeing()
    assert found() == {}
    assert seeded() == found()


def test_retention_that_is_shorter_than_a_month_leaves_no_contradictions(db: None, settings: Any) -> None:
    from dataclasses import replace

    settings.DETIQ = replace(settings.DETIQ, retention=timedelta(days=2))
    event("pruned", "pruned-after-two-days", updated_at=timezone.now() - timedelta(days=1.9))
    event("purged", "purged-by-hand", updated_at=timezone.now() - timedelta(days=1))
    assert found() == {"lost_job": {"purged"}}


def test_a_plan_changes_nothing_and_says_what_a_repair_does(db: None) -> None:
    seeded()
    before = states()
    plans = {kind: ledger_repair.plan(kind) for kind in KINDS}
    assert states() == before
    steps = {row["id"]: row["step"] for rows, _ in plans.values() for row in rows}
    assert steps == {
        "gone": "write_event", "trashed": "restore_job", "dead": "retry_job", "done": "purge_event",
        "exhausted": "retry_event", "silent": "reclaim_event", "future": "reclaim_event", "many": "retry_event",
    }  # fmt: skip


def test_a_repair_leaves_nothing_to_be_found_and_may_be_repeated(db: None) -> None:
    agreeing()
    seeded()
    others = {row.id: row.status for row in LifecycleEvent.objects.filter(id__startswith="agrees")}
    for kind in KINDS:
        repaired = ledger_repair.repair(KIM, kind, "after the restore")
        assert not repaired.left and not repaired.more
    assert found() == {}
    assert Job.objects.get(id="trashed-job").status == "DONE"
    assert Job.objects.get(id="dead-job").status == "QUEUED"
    assert Job.objects.get(id="first-try").status == "FAILED", "a later run of the event made up for it"
    now = {row.id: (row.status, row.attempts) for row in LifecycleEvent.objects.all()}
    assert "done" not in now
    assert now["exhausted"] == ("pending", 0) and now["many"] == ("pending", 0)
    assert now["silent"] == now["future"] == ("pending", 1)
    anew = LifecycleEvent.objects.exclude(id="gone").get(document_id="doc-gone")
    assert (anew.status, json.loads(anew.payload_json), anew.hook_type) == ("pending", {"why": "saved"}, "crawl_site")
    assert {row.id: row.status for row in LifecycleEvent.objects.filter(id__startswith="agrees")} == others
    entries = {entry.target: entry for entry in AuditEntry.objects.filter(action="ledger_repair")}
    assert set(entries) == set(KINDS)
    assert entries["lost_job"].numbers == {"restore_job": 1, "write_event": 1, "left": 0}
    assert entries["dead_job"].before["dead"]["job_id"] == "dead-job"
    assert JobHistory.objects.filter(job_id="dead-job").latest("id").reason == "after the restore"
    again = states()
    for kind in KINDS:
        assert not ledger_repair.repair(KIM, kind, "once more").done
    assert states() == again


def test_what_changed_since_the_preview_is_left_alone(db: None) -> None:
    seeded()
    seen = timezone.now() - timedelta(minutes=30)
    Job.objects.filter(id="dead-job").update(dlq_at=timezone.now())
    LifecycleEvent.objects.filter(id="many").update(updated_at=timezone.now())
    for kind in ("dead_job", "attempts"):
        assert not ledger_repair.repair(KIM, kind, "x", seen=seen).done
    assert Job.objects.get(id="dead-job").status == "FAILED"


def test_what_cannot_be_repaired_is_left_with_its_reason(db: None) -> None:
    event("broken", "a-job-that-never-was", payload_json="{")
    event("runs", status="running", attempts=9, updated_at=timezone.now())
    assert set(ledger_repair.repair(KIM, "lost_job", "x").left) == {"broken"}
    assert ledger_repair.repair(KIM, "attempts", "x").left == {"runs": "it runs"}
    assert not AuditEntry.objects.exists(), "what changed nothing leaves no trace"


def test_a_repair_takes_the_oldest_first_and_says_that_there_is_more(db: None) -> None:
    for n in range(3):
        event(f"e{n}", status="pending", attempts=9, updated_at=OLD + timedelta(minutes=n))
    repaired = ledger_repair.repair(KIM, "attempts", "x", limit=2)
    assert repaired.done == {"retry_event": 2} and repaired.more
    assert LifecycleEvent.objects.get(id="e2").attempts == 9


@pytest.mark.parametrize(("kind", "reason", "names"), [("other", "x", "kind"), ("silent", " ", "reason")])
def test_what_is_asked_wrongly_is_refused(db: None, kind: str, reason: str, names: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        ledger_repair.repair(KIM, kind, reason)
    assert refused.value.field == names


# --- The page and the command -----------------------------------------------------------------------------------------


@pytest.fixture
def signed_in(db: None) -> Callable[[str], Client]:
    def sign_in(role: str) -> Client:
        client, person = Client(), user(role)
        client.force_login(person, "django.contrib.auth.backends.ModelBackend")
        just_proved(client, person)
        return client

    return sign_in


def test_the_page_previews_and_repairs(signed_in: Any) -> None:
    seeded()
    client = signed_in("admin")
    assert client.get("/ledger/contradictions/").content.decode().count("Repair…") == len(KINDS)
    preview = client.get("/ledger/repair/?kind=lost_job").content.decode()
    assert "Repair 2 contradictions" in preview and "manage.py ledger repair lost_job --yes" in preview.replace(
        "</span>", ""
    ).replace('<span data-says="reason">', "")
    before = states()
    assert client.post("/actions/ledger-repair/", {"kind": "lost_job", "reason": " "}).status_code == 422
    assert states() == before
    answer = client.post("/actions/ledger-repair/", {"kind": "lost_job", "reason": "restored"}, follow=True)
    assert "1 × job restored from the trash, 1 × event written anew." in answer.content.decode()
    assert "lost_job" not in found()


def test_others_see_it_and_may_not(signed_in: Any) -> None:
    seeded()
    before = states()
    for role in ("viewer", "operator", "support"):
        client = signed_in(role)
        assert "Repair…" not in client.get("/ledger/contradictions/").content.decode()
        assert client.post("/actions/ledger-repair/", {"kind": "dead_job", "reason": "x"}).status_code == 403
    assert states() == before


def test_hostile_text_is_text(signed_in: Any) -> None:
    EventFactory(id="x", document_id=HOSTILE, hook_type=HOSTILE, company_id=HOSTILE, status="pending", attempts=9)
    for path in ("/ledger/contradictions/", "/ledger/repair/?kind=attempts"):
        assert "<svg/onload" not in signed_in("admin").get(path).content.decode()
    assert signed_in("admin").get("/ledger/repair/?kind=nothing").status_code == 404


def run(*words: str) -> str:
    out = StringIO()
    call_command("ledger", *words, stdout=out)
    return out.getvalue()


def test_the_command_previews_unless_told_to_do_it(db: None) -> None:
    seeded()
    assert "dead_job: 1." in run("contradictions")
    before = states()
    assert "would be done: job retried: 1" in run("repair", "dead_job", "--reason", "x")
    assert states() == before
    assert run("repair", "dead_job", "--reason", "x", "--yes").strip() == "job retried: 1"
    assert json.loads(run("repair", "dead_job", "--reason", "x", "--yes", "--json")) == {
        "done": {}, "left": {}, "more": False
    }  # fmt: skip
    with pytest.raises(CommandError):
        run("repair", "other", "--reason", "x")


def test_two_repairs_at_once_write_an_event_once(db_clean: None) -> None:
    event("gone", "a-job-that-never-was", payload_json="{}")
    done: list[int] = []

    def second() -> None:
        done.append(sum(ledger_repair.repair(Person("lea"), "lost_job", "gone").done.values()))
        connection.close()

    other = threading.Thread(target=second)
    with transaction.atomic():
        assert ledger_repair.repair(KIM, "lost_job", "gone").done["write_event"] == 1
        other.start()
        other.join(0.5)
    other.join(10)
    assert done == [0] and LifecycleEvent.objects.filter(document_id="doc-gone").count() == 2
