"""Rules as data: added, changed and removed by people, audited, tried on the last days' failures, read by workers."""

import io
import json
import random
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from jobs.domain.errors import InvalidInput, RuleNotFound
from jobs.domain.outcomes import DeadLettered
from jobs.domain.rules.written import written_rule
from jobs.models import AuditEntry
from jobs.operations import rules
from jobs.operations.actions import Person
from jobs.queue import rules as stored
from jobs.workers.judge import judge
from jobs.workers.link import Link
from jobs.workers.rulebook import Rulebook
from tests.queue.helpers import BOOM, claim_one, finish, insert, running
from tests.workers.helpers import KIT, wait_for

KIM = Person("kim", address="10.0.0.1")
QUOTA = {"kind": "phrase", "pattern": "kiwi basket * peeled", "failure_type": "FATAL", "why": "the tenant's own basket"}


def rule(**more: str) -> Any:
    return written_rule("tried", **(QUOTA | more))


class Overdrawn(Exception):
    status_code = 503


def failed(conn: Any, id: str, error: BaseException, using: Any = None) -> None:
    """A run of a job that raised, judged and recorded as a worker does it."""
    insert(conn, id, tenantId=id)
    job = claim_one(conn)
    finish(conn, job.run, judge(job, error, job.run.started, 0.0, random.Random(1), *([using] if using else [])))


# --- Changing them ----------------------------------------------------------------------------------------------------
def test_adding_changing_and_removing_is_audited_with_what_was_and_is(conn: Any) -> None:
    first = rules.add(KIM, **QUOTA, reason="the vendor said so")
    rules.change(KIM, first, failure_type="LOGICAL", enabled=False, reason="no, the tenant must")
    rules.remove(KIM, first, reason="over")
    assert stored.all_rules() == []
    entries = list(AuditEntry.objects.order_by("id"))
    assert [entry.action for entry in entries] == ["add_rule", "change_rule", "remove_rule"]
    assert {(entry.actor, entry.target, entry.address) for entry in entries} == {("kim", f"rule {first}", "10.0.0.1")}
    added, changed, removed = entries
    assert added.after["failure_type"] == changed.before["failure_type"] == "FATAL"
    assert (changed.after["failure_type"], changed.after["enabled"]) == ("LOGICAL", False)
    assert removed.before == changed.after and removed.reason == "over"


def test_a_change_keeps_what_is_not_named_and_is_checked_as_a_new_rule_is(conn: Any) -> None:
    id_ = rules.add(KIM, **QUOTA, position=7, reason="x")
    rules.change(KIM, id_, why="because", reason="x")
    one = stored.all_rules()[0]
    assert (one.pattern, one.position, one.why, one.updated_by) == (QUOTA["pattern"], 7, "because", "kim")
    for field, fields in [
        ("pattern", {"pattern": "*"}),
        ("colour", {"colour": "red"}),
        ("position", {"position": "x"}),
    ]:
        with pytest.raises(InvalidInput) as refused:
            rules.change(KIM, id_, reason="x", **fields)
        assert refused.value.field == field
    assert stored.all_rules() == [one]


def test_without_a_reason_or_for_a_rule_that_is_not_there_nothing_is_done(conn: Any) -> None:
    with pytest.raises(InvalidInput, match="reason"):
        rules.add(KIM, **QUOTA, reason=" ")
    with pytest.raises(RuleNotFound):
        rules.change(KIM, 7, why="x", reason="x")
    with pytest.raises(RuleNotFound):
        rules.remove(KIM, 7, reason="x")
    assert AuditEntry.objects.count() == 0


# --- In force ---------------------------------------------------------------------------------------------------------
def test_rules_are_asked_by_position_then_age_and_bad_rows_are_left_out(conn: Any) -> None:
    second = rules.add(KIM, **QUOTA, reason="x")
    first = rules.add(KIM, **QUOTA, position=-1, reason="x")
    off = rules.add(KIM, **QUOTA, reason="x")
    rules.change(KIM, off, enabled=False, reason="x")
    conn.execute(
        "INSERT INTO failure_rule (kind, pattern, failure_type, why, created_by) VALUES ('phrase', ' | ', 'FATAL', 'x', 'sql')"
    )
    assert [one.id for one in stored.in_force(conn)] == [f"admin-{first}", f"admin-{second}"]


