"""How long one claim by one claimer takes, by backlog, beside plain SKIP LOCKED and the source's own query."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import psycopg

from jobs.bench.backlogs import Backlog, backlogs
from jobs.bench.fill import fill, hold, make_rivals
from jobs.bench.report import Cell, Section, percentile, ratio
from jobs.bench.server import BenchRefused, Lab
from jobs.bench.ways import Detiq, Raw, Source, Way
from jobs.domain.errors import JobsError

WARM_UP = 10
# The idle look has no yardstick: raw always finds something.
IDLE_TARGET_MS = 10.0
MOST_RATIO = 2.0

type Samples = dict[str, list[float]]


@dataclass(frozen=True)
class ClaimOptions:
    """`budget_seconds`: how long one way may take on one backlog, so that a slow one does not hold up the rest."""

    rows: int = 200_000
    samples: int = 300
    finished: int = 0
    snapshot_seconds: float = 20.0
    budget_seconds: float = 5.0
    only: Sequence[str] = ()


def run(lab: Lab, options: ClaimOptions, progress: Callable[[str], None] = lambda text: None) -> Section:
    section = Section(
        "claim",
        f"Claim of one job by one claimer, {options.rows:,} rows",
        target=f"p95 at most {MOST_RATIO:g} × raw's; an idle look at most {IDLE_TARGET_MS:g} ms",
    )
    known = backlogs(options.rows, options.finished)
    unknown = set(options.only) - {backlog.name for backlog in known}
    if unknown:
        names = ", ".join(backlog.name for backlog in known)
        raise BenchRefused(f"--backlog {sorted(unknown)[0]}: no such backlog. There are {names}.")
    for backlog in known:
        if options.only and backlog.name not in options.only:
            continue
        progress(backlog.title)
        section.rows.append(measure(lab, backlog, options))
    return section


def measure(lab: Lab, backlog: Backlog, options: ClaimOptions) -> dict[str, Cell]:
    with lab.database() as url, ExitStack() as stack:
        ways = _ways(url, backlog, stack)
        with _held_snapshot(url) if backlog.held_snapshot else ExitStack():
            if backlog.held_snapshot:
                samples = cycle_for(ways, options.snapshot_seconds, backlog.nothing_may_run)
                # What an old snapshot costs grows while it is held: the last quarter counts.
                samples = {name: times[-max(1, len(times) // 4) :] for name, times in samples.items()}
            else:
                # The source's claim may read all that waits, and pushes everything else out of the processor's caches.
                alone = [way for way in ways if isinstance(way, Source)]
                side_by_side = [way for way in ways if way not in alone]
                samples = {
                    name: times
                    for together in (side_by_side, alone)
                    for name, times in cycle(
                        together, options.samples, options.budget_seconds, backlog.nothing_may_run
                    ).items()
                }
    return _row(backlog, samples)


def cycle(ways: Sequence[Way], samples: int, budget_seconds: float, nothing_may_run: bool) -> Samples:
    """Claims in turns, so that whatever else the machine does meets all alike. Seconds by way."""
    times: Samples = {way.name: [] for way in ways}
    rng = random.Random(1)  # noqa: S311  (no secret)
    for turn in range(-WARM_UP, samples):
        for way in shuffled(ways, rng):
            if sum(times[way.name]) > budget_seconds:
                continue
            seconds = _one(way, nothing_may_run)
            if turn >= 0 or seconds > 0.5:
                times[way.name].append(seconds)
    return times


def shuffled(ways: Sequence[Way], rng: random.Random) -> list[Way]:
    """A turn's order: whoever always came after a slow one would always find the processor's caches full of its rows."""
    return rng.sample(ways, len(ways))


def cycle_for(ways: Sequence[Way], seconds: float, nothing_may_run: bool) -> Samples:
    times: Samples = {way.name: [] for way in ways}
    rng = random.Random(1)  # noqa: S311  (no secret)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for way in shuffled(ways, rng):
            times[way.name].append(_one(way, nothing_may_run))
    return times


def _one(way: Way, nothing_may_run: bool) -> float:
    began = time.perf_counter()
    claimed = way.claim(1)
    seconds = time.perf_counter() - began
    if isinstance(way, Detiq) and nothing_may_run == bool(claimed):
        raise JobsError(f"a claim found {len(claimed)} jobs where it should have found {0 if nothing_may_run else 1}")
    if claimed:
        way.finish(claimed)
    return seconds


def _ways(url: str, backlog: Backlog, stack: ExitStack) -> list[Way]:
    connection = stack.enter_context(psycopg.connect(url, autocommit=True))
    make_rivals(connection)
    ways: list[Way] = [Detiq(connection, "bench")]
    if not backlog.nothing_may_run:
        ways.append(Raw(connection, "bench"))
    if backlog.source_knows:
        ways.append(Source(connection, "bench"))
    fill(connection, backlog.blocks, [way.table for way in ways])
    hold(connection, backlog.pauses)
    return ways


@contextmanager
def _held_snapshot(url: str) -> Iterator[None]:
    """What a dump does: rows that end meanwhile stay readable for it, and so do their index entries."""
    with psycopg.connect(url) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.execute("SELECT count(*) FROM queue_pause")
        yield
        connection.rollback()


def _row(backlog: Backlog, samples: Samples) -> dict[str, Cell]:
    row: dict[str, Cell] = {"backlog": backlog.title}
    p95 = {name: percentile(times, 0.95) * 1000 for name, times in samples.items()}
    for name in ("detiq", "raw", "source"):
        times = samples.get(name)
        row[f"{name}_p50_ms"] = round(percentile(times, 0.5) * 1000, 3) if times else None
        row[f"{name}_p95_ms"] = round(p95[name], 3) if times else None
    p50 = {name: percentile(times, 0.5) for name, times in samples.items()}
    row["to_raw_p50_ratio"] = ratio(p50["detiq"], p50.get("raw"))
    row["to_raw_p95_ratio"] = ratio(p95["detiq"], p95.get("raw"))
    row["to_source_p95_ratio"] = ratio(p95["detiq"], p95.get("source"))
    row["samples"] = len(samples["detiq"])
    if backlog.nothing_may_run:
        row["ok"] = p95["detiq"] <= IDLE_TARGET_MS
    else:
        row["ok"] = p95["detiq"] <= MOST_RATIO * p95["raw"]
    return row
