"""How a redrive goes: what is left out and why, how fast it may, and at which priority its jobs come back."""

from typing import Any

import pytest

from jobs.console.queries import bulk as preview
from jobs.domain.bulk import Kind, Options
from jobs.domain.errors import InvalidInput
from jobs.domain.outcomes import Completed, DeadLettered
from jobs.models import Operation
from jobs.operations import bulk
from jobs.operations.bulk.pace import Pace, pace
from jobs.queue import operations
from jobs.queue.operations import Selection
from tests.operations.bulk_helpers import DEAD, KIM, begin, dead, outcomes, work
from tests.queue.helpers import BOOM, claim, finish, insert, row

ALL = Options(boomerangs=True, held_tenants=True)


def foretold(options: Options, selection: Selection = DEAD) -> tuple[int, dict[str, int]]:
    found = preview.preview(Kind.RETRY, selection, options, ["DEAD_LETTERED"])
    return found.acts, found.why


def came_true(**options: Any) -> tuple[int, dict[str, int]]:
    """The same of what was done."""
    operation = begin(**options)
    done = work(operation)
    reasons = [reason for outcome, reason in outcomes(operation).values() if outcome == "skipped"]
    return done.done, {reason: reasons.count(reason) for reason in reasons if reason}


# --- What is left out -------------------------------------------------------------------------------------------------
@pytest.fixture
def mixed(conn: Any) -> None:
    """Dead letters with every reason to be left."""
    dead(conn, 4, prefix="plain")
    dead(conn, 3, prefix="back", redriveCount=1)
    dead(conn, 2, prefix="often", redriveCount=7)
    dead(conn, 3, prefix="paused")
    dead(conn, 2, prefix="typed")
    dead(conn, 2, prefix="suspended")
    for name in ("paused", "typed", "suspended"):
        conn.execute("""UPDATE "PlatformJob" SET "tenantId" = %s WHERE id LIKE %s""", [name, f"{name}%"])
    conn.execute("INSERT INTO queue_pause (tenant_id, reason, owner) VALUES ('paused', 'x', 'dana')")
    conn.execute("INSERT INTO queue_pause (tenant_id, type, reason, owner) VALUES ('typed', 'OTHER', 'x', 'dana')")
    conn.execute("INSERT INTO queue_pause (type, reason, owner) VALUES ('CRAWL', 'x', 'dana')")
    conn.execute("INSERT INTO tenant_setting (tenant_id, cap, updated_by) VALUES ('suspended', 0, 'dana')")
    for name in ("k1", "k2", "k3"):
        insert(conn, name, status="FAILED", dlq=True, uniqueKey="same")
    insert(conn, "h", status="FAILED", dlq=True, uniqueKey="held")
    insert(conn, "holder", uniqueKey="held")
    conn.execute("""UPDATE "PlatformJob" SET checkpoint = '[1]', progress = 40 WHERE id IN ('plain1', 'k1', 'back1')""")


CHOICES = [
    {},
    {"boomerangs": True},
    {"boomerangs": True, "max_redrives": 5},
    {"held_tenants": True},
    {"boomerangs": True, "held_tenants": True, "max_redrives": 1},
    {"kept_only": True},
    {"boomerangs": True, "held_tenants": True, "kept_only": True},
]


@pytest.mark.parametrize("choice", CHOICES)
def test_what_is_foretold_comes_true(conn: Any, mixed: None, choice: dict[str, Any]) -> None:
    assert foretold(Options(**choice)) == came_true(**choice)


def test_each_reason_has_its_number(conn: Any, mixed: None) -> None:
    acts, why = foretold(Options())
    assert acts == 4 + 2 + 1  # the plain ones, those of a tenant paused for another type, one of the three with one key
    assert why == {
        "came back to the DLQ after a redrive": 5, "its tenant is paused": 3, "its tenant is suspended": 2,
        "another active job holds its unique key": 3,
    }  # fmt: skip
    assert foretold(Options(boomerangs=True, max_redrives=5))[1]["redriven as often as the limit allows"] == 2


