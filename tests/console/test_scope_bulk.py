"""Many jobs at once by somebody limited to some tenants: their own rows and numbers, and nothing of the others."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.core.management import call_command
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from jobs.console.bulk import Ask
from jobs.console.queries.overview import forget
from jobs.domain.bulk import Kind, Options
from jobs.models import AuditEntry, Job, JobTrash, Operation, OperationItem, TenantLimit, TenantSetting
from jobs.operations import bulk
from jobs.operations.actions import Person
from jobs.queue import transitions
from tests.console.addresses import ACTIONS
from tests.console.test_bulk import form, text, whole
from tests.console.test_scope import OWN, TEXT
from tests.factories import JobFactory, PauseFactory, user
from tests.operations.bulk_helpers import work

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def limited(as_role: Callable[..., Client], empty_cache: None) -> Client:
    TenantLimit.objects.create(user=user("support", "lena"), tenant_id=OWN)
    return as_role("support", "lena")


@pytest.fixture
def both(db: None) -> None:
    """Dead letters: three of theirs, five of another tenant."""
    JobFactory.create_batch(3, dead=True, tenant_id=OWN, name="ours")
    JobFactory.create_batch(5, dead=True, tenant_id=TEXT, name=TEXT)


def redriven(query: str = "type=CRAWL", kind: Kind = Kind.RETRY) -> Operation:
    """By somebody who sees all tenants."""
    ask = Ask.parse(kind, QueryDict(query))
    begun = bulk.start(Person("dana"), kind, ask.selection(), reason=f"all of {TEXT}", options=Options())
    return work(begun.id)


def test_a_redrive_of_everything_is_one_of_their_tenants(limited: Client, both: None) -> None:
    page = limited.get("/bulk/retry/")
    assert "Redrive 3 jobs" in text(page) and "Type the number of jobs, 3" in text(page)
    assert TEXT not in page.content.decode() and page.context["drain"] is None
    limited.post(ACTIONS["bulk_retry"], form(page.content.decode(), typed="3", rate="", brake_wait_minutes=""))
    operation = Operation.objects.get()
    assert work(operation.pk).done == 3
    assert Job.objects.filter(tenant_id=TEXT, dlq=True).count() == 5
    assert AuditEntry.objects.get(action="bulk_retry").filter["within"] == [OWN]
    shown = text(limited.get(f"/operations/{operation.pk}/"))
    assert "All 3 decided" in shown and "proxy rolled back" in shown
    assert "Redrive 3 jobs" in text(limited.get("/operations/")) or "redrive 3 jobs" in text(
        limited.get("/operations/")
    )


def test_the_command_of_a_preview_acts_on_no_more_than_the_preview(limited: Client, both: None) -> None:
    words = [word.text for word in limited.get("/bulk/retry/").context["command"][1:-1]]
    call_command(*words, "by the command", "--yes", "--detach", stdout=io.StringIO())
    assert Operation.objects.get().total == 3 and AuditEntry.objects.get(action="bulk_retry").filter["within"] == [OWN]


def test_foreign_ids_are_left_out_of_a_redrive(limited: Client, both: None) -> None:
    theirs = Job.objects.filter(tenant_id=TEXT)[0].id
    mine = Job.objects.filter(tenant_id=OWN)[0].id
    page = limited.get("/bulk/retry/", {"id": [mine, theirs]})
    assert "Redrive 1 job" in text(page)
    limited.post(ACTIONS["bulk_retry"], {"query": f"id={mine}&id={theirs}", "reason": "x"})
    work(Operation.objects.get().pk)
    assert list(OperationItem.objects.values_list("job_id", flat=True)) == [mine]
    assert limited.post(ACTIONS["bulk_retry"], {"query": f"id={theirs}", "reason": "x"}).status_code == 409
    assert Job.objects.get(pk=theirs).dlq and Operation.objects.count() == 1


def test_of_an_operation_over_several_tenants_they_see_their_part(limited: Client, both: None) -> None:
    operation = redriven()
    page = limited.get(f"/operations/{operation.pk}/")
    shown = text(page)
    assert "Redrive 3 jobs" in shown and "3 redriven" in shown and shown.count("ours") == 3
    assert TEXT not in page.content.decode() and "it touches other tenants, too" in shown
    assert {tab["words"]: tab["n"] for tab in page.context["tabs"]}["All"] == 3
    listed = limited.get("/operations/")
    assert (
        "3 of 3" in text(listed) and TEXT not in listed.content.decode() and "8" not in text(listed).split("Begun")[1]
    )
    file = async_to_sync(whole)(limited.post(f"/operations/{operation.pk}/export/")).decode()
    assert [row["tenant_id"] for row in csv.DictReader(io.StringIO(file))] == [OWN] * 3
    assert AuditEntry.objects.get(action="export").filter == {"operation": operation.pk, "within": [OWN]}


def test_an_operation_of_others_is_one_that_does_not_exist(limited: Client, both: None) -> None:
    operation = redriven(f"tenant={TEXT}")
    assert "No bulk operation has run" in text(limited.get("/operations/"))
    answers = [limited.get(f"/operations/{number}/") for number in (operation.pk, operation.pk + 1_000_000)]
    assert [one.status_code for one in answers] == [404, 404]
    for path in (f"/operations/{operation.pk}/stop/", f"/operations/{operation.pk}/export/"):
        assert (limited.post(path) if "export" in path else limited.get(path)).status_code == 404
    for step in ("pause", "resume", "stop"):
        sent = {"id": operation.pk, "reason": "x"}
        assert limited.post(ACTIONS[f"{step}_operation"], sent).status_code == 404
    page = limited.get(f"/bulk/retry/?operation={operation.pk}")
    assert page.context["found"].n == 0


def test_what_touches_others_too_is_not_theirs_to_steer(limited: Client, both: None) -> None:
    shared = bulk.start(
        Person("dana"), Kind.RETRY, Ask.parse(Kind.RETRY, QueryDict("type=CRAWL")).selection(), reason="x"
    )
    own = bulk.start(
        Person("dana"), Kind.RETRY, Ask.parse(Kind.RETRY, QueryDict(f"tenant={OWN}")).selection(), reason="x"
    )
    for number, status in ((shared.id, 403), (own.id, 302)):
        assert limited.post(ACTIONS["pause_operation"], {"id": number, "reason": "look"}).status_code == status
    assert Operation.objects.get(pk=shared.id).state == "PENDING"
    assert "without a limit to some tenants" in limited.get(f"/operations/{shared.id}/stop/").content.decode()


def test_a_row_does_not_name_the_job_of_another_tenant(limited: Client) -> None:
    JobFactory(tenant_id=OWN, dead=True, unique_key="k")
    holder = JobFactory(tenant_id=TEXT, unique_key="k")
    operation = redriven()
    page = limited.get(f"/operations/{operation.pk}/").content.decode()
    assert "another active job holds its unique key" in page and holder.id not in page
    file = async_to_sync(whole)(limited.post(f"/operations/{operation.pk}/export/")).decode()
    assert holder.id not in file and "unique key" in file


def test_the_trash_holds_their_jobs_alone(limited: Client, both: None) -> None:
    operation = redriven(kind=Kind.PURGE)
    page = limited.get("/dlq/trash/")
    assert "3 purged jobs can be restored" in text(page) and TEXT not in page.content.decode()
    assert "For admin" in page.content.decode()
    undo = limited.get(f"/bulk/restore/?operation={operation.pk}")
    assert undo.context["found"].n == 3 and TEXT not in undo.content.decode()
    sent = {"query": f"operation={operation.pk}", "reason": "x"}
    assert limited.post(ACTIONS["bulk_restore"], sent).status_code == 403
    assert JobTrash.objects.count() == 8


def test_a_groups_sample_is_one_of_their_own(limited: Client) -> None:
    for tenant, error in ((TEXT, TEXT), (OWN, "ours alone")):
        JobFactory(dead=True, tenant_id=tenant, error=error, fingerprint="v1:shared")
    page = limited.get("/bulk/retry/?type=CRAWL").content.decode()
    assert "ours alone" in page and TEXT not in page


def test_other_bulk_work_is_refused(limited: Client, both: None) -> None:
    for kind in Kind:
        if kind is not Kind.RETRY:
            sent: dict[str, Any] = {"query": "type=CRAWL", "reason": "x", "priority": "1"}
            assert limited.post(ACTIONS[f"bulk_{kind.value}"], sent).status_code == 403
    assert not Operation.objects.exists()


def test_their_tenants_own_page(limited: Client) -> None:
    JobFactory(tenant_id=OWN)
    TenantSetting.objects.create(tenant_id=OWN, cap=3, note="pays on time", updated_at=timezone.now())
    PauseFactory(type="CRAWL", tenant_id=None, reason=f"because of {TEXT}")
    PauseFactory(type=None, tenant_id=OWN, reason="their own trouble")
    PauseFactory(type=None, project_id="somebodys-project", reason="x")
    forget()
    page = limited.get(f"/tenants/tenant/?id={OWN}").content.decode()
    assert "0 of 3 run" in page and "pays on time" in page and "their own trouble" in page
    assert "/pauses/" not in page.replace("/frame/pauses/", "") and "/audit/" not in page and TEXT not in page
    assert "somebodys-project" not in page
    answers = [limited.get(f"/tenants/tenant/?id={name}") for name in (TEXT, "zznowherezz")]
    assert [one.status_code for one in answers] == [404, 404]
    assert f"/tenants/tenant/?id={OWN}" in limited.get("/tenants/").content.decode()


def test_a_purge_by_hand_is_in_their_trash(limited: Client) -> None:
    transitions.purge([JobFactory(done=True, tenant_id=OWN).id], actor="kim", reason="x")
    transitions.purge([JobFactory(done=True, tenant_id=TEXT).id], actor="kim", reason="x")
    assert "1 purged job can" in text(limited.get("/dlq/trash/"))
