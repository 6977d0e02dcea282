"""What machines ask."""

import time
from collections.abc import Callable

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import OperationalError, connection
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families
from psycopg.errors import ConnectionTimeout
from psycopg_pool import PoolTimeout

from jobs.console import metrics
from jobs.console.queries import overview, system
from tests.console.addresses import ACTIONS
from tests.console.test_access import form_for
from tests.factories import JobFactory, PauseFactory, WorkerFactory

pytestmark = pytest.mark.django_db
LABELS = ("type", "status", "state", "use", "le")


def scrape(client: Client) -> dict[str, dict[tuple[str, ...], float]]:
    metrics.clear()
    overview.shared.clear()
    response = client.get("/metrics")
    assert response.status_code == 200 and response["Content-Type"].startswith("text/plain; version=0.0.4")
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(response.content.decode()):
        assert family.documentation and family.type in {"counter", "gauge", "histogram"}
        for sample in family.samples:
            labels = tuple(sample.labels[name] for name in LABELS if name in sample.labels)
            found.setdefault(sample.name, {})[labels] = sample.value
    return found


def test_the_figures_follow_prometheus_conventions(client: Client) -> None:
    WorkerFactory(id="w:1:a", slots=8)
    PauseFactory(type="DISCOVER")
    JobFactory(tenant_id="secret-tenant")
    job = JobFactory(running=True, worker_id="w:1:a")
    with connection.cursor() as cursor:
        cursor.execute("""UPDATE "PlatformJob" SET status = 'DONE', "finishedAt" = now() WHERE id = %s""", [job.id])
        dead = JobFactory(running=True, type='CR"A\\WL\n')
        cursor.execute("""UPDATE "PlatformJob" SET status = 'FAILED', dlq = true WHERE id = %s""", [dead.id])
    found = scrape(client)
    assert found["detiq_jobs_total"] == {("CRAWL", "done"): 1, ('CR"A\\WL\n', "dead_lettered"): 1}
    assert found["detiq_job_run_seconds_count"] == {("CRAWL",): 1, ('CR"A\\WL\n',): 1}
    assert 80 < found["detiq_job_run_seconds_sum"]["CRAWL",] < 130
    assert found["detiq_job_run_seconds_bucket"]["CRAWL", "60.0"] == 0
    assert found["detiq_job_run_seconds_bucket"]["CRAWL", "120.0"] == 1
    assert found["detiq_job_run_seconds_bucket"]["CRAWL", "+Inf"] == 1
    assert found["detiq_queue_jobs"]["CRAWL", "QUEUED"] == 1
    assert 150 < found["detiq_queue_oldest_wait_seconds"]["CRAWL",] < 300
    assert found["detiq_worker_slots"] == {("total",): 8, ("used",): 0} and found["detiq_pauses"] == {(): 1}
    assert "secret-tenant" not in client.get("/metrics").content.decode()


def test_a_second_scrape_costs_nothing(client: Client, django_assert_num_queries: object) -> None:
    scrape(client)
    with django_assert_num_queries(0):  # type: ignore[operator]
        client.get("/metrics")


def test_ready_means_reachable_and_migrated(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = client.get("/readyz").json()
    assert answer["status"] == "ready" and "triggers only" in answer["note"]
    monkeypatch.setattr(system, "_disk", [("jobs", "9999_later")])
    response = client.get("/readyz")
    assert response.status_code == 503 and "jobs.9999_later" in response.json()["reason"]


def test_the_process_answers_without_the_database(client: Client, django_assert_num_queries: object) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]
        assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize("path", ["/healthz", "/metrics"])
