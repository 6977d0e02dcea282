"""Every scenario runs and says something sane."""

import pytest

from jobs.bench import claim, claimers, drain, side_by_side
from jobs.bench.backlogs import backlogs
from jobs.bench.peers.known import OURS, OURS_BY_SQL
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


def test_enqueue_and_pickup_by_the_steps_of_peers(lab: Lab) -> None:
    options = side_by_side.SideOptions(single=20, bulk=100, pickups=5)
    enqueued = side_by_side.enqueue(lab, options, ())
    picked = side_by_side.pickup(lab, options, ())
    assert (
        [row["queue"] for row in enqueued.rows]
        == [row["queue"] for row in picked.rows]
        == [
            OURS.title,
            OURS_BY_SQL.title,
        ]
    )
    assert all(sane(row) for row in [*enqueued.rows, *picked.rows])
    assert all(row["p95_ms"] < 5_000 for row in picked.rows)
