"""The overview: its sentences follow the figures, and a hundred readers cost what one costs."""

import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from jobs.console import charts, verdicts, words
from jobs.console.queries import lists, overview
from jobs.console.queries.db import TooSlow
from jobs.console.queries.overview import Minute, Shared, read, read_detail, times
from jobs.models import TallyFlow
from tests.factories import JobFactory, PauseFactory, WorkerFactory, everything

NOW = datetime(2026, 11, 30, 3, 19, tzinfo=UTC)


@pytest.mark.django_db
def test_an_empty_installation_reads_quietly(viewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        overview.held, "not_cleaned", lambda: None
    )  # tests before may leave a hundred thousand dead rows
    page = viewer.get("/").content.decode()
    assert "Nothing is paused" not in page  # no worker is live, and that is said first
    assert "No live worker" in page and "Nothing waits" in page and "Nothing failed in the last hour" in page
    WorkerFactory()
    overview.forget()
    page = viewer.get("/").content.decode()
    assert "Nothing is paused" in page and "tag inverted" not in page


@pytest.mark.django_db
def test_the_figures_are_those_of_the_table(viewer: Client) -> None:
    everything(tenant_id="acme")
    everything(tenant_id="globex", type="DISCOVER")
    WorkerFactory(id="crawl-a1:4121:9f2c", slots=8)
    snapshot = read()
    with connection.cursor() as cursor:
        cursor.execute('SELECT detiq_state(status::text, dlq), count(*) FROM "PlatformJob" GROUP BY 1')
        assert snapshot.states == dict(cursor.fetchall())
    assert [(line.type, line.queued) for line in snapshot.types] == [("CRAWL", 1), ("DISCOVER", 1)]
    assert {line.tenant: line.running for line in read_detail().tenants} == {"acme": 2, "globex": 2}
    assert snapshot.workers[0].running == 4 and snapshot.due == 2
    page = viewer.get("/").content.decode()
    assert "ON_HOLD" in page and "4 of 8" in page


@pytest.mark.django_db
def test_the_longest_wait_is_found_by_type_and_tenant() -> None:
    now = timezone.now()
    for index in range(30):
        JobFactory(type=f"T{index % 3}", tenant_id=f"t{index % 5}", priority=index % 2,
                   queued_at=now - timedelta(minutes=index))  # fmt: skip
    JobFactory(type="T1", queued_at=now - timedelta(days=9), requeued_at=now)  # it waits since it was put back
    snapshot = read()
    for line in snapshot.types:
        expected = max(index for index in range(30) if f"T{index % 3}" == line.type)
        assert line.oldest == now - timedelta(minutes=expected)
    assert snapshot.oldest == now - timedelta(minutes=29)


@pytest.mark.django_db
def test_pauses_say_what_they_hold() -> None:
    JobFactory.create_batch(3, type="CRAWL", tenant_id="acme")
    JobFactory(type="CRAWL", tenant_id="globex")
    JobFactory(running=True, type="CRAWL", tenant_id="acme")
    for scope in ({"type": "CRAWL"}, {"type": "CRAWL", "tenant_id": "acme"}, {"type": None, "project_id": "web"}):
        PauseFactory(**scope)
    held = {(line.pause.type, line.pause.tenant_id): (line.held, line.running) for line in read().pauses}
    assert held == {("CRAWL", None): (4, 1), ("CRAWL", "acme"): (3, 1), (None, None): (None, 0)}


@pytest.mark.django_db
def test_rates_and_failures_come_from_the_counters() -> None:
    minute = timezone.now().replace(second=0, microsecond=0) - timedelta(minutes=2)
    common = {"minute": minute, "type": "CRAWL", "bucket": 0}
    TallyFlow.objects.create(**common | {"from_state": "", "to_state": "QUEUED", "n": 600})
    TallyFlow.objects.create(**common | {"from_state": "QUEUED", "to_state": "RUNNING", "n": 60})
    TallyFlow.objects.create(**common | {"from_state": "RUNNING", "to_state": "RETRY_WAIT", "n": 7})
    snapshot = read()
    point = next(one for one in snapshot.minutes if one.at == minute)
    assert (point.entered, point.left, point.failed) == (600, 60, 7)
    assert 100 <= snapshot.types[0].entered <= 120 and snapshot.types[0].net >= 90


@pytest.mark.django_db
def test_a_worker_that_says_nothing_is_silent_and_another_programs_is_shown() -> None:
    WorkerFactory(id="a:1:x", heartbeat_at=timezone.now() - timedelta(minutes=2))
    JobFactory(running=True, worker_id="node-7", heartbeat_at=timezone.now() - timedelta(minutes=5))
    snapshot = read()
    assert [(line.id, line.word) for line in snapshot.workers] == [("a:1:x", "Silent"), ("node-7", "Other program")]
    assert snapshot.silent == 1 and snapshot.workers_live == []