@pytest.mark.parametrize(
    ("choice", "acts", "kept"), [({}, 2, 2), ({"outdated": True}, 3, 2), ({"keep_checkpoint": False}, 3, 0)]
)
def test_checkpoints_of_another_version_are_left_or_start_over_as_chosen(
    conn: Any, choice: dict[str, Any], acts: int, kept: int
) -> None:
    dead(conn, 3, checkpoint="[1]", checkpointVersion="2")
    conn.execute(
        """UPDATE "PlatformJob" SET "checkpointVersion" = CASE id WHEN 'd2' THEN '1' END WHERE id IN ('d2', 'd3')"""
    )
    conn.execute("""INSERT INTO worker (id, host, pid, slots, types, versions)
                    VALUES ('w', 'h', 1, 1, '{CRAWL}', '{"CRAWL": "2"}')""")
    said = foretold(Options(**choice))
    assert said[0] == acts and said == came_true(**choice)
    assert all(
        why == "its checkpoint was written by version 1 of its handler, which is version 2 now" for why in said[1]
    )
    resumed = conn.execute("""SELECT count(*) FROM "PlatformJob" WHERE NOT dlq AND checkpoint IS NOT NULL""").fetchone()
    assert resumed == (kept,)


def test_a_version_that_comes_while_an_operation_runs_is_seen(conn: Any) -> None:
    dead(conn, 1, checkpoint="[1]", checkpointVersion="1")
    operation = begin()
    conn.execute("""INSERT INTO worker (id, host, pid, slots, types, versions)
                    VALUES ('w', 'h', 1, 1, '{CRAWL}', '{"CRAWL": "2"}')""")
    assert work(operation).skipped == 1 and "which is version 2 now" in str(outcomes(operation)["d1"][1])


def test_a_job_that_lost_its_checkpoint_since_is_left(conn: Any) -> None:
    dead(conn, 2, checkpoint="[1]")
    operation = begin(kept_only=True)
    conn.execute("""UPDATE "PlatformJob" SET checkpoint = NULL WHERE id = 'd1'""")
    work(operation)
    assert outcomes(operation) == {"d1": ("skipped", "it has no checkpoint"), "d2": ("done", None)}


def test_work_that_is_kept_is_told(conn: Any, mixed: None) -> None:
    found = preview.preview(Kind.RETRY, DEAD, Options(), ["DEAD_LETTERED"])
    assert (found.kept, found.saved_percent) == (2, 40)


# --- Priority ---------------------------------------------------------------------------------------------------------
def test_jobs_come_back_no_higher_than_asked(conn: Any) -> None:
    dead(conn, 1, prefix="high", priority=7)
    dead(conn, 1, prefix="low", priority=-9)
    assert work(begin(priority=-5)).done == 2
    assert (row(conn, "high1")["priority"], row(conn, "low1")["priority"]) == (-5, -9)
    assert work(begin(Kind.CANCEL, Selection("true"))).done == 2


# --- The pace ---------------------------------------------------------------------------------------------------------
def ended(conn: Any, number: int, well: bool) -> None:
    for job in claim(conn, number).jobs:
        outcome = Completed({}) if well else DeadLettered(BOOM, "boom")
        finish(conn, job.run, outcome)


def now(operation: int) -> Pace:
    found = Operation.objects.get(pk=operation)
    return pace(operation, Options.of(found.options))


def test_a_ramp_leads_up_while_what_is_released_ends_well_and_down_again(conn: Any) -> None:
    dead(conn, 900, tenants=900)
    operation = begin(rate=6000, ramp=True, brake_of=50)
    assert (now(operation).rate, now(operation).share_percent) == (600, 10)
    work(operation, 0.1)
    first = Operation.objects.get(pk=operation).done
    assert first <= 600 / 60 * 2 + 2  # two seconds of a tenth
    shares = []
    for _ in range(3):
        ended(conn, 10, well=True)
        bulk.work(operation, "r", 0)
        conn.execute(
            "UPDATE operation SET heartbeat_at = now() - interval '1 minute', paced_at = now() - interval '5 s'"
        )
        shares.append(now(operation).share_percent)
        work(operation, 0.1)
    assert shares == [25, 50, 100]
    ended(conn, 20, well=False)
    assert now(operation).share_percent == 25


