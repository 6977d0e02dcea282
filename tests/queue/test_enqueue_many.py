"""Many jobs at once: all or none, each as if it had been enqueued alone."""

from typing import Any

import pytest

from jobs.domain.errors import DuplicateJob, InvalidInput
from jobs.domain.new_job import NewJob
from jobs.queue import transitions
from tests.queue.helpers import history, row


def columns(conn: Any, id: str) -> dict[str, Any]:
    return {
        key: value for key, value in row(conn, id).items() if key not in ("id", "queuedAt", "nextRetryAt", "uniqueKey")
    }


def test_each_is_as_if_enqueued_alone(conn: Any) -> None:
    job = {"type": "CRAWL", "tenant_id": "acme", "project_id": "p", "config": {"url": "a\tb\n\\N", "n": 1}, "name": "x",
           "priority": 3, "submitted_by": "me"}  # fmt: skip
    single = transitions.enqueue(**job, actor="me", unique_key="one", using=conn)
    both = transitions.enqueue_many([NewJob(**job, unique_key="two"), NewJob("DISCOVER", "b")], actor="me", using=conn)
    assert columns(conn, both[0]) == columns(conn, single)
    assert row(conn, both[1])["type"] == "DISCOVER"
    assert history(conn, both[0]) == history(conn, single) == [(None, "QUEUED")]
    actors = conn.execute("SELECT DISTINCT actor, reason FROM job_history").fetchall()
    assert actors == [("me", None)]


def test_a_delay_is_counted_by_the_databases_clock(conn: Any) -> None:
    (id,) = transitions.enqueue_many([NewJob("CRAWL", "acme", delay_seconds=60)], actor="me", using=conn)
    wait = 'SELECT extract(epoch FROM "nextRetryAt" - clock_timestamp()) FROM "PlatformJob" WHERE id = %s'
    assert 50 < conn.execute(wait, [id]).fetchone()[0] <= 60


@pytest.mark.parametrize("bad", [NewJob("", "acme"), NewJob("CRAWL", " ")])
def test_one_that_cannot_be_stored_leaves_all_out(conn: Any, bad: NewJob) -> None:
    with pytest.raises(InvalidInput):
        transitions.enqueue_many([NewJob("CRAWL", "acme"), bad], actor="me", using=conn)
    assert conn.execute('SELECT count(*) FROM "PlatformJob"').fetchone() == (0,)


def test_a_key_that_is_held_leaves_all_out_and_names_the_holder(conn: Any) -> None:
    holder = transitions.enqueue(type="CRAWL", tenant_id="acme", actor="me", unique_key="k", using=conn)
    with pytest.raises(DuplicateJob, match=holder):
        transitions.enqueue_many(
            [NewJob("CRAWL", "acme"), NewJob("CRAWL", "acme", unique_key="k")], actor="me", using=conn
        )
    assert conn.execute('SELECT count(*) FROM "PlatformJob"').fetchone() == (1,)
    with pytest.raises(InvalidInput, match="twice"):
        transitions.enqueue_many([NewJob("CRAWL", "a", unique_key="z")] * 2, actor="me", using=conn)


def test_in_a_transaction_of_djangos(db_clean: None) -> None:
    from django.db import transaction

    from jobs.models import Job

    with transaction.atomic():
        ids = transitions.enqueue_many([NewJob("CRAWL", "acme") for _ in range(3)], actor="me")
        with pytest.raises(DuplicateJob):
            transitions.enqueue_many([NewJob("CRAWL", "acme", unique_key="k")], actor="me")
            transitions.enqueue_many([NewJob("CRAWL", "acme", unique_key="k")], actor="me")
    assert Job.objects.filter(id__in=ids).count() == 3
    assert transitions.enqueue_many([], actor="me") == []
