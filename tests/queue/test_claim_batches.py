"""Several jobs in one claim: what the rules say of a claim of one holds for each of them."""

import threading
from typing import Any

import psycopg

from jobs.domain.outcomes import ClaimRequest
from jobs.queue import transitions
from tests.queue.helpers import claim, insert


def claimed(turn: Any) -> list[str]:
    return sorted(job.run.job_id for job in turn.jobs)


def test_a_batch_takes_no_lower_priority_while_a_higher_one_may_run(conn: Any) -> None:
    insert(conn, "a1", tenantId="a")
    for n in range(5):
        insert(conn, f"b{n}", tenantId="b")
    insert(conn, "c1", tenantId="c", priority=-1)
    assert claimed(claim(conn, 4)) == ["a1", "b0", "b1", "b2"]


def test_a_batch_gives_a_tenant_its_next_job_when_the_first_ones_type_is_full(conn: Any) -> None:
    insert(conn, "d1", tenantId="a", type="DISCOVER")
    insert(conn, "d2", tenantId="b", type="DISCOVER")
    insert(conn, "b9", tenantId="b")
    insert(conn, "c1", tenantId="c", priority=-1)
    assert claimed(claim(conn, 3, tenant_cap=1, type_caps={"DISCOVER": 1})) == ["b9", "c1", "d1"]


def test_a_batch_goes_round_the_ring_before_it_gives_a_tenant_a_second_job(conn: Any) -> None:
    for id, tenant in (("c1", "c"), ("c2", "c"), ("a1", "a")):
        insert(conn, id, tenantId=tenant)
    assert claimed(claim(conn, 2, after="b")) == ["a1", "c1"]


def test_a_batch_takes_a_tenants_jobs_by_how_long_they_wait_whatever_their_type(conn: Any) -> None:
    for n in range(3):
        insert(conn, f"a{n}", tenantId="a")
    insert(conn, "a9", tenantId="a", type="DISCOVER")
    insert(conn, "b0", tenantId="b")
    assert claimed(claim(conn, 4)) == ["a0", "a1", "a2", "b0"]


def test_a_claim_in_the_sources_order_and_a_claim_of_one_job_do_not_wait_in_a_circle(conn: Any, make_conn: Any) -> None:
    for id, tenant in (("a1", "a"), ("a2", "a"), ("b1", "b")):
        insert(conn, id, tenantId=tenant, type="DISCOVER")
    one = make_conn()
    one.autocommit = False
    # Where a claim of one job of b is when it has its tenant's lock and not yet its type's.
    one.execute("SELECT pg_advisory_xact_lock_shared(hashtextextended('detiq.gate', 0))")
    one.execute("SELECT pg_advisory_xact_lock(hashtextextended('detiq.tenant:b', 0))")
    errors: list[BaseException] = []

    def strict() -> None:
        try:
            claim(conn, 2, tenant_cap=1, strict=True)
        except psycopg.errors.DeadlockDetected as error:
            errors.append(error)

    thread = threading.Thread(target=strict)
    thread.start()
    thread.join(0.5)
    try:
        transitions.claim_job("b1", "w", ClaimRequest(1, ["DISCOVER"], 1, {"DISCOVER": 2}), one)
        one.commit()
    except psycopg.errors.DeadlockDetected as error:
        one.rollback()
        errors.append(error)
    thread.join(10)
    assert not errors
