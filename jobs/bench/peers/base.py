"""The steps, the same for every peer."""

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from detiq_admin import lifeline
from jobs.bench.notes import SlotReader

THREADS = 8
_WARM_UP = 5
_LONGEST_SECONDS = 60
# Between two jobs of the pick-up: long enough for a worker to be idle again.
_IDLE_SECONDS = 0.03


class Peer(Protocol):
    """One queue on the database of `url`. A job carries its slot in the notes."""

    def __init__(self, url: str) -> None: ...
    def setup(self) -> None:
        """Makes its tables."""

    def enqueue(self, slot: int) -> None:
        """One job, committed."""

    def enqueue_many(self, slots: Sequence[int]) -> None:
        """Many, the fastest way that its documentation names."""

    def work(self) -> None:
        """Runs jobs, `THREADS` at once, until SIGTERM."""


def main(kind: type[Peer]) -> None:
    """`VERB URL NOTES COUNT`; what was measured is the last line of the output, as JSON."""
    verb, url, notes, count = sys.argv[1:5]
    lifeline.watch()
    peer = kind(url)
    match verb:
        case "setup":
            peer.setup()
            _say(None)
        case "single":
            _say(_seconds(lambda: one_by_one(peer, int(count))))
        case "bulk":
            _say(_seconds(lambda: peer.enqueue_many(range(int(count)))))
        case "pickup":
            _say(pickup(peer, SlotReader(Path(notes)), int(count)))
        case "work":
            peer.work()


def one_by_one(peer: Peer, count: int) -> None:
    for slot in range(count):
        peer.enqueue(slot)


def pickup(peer: Peer, notes: SlotReader, count: int) -> list[float]:
    """Milliseconds from the return of each enqueue, which is after its commit, to the start of its handler."""
    found = []
    for slot in range(count + _WARM_UP):
        peer.enqueue(slot)
        committed = time.monotonic_ns()
        deadline = committed + _LONGEST_SECONDS * 1_000_000_000
        while not (started := notes.at(slot)):
            if time.monotonic_ns() > deadline:
                raise SystemExit("a job was not picked up in time")
            time.sleep(0.0002)
        found.append(max(0.0, (started - committed) / 1e6))
        time.sleep(_IDLE_SECONDS)
    return found[_WARM_UP:]


def _seconds(step: Callable[[], object]) -> float:
    began = time.perf_counter()
    step()
    return time.perf_counter() - began


def _say(value: object) -> None:
    """The last word: a pool that its library waits for at the end of the process must not hold up the bench."""
    print(json.dumps(value), flush=True)
    os._exit(0)