def test_a_worker_judges_by_a_new_rule_within_moments(conn: Any, worker_process: Any) -> None:
    worker_process(**KIT, JOB_WORKER_POLL_INTERVAL_MS="60000")
    insert(conn, "before", type="FAIL", config='{"error": "Kiwi basket of 5 pieces peeled"}')
    wait_for(lambda: conn.execute("""SELECT "failureType" FROM "PlatformJob" WHERE id = 'before'""").fetchone()[0])
    rules.add(KIM, **QUOTA, reason="x")
    tries = iter(range(100))

    def judged() -> bool:
        id_ = f"after{next(tries)}"
        insert(conn, id_, type="FAIL", config='{"error": "Kiwi basket of 5 pieces peeled"}', tenantId=id_)
        wait_for(lambda: conn.execute('SELECT "failureType" FROM "PlatformJob" WHERE id = %s', [id_]).fetchone()[0])
        return conn.execute('SELECT dlq FROM "PlatformJob" WHERE id = %s', [id_]).fetchone()[0]

    wait_for(judged, 10)
    reason = conn.execute("SELECT reason FROM job_history WHERE to_dlq AND to_status = 'FAILED' LIMIT 1").fetchone()[0]
    assert "the tenant's own basket" in reason


def test_rules_that_cannot_be_read_leave_the_known_ones_in_force(conn: Any, make_conn: Any) -> None:
    rules.add(KIM, **QUOTA, reason="x")
    link = Link(lambda *_: make_conn(), "test")
    book = Rulebook(link, timedelta(seconds=60))
    assert book.in_force()[0].id.startswith("admin-")
    conn.execute("ALTER TABLE failure_rule RENAME TO elsewhere")
    try:
        book.look_now()
        book.refresh(link)
        assert book.in_force()[0].id.startswith("admin-")
        assert not Rulebook(link, timedelta(seconds=60)).in_force()[0].id.startswith("admin-")
    finally:
        conn.execute("ALTER TABLE elsewhere RENAME TO failure_rule")


def test_a_rule_that_breaks_leaves_the_built_in_ones_to_judge(conn: Any) -> None:
    class Broken:
        id, sign = "broken", "phrase"

        def __hash__(self) -> int:
            raise RuntimeError("no")

    failed(conn, "j", TimeoutError("timed out"), using=[Broken()])
    assert conn.execute('SELECT "failureType" FROM "PlatformJob"').fetchone() == ("TRANSIENT",)


# --- What would it have changed? --------------------------------------------------------------------------------------
def test_a_failure_keeps_what_it_was_judged_by(conn: Any) -> None:
    failed(conn, "j", Overdrawn("Kiwi basket of 5 pieces peeled"))
    (sign,) = conn.execute("SELECT detail -> 'sign' FROM job_history WHERE to_status = 'RETRY_WAIT'").fetchone()
    assert sign == {
        "message": "Kiwi basket of 5 pieces peeled",
        "exceptions": [f"{__name__}.Overdrawn"],
        "statuses": [503],
        "rule": "status-wait",
    }


def test_a_sign_is_small_and_can_be_stored_whatever_the_error_says(conn: Any) -> None:
    failed(conn, "j", ValueError("x" * 1_000_000 + "\x00\ud800"))
    (size,) = conn.execute(
        "SELECT length((detail -> 'sign')::text) FROM job_history WHERE failure_type IS NOT NULL"
    ).fetchone()
    assert size < 5_000


def test_the_trial_counts_by_old_and_new_type_and_shows_examples(conn: Any) -> None:
    for n in range(5):
        failed(conn, f"q{n}", Overdrawn(f"Kiwi basket of {n} pieces peeled"))
    failed(conn, "known", ImportError("kiwi basket was peeled by no module named x"))
    failed(conn, "other", TimeoutError("timed out"))
    finish(conn, running(conn, "foreign", tenantId="f"), DeadLettered(BOOM))
    trial = rules.what_would_change(rule())
    assert (trial.looked_at, trial.foreign, trial.cut) == (8, 1, None)
    assert dict(trial.changed) == {("TRANSIENT", "FATAL"): 5}
    assert [one.message for one in trial.examples] == [f"Kiwi basket of {n} pieces peeled" for n in (4, 3, 2)]
    assert trial.examples[0].decided_by == "status-wait" and trial.examples[0].was == "TRANSIENT"
    assert json.dumps(trial.as_json(), default=str)


