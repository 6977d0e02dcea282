"""Every scenario runs and says something sane."""

import pytest

from jobs.bench import claim, claimers, drain, operations, pages, redrive, soak
from jobs.bench.backlogs import backlogs
from jobs.bench.server import Lab
from tests.bench.conftest import sane


@pytest.mark.parametrize("backlog", backlogs(3_000, finished=1_000), ids=lambda one: one.name)
def test_a_claim_is_measured_on_every_backlog(lab: Lab, backlog) -> None:
    options = claim.ClaimOptions(rows=3_000, samples=5, snapshot_seconds=0.3, budget_seconds=0.5)
    row = claim.measure(lab, backlog, options)
    assert sane(row)
    assert (row["raw_p95_ms"] is None) == backlog.nothing_may_run
    assert (row["source_p95_ms"] is None) == (not backlog.source_knows)


def test_claimers_finish_what_they_claim(lab: Lab) -> None:
    options = claimers.ClaimersOptions(rows=2_000, claimers=[2], batches=[8], seconds=0.3, rounds=1)
    (row,) = claimers.run(lab, options).rows
    assert sane(row)
    assert row["detiq_per_s"] > 0


def test_a_drain_by_real_workers_with_and_without_records(lab: Lab) -> None:
    (row,) = drain.run(lab, drain.DrainOptions(jobs=100, processes=[1])).rows
    assert sane(row)
    assert row["kept_ratio"] > 0


def test_every_page_answers_while_jobs_arrive_and_are_worked(lab: Lab) -> None:
    rows = pages.run(lab, pages.PagesOptions(jobs=3_000, samples=2, per_second=50)).rows
    assert [row["page"] for row in rows if row["status"] != 200] == []


@pytest.mark.parametrize(("kind", "dead", "query"), operations.KINDS)
def test_bulk_work_is_measured_beside_claims(lab: Lab, kind: str, dead: bool, query: str) -> None:
    options = operations.OperationsOptions(rows=2_000, backlog=3_000, seconds=0.3, undo=True)
    row, *undone = operations.measure(lab, kind, dead, query, options)
    assert sane(row)
    assert row["rows"] == 2_000 and row["rows_per_s"] > 0 and row["longest_batch_ms"] > 0
    assert row["claims"] > 0 and row["claim_p95_ratio"]
    assert [one["rows"] for one in undone] == [2_000] * (kind == "purge")


def test_a_redrive_is_measured_beside_live_work(lab: Lab) -> None:
    row = redrive.measure(lab, redrive.RedriveOptions(rows=100, seconds=1), 6_000)
    assert row["rows"] == 100 and row["live_jobs"] > 20 and row["live_p95_ratio"]


@pytest.mark.timeout(300)
def test_nothing_is_found_after_a_short_soak(lab: Lab) -> None:
    options = soak.SoakOptions(minutes=0.1, processes=2, pace_seconds=0.8, most_waiting=60, seed=7)
    section = soak.run(lab, options)
    (row,) = section.rows
    assert row["found"] == 0, section.notes
    assert row["jobs"] > 40 and row["runs"] >= row["jobs"] / 2
