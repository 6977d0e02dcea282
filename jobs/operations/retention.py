"""All that is deleted when it is old: rows of the queue, and files that no artifact has."""

from jobs.conf import conf
from jobs.operations import artifacts
from jobs.queue.retention import Batch, Retention, Target
from jobs.queue.statements import Connection

# A storage elsewhere takes a request a file; a slice lasts a second.
_FILES_A_BATCH = 20


def retention() -> Retention:
    """By the settings."""
    files = Target("artifacts", artifacts.LEFT_BEHIND, _files)
    return Retention(conf().retention, operations=conf().operation_retention, further=[files])


def _files(_limit: int, _keep_seconds: float, _using: Connection | None) -> Batch:
    removed = artifacts.clean(_FILES_A_BATCH)
    return Batch(removed, removed == _FILES_A_BATCH)