def test_a_rule_that_a_surer_one_precedes_would_change_nothing(conn: Any) -> None:
    failed(conn, "q", Overdrawn("insufficient_quota"))
    trial = rules.what_would_change(rule(kind="status", pattern="503", failure_type="LOGICAL"))
    assert (trial.matched, trial.decided, trial.changed.total()) == (1, 0, 0)


def test_the_trial_of_a_change_leaves_the_stored_rule_out(conn: Any) -> None:
    id_ = rules.add(KIM, **QUOTA, position=-5, reason="x")
    failed(conn, "q", Overdrawn("Kiwi basket of 1 pieces peeled"))
    assert rules.what_would_change(rule(failure_type="LOGICAL"), instead_of=id_).changed.total() == 1


def test_the_trial_is_bounded_and_says_so(conn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(4):
        failed(conn, f"q{n}", Overdrawn("Kiwi basket of 1 pieces peeled"))
    trial = rules.what_would_change(rule(), limit=3)
    assert (trial.looked_at, trial.cut) == (3, "the newest 3 failures only")
    monkeypatch.setattr(rules, "_PAGE", 2)
    assert rules.what_would_change(rule()).looked_at == 4, "page by page"
    monkeypatch.setattr(rules, "TRIAL_SECONDS", -1.0)
    assert "stopped after" in (rules.what_would_change(rule()).cut or "")
    with pytest.raises(InvalidInput, match="days"):
        rules.what_would_change(rule(), days=0)


def test_the_trial_looks_no_further_back_than_it_was_told(conn: Any) -> None:
    failed(conn, "q", Overdrawn("Kiwi basket of 1 pieces peeled"))
    conn.execute("ALTER TABLE job_history DISABLE TRIGGER detiq_append_only")
    conn.execute("UPDATE job_history SET at = at - interval '3 days'")
    conn.execute("ALTER TABLE job_history ENABLE TRIGGER detiq_append_only")
    assert [rules.what_would_change(rule(), days=days).looked_at for days in (2, 4)] == [0, 1]


def test_a_read_that_takes_too_long_ends_the_trial_politely(conn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "run", lambda name, *rest: _slow() if name == "judged_failures" else _run(name, *rest))
    monkeypatch.setattr(rules, "STATEMENT_SECONDS", 1)
    assert "a read took longer than 1 s" in (rules.what_would_change(rule()).cut or "")


_run = stored.run


def _slow() -> Any:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(30)")


# --- The command ------------------------------------------------------------------------------------------------------
WORDS = ["--kind", "phrase", "--pattern", "kiwi basket * peeled", "--type", "FATAL", "--why", "the tenant's own basket"]


def said(*arguments: str) -> str:
    out = io.StringIO()
    call_command("rules", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_lists_tries_adds_changes_and_removes(conn: Any) -> None:
    failed(conn, "q", Overdrawn("Kiwi basket of 1 pieces peeled"))
    assert "no rules but the built-in ones" in said("list")
    assert "TRANSIENT → FATAL: 1" in said("test", *WORDS)
    assert json.loads(said("test", *WORDS, "--json"))["changed"] == [
        {"was": "TRANSIENT", "would_be": "FATAL", "failures": 1}
    ]
    id_ = str(json.loads(said("add", *WORDS, "--reason", "x", "--json"))["id"])
    assert f"{id_}: phrase 'kiwi basket * peeled' is FATAL" in said("list")
    assert f"changed: {id_}" in said("change", id_, "--disable", "--reason", "x")
    assert json.loads(said("list", "--json"))[0]["enabled"] is False
    assert "status-wait" in said("list", "--built-in")
    assert f"removed: {id_}" in said("remove", id_, "--reason", "x")
    assert AuditEntry.objects.filter(actor__startswith="command:").count() == 3


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["add", *WORDS[:-1], " ", "--reason", "x"], 2),
        (["remove", "7", "--reason", "x"], 1),
        (["test", *WORDS, "--days", "0"], 2),
    ],
)
def test_the_command_ends_with_two_when_typed_wrong_and_one_when_refused(
    conn: Any, arguments: list[str], code: int
) -> None:
    with pytest.raises(CommandError) as refused:
        said(*arguments)
    assert refused.value.returncode == code
