"""The figures for Prometheus, read from PostgreSQL when asked: right whatever the number of processes.

No tenant is named: the address is open.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from jobs.console.queries import counts
from jobs.console.queries.db import fetch, limited
from jobs.console.queries.overview import Snapshot, shared

KEEP_SECONDS = 3.0
# The bounds of detiq_bucket(): bucket n holds what lies below bound n; the last has none.
BOUNDS = (
    "0.1",
    "0.5",
    "1.0",
    "2.5",
    "5.0",
    "10.0",
    "30.0",
    "60.0",
    "120.0",
    "300.0",
    "600.0",
    "1800.0",
    "3600.0",
    "7200.0",
)
ENDS = {
    "DONE": "done",
    "RETRY_WAIT": "retried",
    "FAILED": "failed",
    "DEAD_LETTERED": "dead_lettered",
    "CANCELLED": "cancelled",
}
_RUNS = {"RUNNING", "CANCEL_REQUESTED"}

_TOTALS = """
    SELECT type, from_state, to_state, bucket, sum(n)::bigint AS n, sum(seconds) AS seconds
      FROM (SELECT type, from_state, to_state, bucket, n, seconds FROM tally_total
            UNION ALL
            SELECT type, coalesce(from_state, ''), coalesce(to_state, ''), bucket, n, seconds FROM tally_delta) t
     WHERE from_state <> '' GROUP BY 1, 2, 3, 4
"""


class QueueCollector(Collector):
    """Reads the counters and the state of the queue."""

    def collect(self) -> Iterator[Metric]:
        """All families; two reads, both bounded."""
        with limited():
            totals = fetch(_TOTALS)
            by_type = counts.by_type_and_state()
        yield _ended(totals)
        yield _run_time(totals)
        yield from _queue(shared.get(), by_type)


def _ended(totals: list[dict[str, object]]) -> Metric:
    family = CounterMetricFamily("detiq_jobs", "Jobs ended, by type and how: retried counts each failed run that goes on",
                                 labels=["type", "status"])  # fmt: skip
    ended: dict[tuple[str, str], int] = defaultdict(int)
    for row in totals:
        status = ENDS.get(str(row["to_state"]))
        # What the sweep does to a failed job later is no second end, but for its way into the DLQ.
        if status and (row["from_state"] in _RUNS or status in {"cancelled", "dead_lettered"}):
            ended[str(row["type"]), status] += int(row["n"])  # type: ignore[call-overload]
    for (type_, status), number in sorted(ended.items()):
        family.add_metric([type_, status], number)
    return family


def _run_time(totals: list[dict[str, object]]) -> Metric:
    family = HistogramMetricFamily("detiq_job_run_seconds", "How long runs took, by type", labels=["type"])
    buckets: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BOUNDS) + 1))
    seconds: dict[str, float] = defaultdict(float)
    for row in totals:
        if row["from_state"] in _RUNS and row["to_state"] != "CANCEL_REQUESTED":
            buckets[str(row["type"])][int(row["bucket"])] += int(row["n"])  # type: ignore[call-overload]
            seconds[str(row["type"])] += float(row["seconds"])  # type: ignore[arg-type]
    for type_ in sorted(buckets):
        total, cumulated = 0, []
        for bound, number in zip((*BOUNDS, "+Inf"), buckets[type_], strict=True):
            total += number
            cumulated.append((bound, float(total)))
        family.add_metric([type_], cumulated, sum_value=seconds[type_])
    return family


def _queue(now: Snapshot, by_type: list[dict[str, object]]) -> Iterator[Metric]:
    depth = GaugeMetricFamily("detiq_queue_jobs", "Jobs in each state, by type", labels=["type", "state"])
    for row in sorted(by_type, key=lambda row: (str(row["type"]), str(row["state"]))):
        depth.add_metric([str(row["type"]), str(row["state"])], int(row["n"]))  # type: ignore[call-overload]
    yield depth
    wait = GaugeMetricFamily(
        "detiq_queue_oldest_wait_seconds", "How long the longest waiting job waits", labels=["type"]
    )
    for line in now.types:
        if line.oldest:
            wait.add_metric([line.type], max(0.0, (now.at - line.oldest).total_seconds()))
    yield wait
    slots = GaugeMetricFamily("detiq_worker_slots", "Slots of live workers, by use", labels=["use"])
    slots.add_metric(["total"], sum(line.slots for line in now.workers_live))
    slots.add_metric(["used"], sum(line.running for line in now.workers_live))
    yield slots
    yield GaugeMetricFamily("detiq_workers", "Live worker processes", value=len(now.workers_live))
    yield GaugeMetricFamily("detiq_pauses", "Pauses in force", value=len(now.pauses))
    yield GaugeMetricFamily("detiq_silent_runs", "Runs that have missed three heartbeats", value=now.silent)


_lock = threading.Lock()
_kept: tuple[float, bytes] = (float("-inf"), b"")


def text() -> bytes:
    """The exposition, kept for a few seconds. Raises what the database raises."""
    global _kept
    with _lock:
        if time.monotonic() - _kept[0] > KEEP_SECONDS:
            registry = CollectorRegistry()
            registry.register(_Once(QueueCollector()))
            _kept = (time.monotonic(), generate_latest(registry))
        return _kept[1]


class _Once(Collector):
    """Registering asks a collector what it has; that would read the database a second time."""

    def __init__(self, inner: Collector) -> None:
        self._inner = inner

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        yield from self._inner.collect()


def clear() -> None:
    """Forgets what is kept; for tests."""
    global _kept
    _kept = (float("-inf"), b"")
