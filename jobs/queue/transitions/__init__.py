"""The door: every change of a job's state goes through here, one function a transition.

Each is one atomic statement guarded by the state it expects; the actor and the reason travel with it to the history.
A function that takes ids answers one `Moved` an id: a job found in another state is left as it is, and the answer says
what it was found in. Times come from the database's clock.
"""

from jobs.queue.transitions.new_jobs import enqueue, enqueue_many, rerun, track
from jobs.queue.transitions.operators import (
    Moved,
    force_cancel,
    purge,
    request_cancel,
    restore,
    retry,
    run_now,
    set_priority,
)
from jobs.queue.transitions.runs import claim_job, finish, requeue_orphaned_jobs, rescue, turn, wake
from jobs.queue.transitions.sweeping import (
    dead_letter_failed,
    promote,
    promote_failed,
    prune,
    repair,
    retry_unclassified,
)

__all__ = [
    "Moved", "claim_job", "dead_letter_failed", "enqueue", "enqueue_many", "finish", "force_cancel", "promote",
    "promote_failed", "prune", "purge", "repair", "request_cancel", "requeue_orphaned_jobs", "rerun", "rescue", "restore",
    "retry", "retry_unclassified", "run_now", "set_priority", "track", "turn", "wake",
]  # fmt: skip
