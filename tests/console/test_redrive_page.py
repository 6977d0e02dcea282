"""The redrive's preview and page: what is taken along or left by choice, how long a look holds, what the brake leaves to choose."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from jobs.console.queries.bulk import waits
from jobs.domain.bulk import Kind
from jobs.models import AuditEntry, Job, Operation, TenantSetting
from jobs.operations import bulk
from tests.console.addresses import ACTIONS
from tests.console.test_bulk import form, text
from tests.factories import JobFactory, OperationFactory, PauseFactory
from tests.operations.bulk_helpers import DEAD, KIM, work

pytestmark = pytest.mark.django_db


def test_what_is_left_can_be_taken_along_and_the_other_way(operator: Client) -> None:
    JobFactory.create_batch(2, dead=True, tenant_id="free", checkpoint=None)
    JobFactory.create_batch(3, dead=True, tenant_id="paused", checkpoint=[1], progress=60)
    JobFactory(dead=True, tenant_id="suspended", checkpoint=None)
    JobFactory(dead=True, redrive_count=5, checkpoint=None)
    PauseFactory(type=None, tenant_id="paused")
    TenantSetting.objects.create(tenant_id="suspended", cap=0)
    page = operator.get("/bulk/retry/?type=CRAWL")
    shown = text(page)
    assert "3 stay: its tenant is paused" in shown and "1 stay: its tenant is suspended" in shown
    assert "1 stay: came back to the DLQ after a redrive" in shown
    along = operator.get("/bulk/retry/?type=CRAWL&held=1&boomerangs=1")
    assert "Redrive 6 of 7 jobs" in text(along)
    assert "1 stay: redriven as often as the limit allows, 5 times" in text(along)
    assert "3 of 6 have a checkpoint, at 60 % on average" in text(along)
    assert "3 have no checkpoint and start from the beginning" in text(along)
    assert "boomerangs=1&held=1" in along.context["permalink"]
    kept = operator.get("/bulk/retry/?type=CRAWL&held=1&boomerangs=1&kept=1&redrives=0")
    assert kept.context["acts"] == 3 and kept.context["found"].why["it has no checkpoint"] == 4
    operator.post(ACTIONS["bulk_retry"], form(kept.content.decode(), rate="", brake_wait_minutes=""))
    assert work(Operation.objects.get().pk).done == 3
    assert operator.get("/bulk/retry/?type=CRAWL&redrives=many").status_code == 422


def test_a_look_holds_for_ten_minutes(operator: Client) -> None:
    JobFactory.create_batch(2, dead=True)
    sent = form(operator.get("/bulk/retry/?type=CRAWL").content.decode(), rate="7")
    for old in ((timezone.now() - timedelta(minutes=11)).isoformat(), "long ago"):
        answer = operator.post(ACTIONS["bulk_retry"], sent | {"shown_at": old})
        assert answer.status_code == 409 and "more than 10 minutes ago" in answer.content.decode()
        assert 'value="7"' in answer.content.decode()
    assert not Operation.objects.exists() and not AuditEntry.objects.exists()
    again = form(answer.content.decode(), rate="7")
    assert operator.post(ACTIONS["bulk_retry"], again).status_code == 302


def test_what_left_the_set_since_the_look_is_told(operator: Client) -> None:
    JobFactory.create_batch(9, dead=True)
    sent = form(operator.get("/bulk/retry/?type=CRAWL").content.decode())
    Job.objects.filter(id__in=Job.objects.values_list("id")[:4]).update(status="QUEUED", dlq=False)
    operator.post(ACTIONS["bulk_retry"], sent)
    page = text(operator.get(f"/operations/{Operation.objects.get().pk}/"))
    assert "4 left the set between the preview and the confirmation." in page


def test_more_than_can_be_counted_is_no_reason_to_refuse(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    JobFactory.create_batch(40, dead=True)
    monkeypatch.setattr("jobs.console.queries.bulk.LOOKS", ((5, 2.0),))
    page = operator.get("/bulk/retry/").content.decode()
    assert operator.post(ACTIONS["bulk_retry"], form(page, typed="5")).status_code == 302
    assert Operation.objects.get().total == 40


def test_how_it_goes_is_chosen_and_kept(operator: Client) -> None:
    JobFactory(dead=True, priority=5)
    page = operator.get("/bulk/retry/?type=CRAWL").content.decode()
    chosen: dict[str, Any] = {"rate": "600", "ramp": "on", "idle_percent": "50", "priority": "-3"}
    assert operator.post(ACTIONS["bulk_retry"], form(page, **chosen)).status_code == 302
    operation = Operation.objects.get()
    kept = {name: operation.options[name] for name in ("rate", "ramp", "idle_percent", "priority")}
    assert kept == {"rate": 600, "ramp": True, "idle_percent": 50, "priority": -3}
    shown = text(operator.get(f"/operations/{operation.pk}/"))
    assert "600 a minute, led up to" in shown and "at most 50 %" in shown and "at most -3" in shown
    assert "60 a minute now, 10 % of its rate" in shown and "No idle slot is left" in shown
    for wrong in ({"idle_percent": "0"}, {"idle_percent": "101"}, {"priority": "high"}):
        assert operator.post(ACTIONS["bulk_retry"], form(page, **wrong)).status_code == 422


def test_the_brake_leaves_hold_slower_and_stop(operator: Client) -> None:
    operation = OperationFactory(kind="retry", state="BRAKED", total=9, options={"rate": 120}, note="all fail")
    page = text(operator.get(f"/operations/{operation.pk}/"))
    assert "It stays held until somebody lets it go on, slower, or stops it for good." in page
    assert "Go on, slower…" in page and "Stop for good…" in page and "Pause…" not in page
    dialog = operator.get(f"/operations/{operation.pk}/resume/", headers={"HX-Request": "true"}).content.decode()
    assert 'value="60"' in dialog and "as before, 120" in dialog
    operator.post(ACTIONS["resume_operation"], {"id": operation.pk, "reason": "slower", "rate": "60"})
    assert Operation.objects.get(pk=operation.pk).options["rate"] == 60


def test_how_long_others_wait_is_a_range_that_grows_by_what_is_ahead_of_them() -> None:
    others = [{"tenant_id": "beta", "n": 10, "ahead": 30}]
    [wait] = waits(others, {"acme": 1000, "globex": 5}, [10] * 10)
    assert wait.tenant_id == "beta" and wait.now[0] < 3 < wait.now[1] and wait.then[0] < 4.5 < wait.then[1]
    assert waits(others, {"acme": 1}, [0, 1, 0]) == []


def test_others_that_wait_are_named_with_their_wait(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from jobs.console.queries.overview import drain

    JobFactory.create_batch(3, dead=True, tenant_id="acme")
    JobFactory.create_batch(2, tenant_id="beta")
    monkeypatch.setattr(
        drain, "minute_lines", lambda *_: [drain.Minute(timezone.now() - timedelta(hours=1), left=30)] * 10
    )
    shown = text(operator.get("/bulk/retry/?type=CRAWL&state=DEAD_LETTERED"))
    assert "beta:" in shown and "if all are released at once" in shown


def test_an_operation_that_is_gone_is_told_so(operator: Client) -> None:
    JobFactory(dead=True)
    begun = bulk.start(KIM, Kind.RETRY, DEAD, reason="x")
    Operation.objects.filter(pk=begun.id).delete()
    assert operator.get(f"/operations/{begun.id}/").status_code == 404
