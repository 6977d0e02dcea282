"""The database and the model, column by column. What the model leaves open is settled with what the database says."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tests.model.reference import COLUMNS, Job, OneOf, Queue, Step, Text, Within

HISTORY = """SELECT id, job_id, from_status, from_dlq, to_status, to_dlq, actor, reason FROM job_history
              WHERE id > %s ORDER BY id"""
TALLIES = """
SELECT tenant_id, type, state, sum(n)::int FROM (
    SELECT tenant_id, type, state, n FROM tally_state
    UNION ALL SELECT tenant_id, type, from_state, -n FROM tally_delta WHERE from_state IS NOT NULL
    UNION ALL SELECT tenant_id, type, to_state, n FROM tally_delta WHERE to_state IS NOT NULL) c
GROUP BY 1, 2, 3 HAVING sum(n) <> 0"""


@dataclass(frozen=True)
class Moments:
    """The database's clock before and after an operation."""

    before: datetime
    after: datetime


def rows(conn: Any, table: str, key: str) -> dict[str, dict[str, Any]]:
    cursor = conn.execute(f'SELECT * FROM "{table}"')
    names = [column.name for column in cursor.description]
    found = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return {row[key]: row for row in found}


def compare_jobs(conn: Any, model: Queue, moments: Moments) -> None:
    stored = rows(conn, "PlatformJob", "id")
    assert set(stored) == set(model.jobs)
    for id, job in model.jobs.items():
        compare_job(job, stored[id], moments)
    trash = rows(conn, "job_trash", "job_id")
    assert set(trash) == set(model.trash)


def compare_job(job: Job, row: dict[str, Any], moments: Moments) -> None:
    for column, name in COLUMNS.items():
        expected, actual = getattr(job, name), row[column]
        where = f"{column} of {job.id} ({job.type}, {job.status}): expected {expected!r}, is {actual!r}; {moments}"
        assert matches(expected, actual, moments), where
        setattr(job, name, actual)


def matches(expected: Any, actual: Any, moments: Moments) -> bool:
    match expected:
        case Within(least, most):
            earliest, latest = moments.before + timedelta(seconds=least), moments.after + timedelta(seconds=most)
            return isinstance(actual, datetime) and earliest <= actual <= latest
        case Text(start):
            return isinstance(actual, str) and actual.startswith(start)
        case OneOf(values):
            return any(matches(value, actual, moments) for value in values)
        case dict():
            return (
                isinstance(actual, dict)
                and set(expected) == set(actual)
                and all(matches(value, actual[key], moments) for key, value in expected.items())
            )
    return type(expected) is type(actual) and expected == actual


def compare_history(conn: Any, model: Queue, last_id: int) -> int:
    """The steps that the last operation left, job by job in their order. Returns the id of the last."""
    stored = conn.execute(HISTORY, [last_id]).fetchall()
    steps = [Step(row[1], (row[2], row[3]), (row[4], row[5]), row[6], row[7]) for row in stored]
    assert len(steps) == len(model.history), f"expected {model.history}\nis {steps}"
    for job_id in {step.job_id for step in [*steps, *model.history]}:
        expected = [step for step in model.history if step.job_id == job_id]
        actual = [step for step in steps if step.job_id == job_id]
        assert len(expected) == len(actual), f"expected {expected}\nis {actual}"
        for mine, its in zip(expected, actual, strict=True):
            same = (mine.was, mine.becomes) == (its.was, its.becomes)
            assert same and _text(mine.actor, its.actor) and _text(mine.reason, its.reason), (
                f"expected {mine}\nis {its}"
            )
    model.history.clear()
    return stored[-1][0] if stored else last_id


def compare_tallies(conn: Any, model: Queue) -> None:
    counted = {(tenant, type_, state): n for tenant, type_, state, n in conn.execute(TALLIES).fetchall()}
    assert counted == dict(Counter((job.tenant_id, job.type, job.state) for job in model.jobs.values()))


def compare_gate(conn: Any, model: Queue) -> None:
    lifted = dict(conn.execute("SELECT id, lifted_at IS NOT NULL FROM queue_pause").fetchall())
    assert lifted == {id: pause.lifted for id, pause in model.pauses.items()}
    flag = conn.execute("""SELECT value FROM "SystemConfig" WHERE key = 'queue.paused'""").fetchone()
    assert model.flag == (flag is not None and flag[0] == "true")


def _text(expected: Any, actual: Any) -> bool:
    if isinstance(expected, OneOf):
        return any(_text(value, actual) for value in expected.values)
    return actual.startswith(expected.start) if isinstance(expected, Text) and actual else expected == actual
