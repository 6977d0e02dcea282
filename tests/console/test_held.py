"""Is anything held? Silent runs, overdue duties, who knows a pause, and what leaked through it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from jobs.console.queries import workers as registry
from jobs.console.queries.overview import forget, held, read
from jobs.console.views import workers as view
from jobs.models import SweepDuty, SystemConfig
from tests.factories import JobFactory, PauseFactory, WorkerFactory

pytestmark = pytest.mark.django_db


def ago(**length: float) -> object:
    return timezone.now() - timedelta(**length)


def test_a_worker_confirms_a_pause_with_its_next_heartbeat(viewer: Client) -> None:
    first, second = PauseFactory(type="CRAWL"), PauseFactory(type="DISCOVER")
    WorkerFactory(id="sure:1:x", pause_seen=second.pk)
    WorkerFactory(id="late:2:x", pause_seen=first.pk)
    WorkerFactory(id="gone:3:x", pause_seen=second.pk, heartbeat_at=ago(minutes=5))
    lines = {line.pause.type: line for line in read().pauses}
    assert (lines["CRAWL"].confirmed, lines["CRAWL"].unsure) == (2, ("gone:3",))
    assert (lines["DISCOVER"].confirmed, lines["DISCOVER"].unsure) == (1, ("gone:3", "late:2"))
    page = viewer.get("/").content.decode()
    assert "2 of 3 workers confirm; unknown: gone:3" in page
    workers = viewer.get("/workers/").content.decode()
    assert "confirmed" in workers and "not yet" in workers and "unknown" in workers


def test_the_flag_of_other_programs_is_confirmed_by_nobody() -> None:
    SystemConfig.objects.create(key="queue.paused", value="true")
    WorkerFactory()
    (line,) = read().pauses
    assert line.confirmed is None and line.unsure == ()


def test_a_job_that_started_after_a_pause_of_its_scope_is_named(viewer: Client) -> None:
    WorkerFactory()
    PauseFactory(type="CRAWL")
    JobFactory(running=True, started_at=timezone.now() + timedelta(seconds=1), worker_id="node-7")
    JobFactory(running=True, type="DISCOVER", started_at=timezone.now() + timedelta(seconds=1))
    JobFactory(running=True)
    snapshot = read()
    assert snapshot.leaked == 1 and snapshot.pauses[0].running == 2
    assert "1 job started through a pause" in viewer.get("/").content.decode()


def duties() -> list[str]:
    """What is overdue; earlier tests may have left a hundred thousand dead rows, which is one thing more."""
    return sorted(one.name for one in read().overdue if one.name != "cleaning")


def test_duties_are_overdue_only_when_they_are(viewer: Client) -> None:
    WorkerFactory()
    SweepDuty.objects.create(name="rescue", looked_at=timezone.now())
    SweepDuty.objects.create(name="prune jobs", ok_at=ago(hours=20))
    assert duties() == []
    SweepDuty.objects.filter(name="rescue").update(looked_at=ago(minutes=9))
    SweepDuty.objects.filter(name="prune jobs").update(ok_at=ago(days=3))
    SweepDuty.objects.create(name="promote", error="permission denied")
    assert duties() == ["promote", "prune jobs", "sweep"]
    page = viewer.get("/").content.decode()
    assert "overdue duties" in page and "Nobody has swept for 9 min" in page and "permission denied" in page


def test_silent_runs_lead_to_the_rows(viewer: Client) -> None:
    WorkerFactory()
    job = JobFactory(running=True, heartbeat_at=ago(minutes=20), worker_id="w:9:x")
    assert "1 run without a heartbeat" in viewer.get("/").content.decode()
    workers = viewer.get("/workers/").content.decode()
    assert 'id="silent"' in workers and f"/jobs/{job.id}/" in workers


def test_what_each_worker_runs_is_on_its_page(viewer: Client) -> None:
    WorkerFactory(id="w:1:a", version="1.4.2")
    JobFactory(running=True, worker_id="w:1:a", tenant_id="acme", progress=31, current_step="page 3 of 9")
    JobFactory(running=True, worker_id="w:1:a", tenant_id="globex", type="DISCOVER", status="CANCEL_REQUESTED")
    JobFactory(running=True, inline=True, worker_id="x", tenant_id="inline-tenant")
    page = viewer.get("/workers/").content.decode()
    for text in ("acme", "31 %", "page 3 of 9", "globex", "asked to stop", "1.4.2", "inline-tenant", "2 of 8"):
        assert text in page, text


def test_workers_that_ended_stand_apart_from_those_that_run(viewer: Client) -> None:
    WorkerFactory(id="live:1:a")
    WorkerFactory(id="killed:2:b", heartbeat_at=ago(hours=2))
    WorkerFactory(id="holds:3:c", heartbeat_at=ago(hours=2))
    JobFactory(running=True, worker_id="holds:3:c", heartbeat_at=ago(hours=2))
    for n in range(12):
        WorkerFactory(id=f"stopped:{n}:d", stopped_at=ago(hours=n + 3), heartbeat_at=ago(hours=n + 3))
    WorkerFactory(id="forgotten:9:e", heartbeat_at=ago(days=9), stopped_at=ago(days=9))
    page = viewer.get("/workers/").content.decode()
    running, over = page.split('id="ended"')
    assert "1 live" in running and "live:1:a" in running and "holds:3:c" in running and "Other program" not in running
    assert "killed:2:b" in over and "Lost" in over and "the newest 8 of 13" in over and "stopped:9:d" not in over
    every = viewer.get("/workers/?ended=all").content.decode()
    assert "stopped:11:d" in every and "forgotten" not in every and "/workers/?ended=all" in every


def test_many_silent_workers_hide_none_that_live(viewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "MOST_WORKERS", 5)
    monkeypatch.setattr(view, "SHOWN_WORKERS", 3)
    for n in range(3):
        WorkerFactory(id=f"silent:{n}:a", heartbeat_at=ago(minutes=9))
        WorkerFactory(id=f"live:{n}:b")
    JobFactory.create_batch(9, running=True, worker_id="live:1:b")
    text = viewer.get("/workers/").content.decode()
    assert "3 live, 9 of 24 slots" in text and "3 shown, 2 more" in text and "Other program" not in text
    assert "No worker is live" not in viewer.get("/").content.decode()


def test_silent_runs_are_counted_when_not_all_are_shown(viewer: Client) -> None:
    JobFactory.create_batch(25, running=True, heartbeat_at=ago(minutes=20), worker_id="w:9:x")
    silent = viewer.get("/workers/").content.decode().split('id="silent"')[1].split("</section>")[0]
    assert ">25</span>" in silent and "the 20 that have run longest" in silent and silent.count("<tr") == 21


def test_types_that_wait_and_that_no_worker_does_are_named(viewer: Client) -> None:
    WorkerFactory(types=["CRAWL"])
    JobFactory(type="CRAWL")
    assert read().unhandled == []
    JobFactory(type="<b>VISUAL</b>")
    assert read().unhandled == ["<b>VISUAL</b>"]
    page = viewer.get("/").content.decode()
    assert "1 type without a worker" in page and "&lt;b&gt;VISUAL&lt;/b&gt;" in page and "<b>VISUAL" not in page
    WorkerFactory(types=["<b>VISUAL</b>"])
    assert read().unhandled == []


@pytest.mark.django_db(transaction=True)
def test_who_keeps_the_rows_of_the_past_is_named(
    as_role: Callable[..., Client], make_conn: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, old = as_role("viewer"), make_conn()
    monkeypatch.setattr(held, "OLD_SECONDS", 0)
    assert held.not_cleaned() is None
    old.execute("SET application_name = 'dump; nightly'")
    old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    old.execute("SELECT 1")
    forget()
    page = client.get("/").content.decode()
    assert (
        f"dump; nightly (process {old.info.backend_pid}), open for " in page
        and "claims slow down until it ends" in page
    )
    old.execute("ROLLBACK")
    monkeypatch.setattr(held, "DEAD_ROWS", -1)
    kept = held.not_cleaned()
    assert kept is not None and "dead rows of the queue" in (kept.error or "")
