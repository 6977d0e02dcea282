"""Events and jobs that contradict each other, by kind. Only looked for here; `jobs.operations.ledger_repair` repairs.

Where events and jobs agree nothing is found: retention, a second run and a cancelled job are no contradictions.
"""

from dataclasses import dataclass
from datetime import datetime

from jobs.conf import conf
from jobs.ledger.statements import run
from jobs.rows import Row

# Each kind looks at so many of the newest rows.
MOST_ROWS = 10_000


@dataclass(frozen=True)
class Kind:
    """`what` it is, `why` it may have come about, what a repair `does`."""

    key: str
    what: str
    why: str
    does: str


KINDS = {
    kind.key: kind
    for kind in (
        Kind(
            "lost_job",
            "The event succeeded, and the job it made is gone",
            "Somebody purged the job, or its table was restored to an older state.",
            "A job that is still in the trash comes back; for the others the hook is written anew, and makes its job again.",
        ),
        Kind(
            "dead_job",
            "The event succeeded, and the job it made is dead-lettered",
            "The hook did its part: it made the job. The work for the document was not done; the job can be retried.",
            "The jobs leave the DLQ and are run again.",
        ),
        Kind(
            "stuck_with_job",
            "The event failed or is exhausted, and the job it made is done or under way",
            "An earlier run made the job and a later one failed: the work is done, although the event says that it is not.",
            "Where the job is done the event is purged; where it is under way the event waits again, and finds that job.",
        ),
        Kind(
            "silent",
            "The event runs, and its process has been silent for too long",
            "Its process is gone. The next sweep of a worker takes it back; if it stays here, no worker lives.",
            "All events without a living process wait again; their attempt counts.",
        ),
        Kind(
            "attempts",
            "The event runs or waits with more attempts than there can be",
            "Somebody lowered LEDGER_MAX_ATTEMPTS, or another program counts in its own way.",
            "Those that wait do so again with all their attempts; those that run are left alone.",
        ),
    )
}


def find(kind: str, most: int, seen: datetime | None = None) -> tuple[list[Row], int]:
    """Rows of one kind, oldest first, `most` at most, and how many there are (of the newest 10,000). `seen`: only what has
    not changed since that moment."""
    params = {
        "max_attempts": conf().ledger_max_attempts,
        "stale": conf().ledger_stale.total_seconds(),
        "retention": conf().retention.total_seconds(),
        "rows": MOST_ROWS,
        "most": most,
        "seen": seen,
    }
    rows = run(f"contradict_{KINDS[kind].key}", params)
    return rows, rows[0]["total"] if rows else 0


def lock() -> None:
    """Until the transaction ends, nobody else repairs."""
    run("lock_repairs", {})


def payload_of(event_id: str) -> str | None:
    """The text of an event's payload; None when the event is gone."""
    rows = run("payload_of", {"id": event_id})
    return rows[0]["payload_json"] if rows else None