def test_the_verdict_on_the_drain() -> None:
    oldest = NOW - timedelta(minutes=47)
    assert verdicts.drain_words(0, 5, 5, None, NOW, "").text == "Nothing waits"
    assert verdicts.drain_words(9, 640, 428, oldest, NOW, "") == words.Verdict(
        "212 more in than out each minute", "Not draining", "9 queued, oldest wait 47 min."
    )
    assert verdicts.drain_words(9, 400, 419, oldest, NOW, "").text == "Draining, 19 more out than in each minute"
    assert verdicts.drain_words(9, 0, 0, oldest, NOW, "").tag == "Not draining"
    assert verdicts.drain_words(9, 1, 9, oldest, NOW, "Everything is paused").text == "Everything is paused"


def test_the_chart_is_drawn_from_numbers_alone() -> None:
    quiet = [Minute(NOW + timedelta(minutes=index)) for index in range(60)]
    busy = [Minute(one.at, index * 13, index * 7, index * 7, index % 5) for index, one in enumerate(quiet)]
    for minutes in (quiet, busy, busy[:1]):
        drawn = str(charts.flow(minutes))
        assert drawn.startswith("<svg") and "style=" not in drawn and "nan" not in drawn.lower()
    assert "767 in" in str(charts.flow(busy)) and "413 out" in str(charts.flow(busy))
    assert [charts.nice(value) for value in (1, 3, 7, 11, 640, 1000)] == [1, 4, 8, 20, 800, 1000]


@pytest.mark.parametrize("seconds", [0.0, 0.001, 0.1, 0.5, 14_400.0, 10_000_000.0])
def test_times_are_drawn_however_short_or_long_all_of_them_are(seconds: float) -> None:
    step = times.Spread(timezone.now(), 5, seconds, seconds)
    drawn = str(charts.spread("Run time", [step, step], 600))
    points = [float(y) for y in re.findall(r"[\d.]+,([\d.]+)", drawn)]
    assert points and all(charts.SPREAD_TOP <= y <= charts.SPREAD_BOTTOM for y in points)


def test_a_hundred_readers_cost_what_one_costs() -> None:
    reads = []
    gate = threading.Event()

    def slow() -> str:
        reads.append(1)
        gate.wait(5)
        return f"snapshot {len(reads)}"

    shared = Shared(slow, longest=60, shortest=0)
    with ThreadPoolExecutor(100) as pool:
        answers = [pool.submit(shared.get) for _ in range(100)]
        gate.set()
        assert {answer.result() for answer in answers} == {"snapshot 1"}
    shared.changed()
    assert shared.get() == shared.get() == "snapshot 2"


def test_a_reading_that_fails_fails_for_all_who_waited_for_it() -> None:
    """Else each has its own made in turn: thirty tabs, two seconds each, and every thread of the server."""
    reads = []

    def too_slow() -> str:
        reads.append(1)
        time.sleep(0.2)
        raise TooSlow("the database did not answer")

    shared = Shared(too_slow, longest=60, shortest=0)
    with ThreadPoolExecutor(20) as pool:
        answers = [pool.submit(shared.get) for _ in range(20)]
    assert {str(answer.exception()) for answer in answers} == {"the database did not answer"}
    made = len(reads)
    assert made <= 2
    with pytest.raises(TooSlow):
        shared.get()
    assert len(reads) == made + 1, "who asks afterwards has one made"


def test_a_change_announced_during_a_reading_is_read_again() -> None:
    answers = iter(["old", "new"])

    def reading() -> str:
        answer = next(answers)
        if answer == "old":
            shared.changed()
        return answer

    shared = Shared(reading, longest=60, shortest=0)
    assert [shared.get(), shared.get(), shared.get()] == ["old", "new", "new"]


def test_a_reading_that_grows_old_serves_while_the_next_one_is_made() -> None:
    gate, made = threading.Event(), threading.Event()
    readers: list[threading.Thread] = []

    def reading() -> int:
        readers.append(threading.current_thread())
        if len(readers) == 2:
            gate.wait(5)
        if len(readers) == 3:
            made.set()
        return len(readers)

    shared = Shared(reading, longest=60, shortest=0, ahead=0)
    assert [shared.get(), shared.get(), shared.get()] == [1, 1, 1]
    gate.set()
    while not made.wait(0.01):
        assert shared.get() in {1, 2}
    assert threading.current_thread() not in readers[1:]


def test_what_was_forgotten_during_a_reading_is_not_brought_back() -> None:
    gate, begun = threading.Event(), threading.Event()
    reads: list[str] = []

    def reading() -> str:
        reads.append("")
        if len(reads) != 2:
            return f"reading {len(reads)}"
        begun.set()
        gate.wait(5)
        return "of before"

    shared = Shared(reading, longest=60, shortest=0, ahead=0)
    assert [shared.get(), shared.get()] == ["reading 1", "reading 1"]
    begun.wait(5)
    ahead = shared._reader
    shared.clear()
    assert shared.get() == "reading 3"
    gate.set()
    assert ahead is not None
    ahead.join(5)
    assert shared.get() == "reading 3"


@pytest.mark.django_db
def test_what_somebody_did_here_is_seen_at_once_in_what_is_kept_for_all(operator: Client) -> None:
    job = JobFactory(dead=True, fingerprint="v1:one", error="kept for a while")
    assert "kept for a while" in operator.get("/dlq/").content.decode()
    assert lists.dead_groups()[0][0]["n"] == 1
    operator.post("/actions/retry/", {"id": job.id, "reason": "again"})
    assert lists.dead_groups() == ([], False)