def test_a_ramp_without_a_rate_is_refused(conn: Any) -> None:
    dead(conn, 1)
    with pytest.raises(InvalidInput, match="ramp"):
        begin(ramp=True)


def crew(conn: Any, slots: int, busy: int) -> None:
    conn.execute("INSERT INTO worker (id, host, pid, slots) VALUES ('w:1:a', 'w', 1, %s)", [slots])
    for number in range(busy):
        insert(
            conn, f"busy{number}", tenantId=f"b{number}", status="RUNNING", workerId="w:1:a", startedAt="now",
            heartbeatAt="now",
        )  # fmt: skip


def test_a_share_of_the_idle_slots_is_not_exceeded(conn: Any) -> None:
    crew(conn, slots=20, busy=10)
    dead(conn, 50, tenants=50)
    operation = begin(idle_percent=50)
    assert work(operation, 0.3).done == 5
    assert work(operation, 0.3, "again").done == 5 and now(operation).room == 0
    claimed = claim(conn, 2, worker="w:1:a").jobs
    conn.execute("UPDATE operation SET heartbeat_at = now() - interval '1 minute'")
    assert work(operation, 0.3).done == 5  # they run, and still use what is theirs
    for job in claimed:
        finish(conn, job.run, Completed({}))
    conn.execute("UPDATE operation SET heartbeat_at = now() - interval '1 minute'")
    assert work(operation, 0.3).done == 7


def test_without_an_idle_slot_nothing_is_released(conn: Any) -> None:
    dead(conn, 3)
    operation = begin(idle_percent=100)
    progress = bulk.work(operation, "r", 0.2)
    assert progress.delay == 0.5 and Operation.objects.get(pk=operation).done == 0
    crew(conn, slots=4, busy=4)
    assert bulk.work(operation, "r", 0.2).delay == 0.5 and Operation.objects.get(pk=operation).done == 0
    conn.execute("UPDATE worker SET slots = 5")
    assert work(operation, 0.2, "r").done == 1  # one percent of one slot is still one


# --- Where it was -----------------------------------------------------------------------------------------------------
def test_a_new_slice_goes_on_where_the_last_one_was_and_comes_back_for_the_locked(conn: Any, make_conn: Any) -> None:
    dead(conn, 120)
    operation = begin()
    other = make_conn()
    with other.transaction():
        other.execute("""SELECT 1 FROM "PlatformJob" WHERE id IN ('d1', 'd2') FOR UPDATE""")
        bulk.work(operation, "r", 0.0)
        bulk.work(operation, "r", 0.0)
        assert Operation.objects.get(pk=operation).reached >= 100
    done = work(operation, 5, "r")
    assert (done.state, done.done) == ("DONE", 120)


def test_the_set_grows_and_shrinks_before_the_word_and_the_operation_knows(conn: Any) -> None:
    dead(conn, 40)
    begun = bulk.start(KIM, Kind.RETRY, DEAD, reason="x", expected=43)
    assert Operation.objects.get(pk=begun.id).options["shown"] == 43
    assert operations.take(begun.id, "r").options.shown == 43  # type: ignore[union-attr]


@pytest.mark.parametrize("options", ['{"rate": "120"}', '{"brake_percent": 1.5}', "[]", "7"])
def test_an_operation_whose_options_cannot_be_read_is_held_not_guessed(conn: Any, options: str) -> None:
    insert(conn, "a", status="FAILED", dlq=True, error="x")
    number = begin()
    conn.execute("UPDATE operation SET options = %s::jsonb WHERE id = %s", [options, number])
    operation = work(number)
    assert (operation.state, row(conn, "a")["status"]) == ("BRAKED", "FAILED")
    assert "cannot be read" in operation.note
