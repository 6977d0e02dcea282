"""Combinations of columns that cannot be true together. The database refuses none of them, because other programs write
the same table; they are listed here, each with what becomes of it.

| what | what becomes of it |
|---|---|
| `queued_with_worker` | the worker is cleared: nobody has the job |
| `dlq_without_failure` | queued, running, done or cancelled wins; the DLQ fields are cleared |
| `dead_with_retry_time` | the time is cleared: dead letters are retried by people |
| `ended_without_time` | gets the time that the history has for its end, else now; retention needs one |
| `progress_out_of_range` | 0 or 100; a claim sets 0 anyhow. Ended and waiting rows only by a thorough repair |
| `negative_retry_count` | 0, as the policy counts it. Ended and waiting rows only by a thorough repair |
| `waiting_without_time` | is due: the sweep promotes it at once |
| `waiting_in_dlq` | the sweep dead-letters it |
| `failed_with_retry_time` | the sweep promotes it when its time has come |
| `running_without_heartbeat` | silent since its start, else since it was queued; rescued when that is too long |
| `running_without_worker` | the same; asked to cancel, it is cancelled at once |
| `running_at_no_time` | a sign of life yet to come, or of no time at all, is one of now; a start of no time is cleared |
"""

from dataclasses import dataclass

from jobs.domain.states import state
from jobs.queue.statements import Connection, run


@dataclass(frozen=True)
class Impossible:
    """A job in its state, and what is wrong with it: words of the table above."""

    job_id: str
    state: str
    wrong: list[str]


def find(limit: int, using: Connection | None = None) -> list[Impossible]:
    """Lists them, `limit` at most, by id. Reads every job: for people, not for the sweep."""
    rows = run("impossible", {"limit": limit}, using)
    return [Impossible(row["id"], state(row["status"], row["dlq"]), row["wrong"]) for row in rows]
