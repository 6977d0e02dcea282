"""Other queues go through the same steps, when they are installed."""

import pytest

from jobs.bench import side_by_side
from jobs.bench.peers import known
from jobs.bench.server import BenchRefused, Lab
from tests.bench.conftest import sane


@pytest.mark.parametrize("peer", known.PEERS, ids=lambda one: one.title)
def test_a_peer_goes_through_every_step(lab: Lab, peer: known.Known) -> None:
    pytest.importorskip(peer.distribution)
    options = side_by_side.SideOptions(single=5, bulk=20, pickups=2, jobs=20, processes=[1])
    for step in (side_by_side.enqueue, side_by_side.pickup, side_by_side.drain):
        assert sane(step(lab, options, [peer]).rows[-1])


def test_peers_that_are_not_installed_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "PEERS", (known.Known("nobody", "nobody", "no-such-queue"),))
    with pytest.raises(BenchRefused, match="no-such-queue is not installed.*--group peers"):
        known.peers()
