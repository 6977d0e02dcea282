"""Ours and other queues go through the same steps; the others when they are installed."""

import pytest

from jobs.bench.peers import known
from jobs.bench.server import BenchRefused, Lab
from jobs.bench.side_by_side import Bench, until_all_started

EACH = [known.OURS, known.OURS_BY_SQL, *(peer for peer in known.PEERS if "batch" not in peer.title)]


@pytest.mark.parametrize("peer", EACH, ids=lambda one: one.title)
def test_each_goes_through_every_step(lab: Lab, peer: known.Known) -> None:
    if peer.distribution:
        pytest.importorskip(peer.distribution)
    with Bench(lab, peer, 20) as bench:
        if peer is not known.OURS_BY_SQL:
            assert bench.measure("bulk", 20) > 0
        with bench.workers(1) as running:
            if peer is not known.OURS_BY_SQL:
                until_all_started(bench.notes, 20, running)
                assert bench.notes.per_second() > 0
            bench.notes.clear()
            times = bench.measure("pickup", 3)
        assert len(times) == 3
        assert all(0 <= milliseconds < 10_000 for milliseconds in times)


def test_peers_that_are_not_installed_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "PEERS", (known.Known("nobody", "nobody", "no-such-queue"),))
    with pytest.raises(BenchRefused, match="no-such-queue is not installed.*--group peers"):
        known.peers()
