"""Enqueue, pick-up and drain, by the same steps for ours and for peers, each on a database of its own."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Self

from django.conf import settings
from psycopg.conninfo import conninfo_to_dict

from jobs.bench.notes import VARIABLE, SlotReader, new_notes
from jobs.bench.peers.known import OURS, OURS_BY_SQL, Known
from jobs.bench.report import Cell, Section, percentile, ratio
from jobs.bench.server import Lab
from jobs.bench.workers import THREADS, Child
from jobs.domain.errors import JobsError

_LONGEST_SECONDS = 600
_EXTRA_SLOTS = 100
_WARMING = 5_000

type Progress = Callable[[str], None]


@dataclass(frozen=True)
class SideOptions:
    single: int = 2_000
    bulk: int = 20_000
    pickups: int = 100
    jobs: int = 20_000
    processes: Sequence[int] = (1, 2)


def quiet(text: str) -> None:
    """Progress that nobody watches."""


def enqueue(lab: Lab, options: SideOptions, peers: Sequence[Known], progress: Progress = quiet) -> Section:
    section = Section(
        "enqueue",
        f"Enqueue, {options.single:,} one by one (a commit each) and {options.bulk:,} at once",
        target="one by one at least the best peer; at once at least 1.5 × the best peer",
    )
    for peer in (OURS, OURS_BY_SQL, *peers):
        progress(f"enqueue by {peer.title}")
        with Bench(lab, peer, max(options.single, options.bulk)) as bench:
            single = options.single / bench.measure("single", options.single)
        bulk = None
        if peer is not OURS_BY_SQL:
            with Bench(lab, peer, options.bulk) as bench:
                bulk = options.bulk / bench.measure("bulk", options.bulk)
        section.rows.append(
            {"queue": peer.name, "single_per_s": round(single), "bulk_per_s": round(bulk) if bulk else None}
        )
    _compare(section, "single_per_s")
    _compare(section, "bulk_per_s")
    return section


def pickup(lab: Lab, options: SideOptions, peers: Sequence[Known], progress: Progress = quiet) -> Section:
    section = Section(
        "pickup",
        f"Pick-up on an idle worker, {options.pickups} jobs one at a time: from the commit to the handler",
        target="p95 at most 1.5 × the best peer",
    )
    for peer in (OURS, OURS_BY_SQL, *peers):
        progress(f"pick-up by {peer.title}")
        with Bench(lab, peer, options.pickups) as bench, bench.workers(1):
            times: list[float] = bench.measure("pickup", options.pickups)
        p50, p95 = round(percentile(times, 0.5), 2), round(percentile(times, 0.95), 2)
        section.rows.append({"queue": peer.name, "p50_ms": p50, "p95_ms": p95})
    _compare(section, "p95_ms")
    return section


def drain(lab: Lab, options: SideOptions, peers: Sequence[Known], progress: Progress = quiet) -> Section:
    section = Section(
        "peers-drain",
        f"{options.jobs:,} jobs that do nothing, {THREADS} at once a process: handler starts a second",
        target="at least 1.2 × pgqueuer by default, 4 × oban and procrastinate; two processes at least 1.5 × one",
    )
    progress("warm-up")
    _drained(lab, OURS, min(options.jobs, _WARMING), 1)  # a new server makes its first files while the first one works
    for peer in (OURS, *peers):
        row: dict[str, Cell] = {"queue": peer.name}
        for processes in options.processes:
            progress(f"drain by {peer.title}, {processes}")
            row[f"by_{processes}_per_s"] = round(_drained(lab, peer, options.jobs, processes))
        section.rows.append(row)
    for processes in options.processes:
        _compare(section, f"by_{processes}_per_s")
    return section


class Bench:
    """One peer on a new database, with notes for so many jobs."""

    def __init__(self, lab: Lab, peer: Known, slots: int) -> None:
        self._lab = lab
        self._peer = peer
        self._slots = slots + _EXTRA_SLOTS
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._url = stack.enter_context(self._lab.database(migrated=self._peer.ours))
            self.notes: SlotReader = stack.enter_context(new_notes(self._lab.folder, self._slots))
            self._env = self._lab.environment(
                self._url, **self._peer.env, **{VARIABLE: str(self.notes.path)}, **pg_variables(self._url)
            )
            self.measure("setup", 0)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()

    def measure(self, verb: str, count: int) -> Any:
        """Runs one step in a process of its own; what it says at last. Raises `JobsError` when it fails."""
        done = subprocess.run(
            self._command(verb, count),
            cwd=settings.BASE_DIR,
            env=self._env,
            capture_output=True,
            text=True,
            check=False,
            timeout=_LONGEST_SECONDS,
        )
        if done.returncode != 0:
            raise JobsError(f"{self._peer.title} {verb} failed: {done.stderr.strip()[-2000:]}")
        lines = done.stdout.strip().splitlines()
        return json.loads(lines[-1]) if lines else None

    @contextmanager
    def workers(self, count: int) -> Iterator[list[Child]]:
        with ExitStack() as stack:
            started = []
            for number in range(count):
                log = self._lab.folder / f"{self._peer.module}-{number}.log"
                started.append(Child(self._command("work", 0), self._env, log))
                stack.callback(started[-1].close)
            yield [child.wait_ready() for child in started]

    def _command(self, verb: str, count: int) -> list[str]:
        start = self._peer.command or (sys.executable, "-m", f"jobs.bench.peers.{self._peer.module}")
        return [*start, verb, self._url, str(self.notes.path), str(count)]


def pg_variables(url: str) -> dict[str, str]:
    """The address as libpq's variables, for peers that read no address with a socket's folder in it."""
    names = {"dbname": "PGDATABASE", "user": "PGUSER", "password": "PGPASSWORD", "host": "PGHOST", "port": "PGPORT"}
    parts = conninfo_to_dict(url)
    return {variable: str(parts[name]) for name, variable in names.items() if parts.get(name)}


def _drained(lab: Lab, peer: Known, jobs: int, processes: int) -> float:
    with Bench(lab, peer, jobs) as bench:
        bench.measure("bulk", jobs)
        with bench.workers(processes) as running:
            until_all_started(bench.notes, jobs, running)
        return bench.notes.per_second()


def until_all_started(notes: SlotReader, jobs: int, running: Sequence[Child]) -> None:
    """Raises `JobsError` with a worker's last words when that takes too long."""
    deadline = time.monotonic() + _LONGEST_SECONDS
    while len(notes.all()) < jobs:
        dead = next((child for child in running if child.popen.poll() is not None), None)
        if dead is not None or time.monotonic() > deadline:
            raise JobsError(f"the jobs were not all started: {(dead or running[0]).last_words()}")
        time.sleep(0.1)


def _compare(section: Section, column: str) -> None:
    """Ours beside each, as a ratio."""
    ours = section.rows[0][column]
    for row in section.rows:
        value = row.get(column)
        row[f"detiq_to_it_{column.rsplit('_', 2 if column.endswith('_per_s') else 1)[0]}_ratio"] = (
            ratio(float(ours or 0), float(value)) if value else None
        )
