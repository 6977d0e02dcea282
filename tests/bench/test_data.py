"""Believable data agrees with itself."""

import psycopg
import pytest

from jobs.bench import data
from jobs.bench.causes import CAUSES
from jobs.bench.server import Lab
from jobs.domain.fingerprint import fingerprint

JOBS = 3_000
# Each must find nothing.
LIES = {
    "a job's last move is not to the state it is in": """
        SELECT j.id FROM "PlatformJob" j
         WHERE status <> (SELECT to_status FROM job_history h WHERE h.job_id = j.id ORDER BY at DESC, id DESC LIMIT 1)""",
    "a move does not begin where the one before ended": """
        SELECT job_id FROM (SELECT job_id, from_status, lag(to_status) OVER (PARTITION BY job_id ORDER BY at, id) AS before
                              FROM job_history) h WHERE from_status IS DISTINCT FROM before""",
    "something happens in the future or before its cause": """
        SELECT id FROM "PlatformJob" WHERE greatest("startedAt", "finishedAt", "queuedAt") > now()
            OR "startedAt" < "queuedAt" OR "finishedAt" < "startedAt"
        UNION ALL SELECT job_id FROM job_history WHERE at > now()""",
    "counters by state differ from the rows": """
        SELECT tenant_id, type, state, n FROM tally_state
        EXCEPT SELECT "tenantId", type, detiq_state(status, dlq), count(*) FROM "PlatformJob" GROUP BY 1, 2, 3""",
    "totals differ from the history": """
        SELECT type, to_state, sum(n) FROM tally_total GROUP BY 1, 2
        EXCEPT SELECT type, detiq_state(to_status, to_dlq), count(*) FROM job_history GROUP BY 1, 2""",
    "minutes differ from the history": """
        SELECT sum(n) FROM tally_minute WHERE minute >= now() - interval '7 days'
        EXCEPT SELECT count(*) FROM job_history WHERE date_trunc('minute', at) >= now() - interval '7 days'""",
    "failures by cause, by tenant or by group differ from the history": """
        SELECT sum(n), sum(dead) FROM failure_cause WHERE grain = 'd'
        EXCEPT SELECT count(*), count(*) FILTER (WHERE to_dlq) FROM job_history WHERE to_status IN ('RETRY_WAIT', 'FAILED')
        UNION ALL
        (SELECT sum(n), sum(dead) FROM failure_group EXCEPT SELECT sum(n), sum(dead) FROM failure_tenant WHERE grain = 'h')""",
    "counters by type differ from those by tenant": """
        SELECT type, state, n FROM tally_type EXCEPT SELECT type, state, sum(n) FROM tally_state GROUP BY 1, 2""",
    "a tenant or a type runs more than its cap": """
        SELECT "tenantId" FROM "PlatformJob" WHERE status = 'RUNNING' GROUP BY 1 HAVING count(*) > 4
        UNION ALL SELECT type FROM "PlatformJob" WHERE status = 'RUNNING' AND type = 'DISCOVER' GROUP BY 1 HAVING count(*) > 2""",
}


@pytest.fixture(scope="module")
def filled(lab: Lab):
    with lab.database() as url:
        data.generate(url, JOBS)
        with psycopg.connect(url, autocommit=True) as connection:
            yield connection


@pytest.mark.parametrize("lie", LIES)
def test_it_agrees_with_itself(filled, lie: str) -> None:
    assert filled.execute(LIES[lie]).fetchall() == []


def test_it_has_what_a_console_shows(filled) -> None:
    states = dict(filled.execute('SELECT detiq_state(status, dlq), count(*) FROM "PlatformJob" GROUP BY 1').fetchall())
    assert sum(states.values()) == JOBS
    assert set(states) == {"QUEUED", "RUNNING", "RETRY_WAIT", "DONE", "DEAD_LETTERED", "CANCELLED"}
    assert 0.8 < states["DONE"] / JOBS < 0.97
    first, last = filled.execute(
        """SELECT now() - min("queuedAt"), now() - max("finishedAt") FROM "PlatformJob" """
    ).fetchone()
    assert 85 < first.days <= 90
    assert last.days == 0
    triggers = filled.execute("""SELECT count(*) FROM pg_trigger
                                  WHERE tgrelid = '"PlatformJob"'::regclass AND NOT tgisinternal AND tgenabled = 'O'""")
    assert triggers.fetchone()[0] >= 3


@pytest.mark.parametrize("cause", CAUSES, ids=lambda one: one.message[:40])
def test_what_varies_in_a_message_does_not_split_its_group(cause) -> None:
    prints = {
        fingerprint("CRAWL", cause.exception, cause.message.replace("{n}", n)) for n in ("7", "41", "9031", "812345")
    }
    assert len(prints) == 1
