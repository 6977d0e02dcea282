"""Why a job isn't running: the explainer says eligible exactly when the claim takes it, and names what holds it."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings

from jobs.conf import Conf
from jobs.domain.outcomes import ClaimRequest
from jobs.queue import transitions, waiting
from jobs.queue.waiting import Gate, Lane
from tests.queue.helpers import TYPES, claim, insert

TENANTS = ["", "acme", "globex", "müller"]
PROJECTS = [None, "web", "app"]
STATUSES = ["QUEUED"] * 6 + ["RUNNING", "RUNNING", "CANCEL_REQUESTED", "RETRY_WAIT", "DONE", "FAILED", "ON_HOLD"]
CAP = """INSERT INTO {table}_setting ({key}, cap, unlimited, ends_at, previous_cap, previous_unlimited, updated_by)
         VALUES (%s, %s, %s, %s, %s, %s, 'kim')"""


def moment(rng: random.Random) -> datetime | None:
    return rng.choice([None, None, None, datetime.now(UTC) + timedelta(seconds=rng.choice([-3600, -1, 3600]))])


def fill(conn: Any, rng: random.Random) -> list[str]:
    """Random pauses, caps and jobs. Returns the jobs' ids."""
    if rng.random() < 0.15:
        value = rng.choice(["true", " TRUE ", "false", "1", ""])
        conn.execute("""INSERT INTO "SystemConfig" (key, value) VALUES ('queue.paused', %s)""", [value])
    for _ in range(rng.choice([0, 0, 1, 2, 4])):
        scope = [rng.choice([None, *TYPES]), rng.choice([None, *TENANTS[1:]]), rng.choice(PROJECTS)]
        if not any(scope) and rng.random() < 0.8:
            continue
        lifted = rng.choice([None, None, datetime.now(UTC)])
        conn.execute(
            """INSERT INTO queue_pause (type, tenant_id, project_id, reason, owner, created_at, ends_at, lifted_at, lifted_by)
               VALUES (%s, %s, %s, 'x', 'kim', now() - interval '1 day', %s, %s, %s)""",
            [*scope, moment(rng), lifted, lifted and "kim"],
        )
    for table, key, names in (("tenant", "tenant_id", TENANTS), ("type", "type", TYPES)):
        for name in names:
            if rng.random() < 0.4:
                caps = [
                    rng.choice([None, 0, 1, 3]),
                    rng.random() < 0.2,
                    moment(rng),
                    rng.choice([None, 0, 2]),
                    rng.random() < 0.2,
                ]
                if caps[1]:
                    caps[0] = None
                conn.execute(CAP.format(table=table, key=key), [name, *caps])
    jobs = []
    for number in range(rng.randint(1, 16)):
        insert(
            conn, f"j{number}", tenantId=rng.choice(TENANTS), type=rng.choice(TYPES), projectId=rng.choice(PROJECTS),
            status=rng.choice(STATUSES), inline=rng.random() < 0.15, nextRetryAt=moment(rng), priority=rng.choice([0, 0, 5]),
        )  # fmt: skip
        jobs.append(f"j{number}")
    return jobs


@pytest.fixture
def caps(monkeypatch: pytest.MonkeyPatch) -> Any:
    def given(tenant: int, discover: int) -> None:
        values = settings.DETIQ.__dict__ | {"tenant_cap": tenant, "discover_cap": discover}
        monkeypatch.setattr(settings, "DETIQ", Conf(**values))

    return given


@pytest.mark.parametrize("seed", range(8))
def test_eligible_is_exactly_what_the_claim_takes(conn: Any, caps: Any, seed: int) -> None:
    rng = random.Random(seed)
    seen: Counter[bool] = Counter()
    for _ in range(12):
        tenant_cap, discover_cap = rng.choice([0, 1, 2, 4]), rng.choice([0, 1, 2])
        caps(tenant_cap, discover_cap)
        request = ClaimRequest(1, TYPES, tenant_cap, {"DISCOVER": discover_cap})
        with conn.transaction(force_rollback=True):
            jobs = fill(conn, rng)
            said = waiting.explain(jobs, conn)
            for job_id in jobs:
                with conn.transaction(force_rollback=True):
                    taken = transitions.claim_job(job_id, "w", request, conn) is not None
                assert said[job_id].eligible == taken, (said[job_id], taken)
                gates = set(said[job_id].blocking) - {Gate.WORKER, Gate.SLOT}
                assert bool(gates) != taken, (said[job_id], taken)
                seen[taken] += 1
            eligible = {job_id for job_id, one in said.items() if one.eligible}
            for strict in (True, False):
                with conn.transaction(force_rollback=True):
                    got = claim(
                        conn, 1, tenant_cap=tenant_cap, type_caps={"DISCOVER": discover_cap}, strict=strict
                    ).jobs
                assert {job.run.job_id for job in got} <= eligible
                assert bool(got) == bool(eligible)
    assert seen[True] and seen[False]