def test_a_browsers_session_is_not_read_for_what_needs_no_login(
    viewer: Client, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    reads = _count_session_reads(monkeypatch)
    assert viewer.get(path).status_code == 200
    assert reads == []


def test_not_ready_comes_within_its_limit(client: Client, settings: object) -> None:
    database = dict(connection.settings_dict) | {"HOST": "127.0.0.1", "PORT": "1"}
    began = time.monotonic()
    with pytest.raises(system.NotReady, match="database"):
        system.readiness(database)
    assert time.monotonic() - began < 3
    assert client.get("/healthz").json() == {"status": "ok"}


@pytest.mark.parametrize("error", [OperationalError("server closed the connection"), PoolTimeout("no connection")])
def test_an_outage_is_a_503_that_says_so(viewer: Client, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def away(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(overview, "read", away)
    response = viewer.get("/")
    assert response.status_code == 503 and response["Retry-After"] == "5"
    assert "database" in response.content.decode() and response["X-Frame-Options"] == "DENY"
    part = viewer.get("/", headers={"HX-Request": "true"})
    assert part.status_code == 503 and part["Content-Type"].startswith("text/plain")
    assert viewer.get("/settings/").status_code == 200  # the frame goes without its figures


def test_an_outage_before_any_view_is_a_503_too(viewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.contrib.sessions.backends.db import SessionStore

    def away(*_: object, **__: object) -> None:
        raise OperationalError("connection refused") from ConnectionTimeout()

    monkeypatch.setattr(SessionStore, "load", away)
    viewer.raise_request_exception = False
    response = viewer.get("/")
    assert response.status_code == 503 and "frame-ancestors" in response["Content-Security-Policy"]


def test_an_outage_is_waited_for_once_a_request(viewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = _count_session_reads(monkeypatch, error=PoolTimeout("no connection"))  # each takes seconds
    viewer.raise_request_exception = False
    assert viewer.get("/").status_code == 503
    assert len(reads) == 1


def _count_session_reads(monkeypatch: pytest.MonkeyPatch, error: Exception | None = None) -> list[str]:
    from django.contrib.sessions.backends.db import SessionStore

    reads: list[str] = []
    load = SessionStore.load

    def counted(store: SessionStore) -> object:
        reads.append("read")
        if error is not None:
            raise error
        return load(store)

    monkeypatch.setattr(SessionStore, "load", counted)
    return reads


# --- A database that can only be read: a standby before its promotion, a primary that was replaced ----------------------
CHANGES = [*(ACTIONS[name] for name in ("enqueue", "pause", "cancel", "cap", "bulk_cancel", "export_audit")), "/export/", "/filters/save/",
           "/accounts/logout/"]  # fmt: skip
MORE = {"/export/": {"form": "csv"}, "/filters/save/": {"name": "mine", "query": "type=CRAWL"}}
COMMANDS = [
    ["enqueue", "CRAWL", "--tenant", "acme"],
    ["queue", "pause", "--type", "X", "--reason", "y"],
    ["job", "cancel", "job", "--reason", "y"],
    ["operation", "start", "0123456789abcdef", "--reason", "y"],  # a preview that could not be kept
]


@pytest.mark.django_db(transaction=True)
def test_what_cannot_be_changed_at_present_is_said_and_pages_are_shown(
    as_role: Callable[..., Client], client: Client
) -> None:
    admin = as_role("admin")
    job = JobFactory(id="job")
    admin.raise_request_exception = False
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    try:
        for path in ("/", "/jobs/", "/jobs/job/", "/pauses/", "/operations/", "/settings/"):
            assert admin.get(path).status_code == 200, path
        names = {address: name for name, address in ACTIONS.items()}
        answers = {path: admin.post(path, MORE.get(path) or form_for(names.get(path, ""), job)) for path in CHANGES}
        answers["login"] = client.post("/accounts/login/", {"login": "kim", "password": "wrong"})
        for path, answer in answers.items():
            assert answer.status_code == 503, (path, answer.status_code)
            assert "can only be read" in answer.content.decode(), path
            assert "does not answer" not in answer.content.decode(), path
        for words in COMMANDS:
            with pytest.raises(CommandError, match="can only be read") as refused:
                call_command(*words)
            assert refused.value.returncode == 1
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET default_transaction_read_only")
