"""Cycles of finish and claim in one statement and one commit, by one and by several claimers, beside plain SKIP LOCKED."""

import logging
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection as Pipe
from typing import Any

import psycopg
import structlog

from jobs.bench.backlogs import even
from jobs.bench.fill import fill, make_rivals
from jobs.bench.report import Cell, Section, ratio
from jobs.bench.server import Lab
from jobs.bench.ways import Detiq, Raw

TENANTS = 1_000
LEAST_RATIO = 0.8
_EMPTY_PAUSE_SECONDS = 0.01


@dataclass(frozen=True)
class ClaimersOptions:
    """`seconds`: of each of the `rounds` that ours and plain SKIP LOCKED take in turns."""

    rows: int = 200_000
    claimers: Sequence[int] = (1, 8)
    batches: Sequence[int] = (1, 8, 50)
    seconds: float = 2.0
    rounds: int = 2


@dataclass(frozen=True)
class Order:
    """What a claimer is to do."""

    way: str
    batch: int
    seconds: float


def run(lab: Lab, options: ClaimersOptions, progress: Callable[[str], None] = lambda text: None) -> Section:
    section = Section(
        "claimers",
        f"Finish and claim in one statement, {TENANTS:,} tenants, {options.rows:,} rows",
        target=f"at least {LEAST_RATIO:g} × raw's by 8 claimers in batches of 8",
    )
    for claimers in options.claimers:
        for batch in options.batches:
            progress(f"{claimers} claimers, batches of {batch}")
            section.rows.append(measure(lab, options, claimers, batch))
    return section


def measure(lab: Lab, options: ClaimersOptions, claimers: int, batch: int) -> dict[str, Cell]:
    with lab.database() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            make_rivals(connection)
            fill(connection, even(options.rows, TENANTS), [Detiq.table, Raw.table])
        jobs = dict.fromkeys((Detiq.name, Raw.name), 0)
        seconds = dict.fromkeys(jobs, 0.0)
        with _team(url, claimers) as team:
            for way in [*jobs] * options.rounds:
                done, took = _together(team, Order(way, batch, options.seconds))
                jobs[way] += done
                seconds[way] += took
    rates = {way: jobs[way] / seconds[way] for way in jobs}
    return {
        "claimers": claimers,
        "batch": batch,
        "detiq_per_s": round(rates["detiq"]),
        "raw_per_s": round(rates["raw"]),
        "to_raw_ratio": ratio(rates["detiq"], rates["raw"]),
        "ok": rates["detiq"] >= LEAST_RATIO * rates["raw"],
    }


@contextmanager
def _team(url: str, size: int) -> Iterator[list[Pipe]]:
    """Claimers in processes of their own, connected and waiting for orders."""
    context = multiprocessing.get_context("spawn")
    with ExitStack() as stack:
        pipes = []
        for number in range(size):
            ours, theirs = context.Pipe()
            process = context.Process(target=claimer, args=(url, f"bench-{number}", theirs), daemon=True)
            process.start()
            stack.callback(process.join)
            stack.callback(process.terminate)
            pipes.append(ours)
        for pipe in pipes:
            pipe.recv()
        yield pipes


def _together(team: Sequence[Pipe], order: Order) -> tuple[int, float]:
    for pipe in team:
        pipe.send(order)
    answers = [pipe.recv() for pipe in team]
    return sum(done for done, _ in answers), max(seconds for _, seconds in answers)


def claimer(url: str, name: str, orders: Pipe) -> None:
    """Runs in a process of its own: carries out orders until it is ended."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    with psycopg.connect(url, autocommit=True) as connection:
        ways: dict[str, Any] = {"detiq": Detiq(connection, name), "raw": Raw(connection, name)}
        orders.send("ready")
        while True:
            order: Order = orders.recv()
            orders.send(_carry_out(ways[order.way], order))


def _carry_out(way: Any, order: Order) -> tuple[int, float]:
    """How many jobs were claimed and finished, in how many seconds. An empty-handed claimer steps back for a moment."""
    began = time.perf_counter()
    done, held = 0, way.turn((), order.batch)
    while time.perf_counter() - began < order.seconds:
        done += len(held)
        held = way.turn(held, order.batch)
        if not held:
            time.sleep(_EMPTY_PAUSE_SECONDS)
    took = time.perf_counter() - began
    way.finish(held)
    return done, took
