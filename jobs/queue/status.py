"""The queue's state in a few figures, for commands and scripts. From the counters: independent of the table's size."""

from dataclasses import asdict, dataclass, field
from typing import Any

from jobs.domain.failures import LONGEST_RETRY_AFTER_SECONDS, POLICIES
from jobs.domain.states import WORDS
from jobs.queue import pauses
from jobs.queue.pauses import PauseInForce
from jobs.queue.statements import Connection, run
from jobs.rows import Row

LIVE_WORKER_SECONDS = 120


@dataclass(frozen=True)
class QueueStatus:
    """`counts`: type → state → jobs. Waits in seconds. A worker that was silent for two minutes is not listed.
    `overlong_waits`: jobs whose next attempt is later than any rule says; more than none means that something is wrong."""

    counts: dict[str, dict[str, int]]
    oldest_wait_seconds: dict[str, float]
    workers: list[Row]
    pauses: list[PauseInForce] = field(default_factory=list)
    overlong_waits: int = 0

    @property
    def states(self) -> list[str]:
        """The states that occur, known ones in their own order, then others."""
        present = {state for counts in self.counts.values() for state in counts}
        return [*WORDS, *sorted(present - set(WORDS))] if present else []

    def as_json(self) -> dict[str, Any]:
        """The same for scripts."""
        return {
            "paused": bool(self.pauses),
            "pauses": [asdict(pause) | {"scope": pause.scope} for pause in self.pauses],
            "counts": self.counts,
            "oldest_wait_seconds": self.oldest_wait_seconds,
            "workers": self.workers,
            "overlong_waits": self.overlong_waits,
        }


def queue_status(using: Connection | None = None) -> QueueStatus:
    """The state now."""
    counts: dict[str, dict[str, int]] = {}
    for row in run("status_counts", {}, using):
        counts.setdefault(row["type"], {})[row["state"]] = row["n"]
    waits = {row["type"]: row["seconds"] for row in run("status_waits", {}, using)}
    workers = run("status_workers", {"silent_seconds": LIVE_WORKER_SECONDS}, using)
    overlong = run(
        "overlong_waits",
        {
            "longest_seconds": 2 * max(policy.longest_delay_seconds for policy in POLICIES.values()),
            "named_seconds": LONGEST_RETRY_AFTER_SECONDS,
        },
        using,
    )
    return QueueStatus(counts, waits, workers, pauses.active(using), int(overlong[0]["n"]))