@pytest.mark.parametrize("seed", range(4))
def test_a_set_is_the_sum_of_its_jobs(conn: Any, seed: int) -> None:
    rng = random.Random(100 + seed)
    for _ in range(10):
        with conn.transaction(force_rollback=True):
            fill(conn, rng)
            conn.execute(
                "INSERT INTO worker (id, host, pid, slots, types) VALUES ('w', 'h', 1, %s, %s)",
                [rng.choice([2, 40]), TYPES[:2]],
            )
            rows = conn.execute("""SELECT id FROM "PlatformJob" WHERE status = 'QUEUED'""").fetchall()
            single = waiting.explain([row[0] for row in rows], conn)
            firsts = Counter(
                one.blocking[0] if one.blocking else None for one in single.values() if not one.crew.unknown
            )
            lanes = conn.execute(
                """SELECT type, "tenantId", "projectId", count(*)::integer,
                          count(*) FILTER (WHERE "nextRetryAt" > clock_timestamp())::integer
                     FROM "PlatformJob" WHERE status = 'QUEUED' GROUP BY 1, 2, 3"""
            ).fetchall()
            reasons = waiting.explain_set([Lane(*lane) for lane in lanes], conn)
            assert reasons.total == len(rows)
            assert sum(reasons.gates.values()) + reasons.waiting + reasons.unknown == reasons.total
            known = {gate: n for gate, n in firsts.items() if gate is not None}
            if not reasons.unknown:
                assert dict(reasons.gates) == known
                assert reasons.waiting == firsts[None]


def only(conn: Any) -> waiting.Explanation:
    return waiting.explain(["j"], conn)["j"]


FLIPS = {
    Gate.ALL_PAUSED: """INSERT INTO queue_pause (reason, owner) VALUES ('x', 'kim')""",
    Gate.STATE: """UPDATE "PlatformJob" SET status = 'DONE' WHERE id = 'j'""",
    Gate.DUE: """UPDATE "PlatformJob" SET "nextRetryAt" = now() + interval '1 h' WHERE id = 'j'""",
    Gate.PAUSED: """INSERT INTO queue_pause (project_id, reason, owner) VALUES ('web', 'x', 'kim')""",
    Gate.TENANT_CAP: """INSERT INTO tenant_setting (tenant_id, cap, updated_by) VALUES ('acme', 0, 'kim')""",
    Gate.TYPE_CAP: """INSERT INTO type_setting (type, cap, updated_by) VALUES ('CRAWL', 0, 'kim')""",
    Gate.WORKER: """UPDATE worker SET types = '{OTHER}'""",
    Gate.SLOT: """INSERT INTO "PlatformJob" (id, "tenantId", type, status, "workerId", config)
                  SELECT 'r' || n, 'z', 'OTHER', 'RUNNING', 'w', '{}' FROM generate_series(1, 8) n""",
}


@pytest.mark.parametrize("gate", Gate)
def test_one_thing_shuts_one_gate(conn: Any, gate: Gate) -> None:
    insert(conn, "j", projectId="web")
    conn.execute("INSERT INTO worker (id, host, pid, slots, types) VALUES ('w', 'h', 1, 8, '{CRAWL}')")
    assert only(conn).eligible and only(conn).blocking == []
    conn.execute(FLIPS[gate])
    assert only(conn).blocking == [gate]


def test_what_another_programs_worker_will_take_is_unknown_not_guessed(conn: Any) -> None:
    insert(conn, "j")
    assert only(conn).blocking == [Gate.WORKER]
    insert(conn, "r", status="RUNNING", workerId="node-7", tenantId="z")
    assert only(conn).blocking == [] and only(conn).crew.unknown
    conn.execute(
        """INSERT INTO worker (id, host, pid, slots, types, heartbeat_at)
           VALUES ('w', 'h', 1, 8, '{CRAWL}', now() - interval '5 min')"""
    )
    assert only(conn).crew.silent == 1 and only(conn).crew.live == 0


def test_what_is_ahead_of_a_job(conn: Any) -> None:
    insert(conn, "before", queuedAt=datetime(2020, 1, 1, tzinfo=UTC))
    insert(conn, "j", queuedAt=datetime(2021, 1, 1, tzinfo=UTC))
    insert(conn, "after")
    insert(conn, "high", priority=5, tenantId="z")
    insert(conn, "turn-1", tenantId="b")
    insert(conn, "turn-2", tenantId="c")
    insert(conn, "later", priority=9, nextRetryAt=datetime.now(UTC) + timedelta(hours=1))
    assert waiting.ahead("j", conn) == waiting.Ahead(own=1, higher=1, tenants=2)
    conn.execute("INSERT INTO worker (id, host, pid, slots, types) VALUES ('w', 'h', 1, 8, '{CRAWL,OTHER}')")
    insert(conn, "other-type", type="OTHER", tenantId="d", priority=0)
    insert(conn, "high-too", type="OTHER", tenantId="d", priority=7)
    assert waiting.ahead("j", conn) == waiting.Ahead(own=1, higher=2, tenants=3)
    assert waiting.ahead("nowhere", conn) is None
