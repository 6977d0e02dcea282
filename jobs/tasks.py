"""Huey's own tasks: work that is no job. Each is short, may be run twice, and is lost without harm."""

from datetime import datetime

from huey.contrib.djhuey import db_periodic_task, db_task

from jobs.conf import conf
from jobs.queue.retention import Retention
from jobs.workers.ledger import drainer

RETENTION_SLICE_SECONDS = 1.0


@db_periodic_task(lambda now: True, name="jobs.retention")
def retention() -> None:
    """Every minute in every replica; what is due, and who does it, is decided in the database."""
    _go_on(Retention(conf().retention).slice(None, RETENTION_SLICE_SECONDS))


@db_task(name="jobs.retention_slice")
def retention_slice(key: str) -> None:
    """The next slice, queued behind whatever else waits."""
    _go_on(Retention(conf().retention).slice(datetime.fromisoformat(key), RETENTION_SLICE_SECONDS))


@db_task(name="jobs.ledger_drain")
def ledger_drain(document_id: str) -> None:
    """Right after the commit of a document's event. What it leaves, or what nobody told of, the worker's sweep finds."""
    drainer.drain(document_id)


def _go_on(key: datetime | None) -> None:
    if key is not None:
        retention_slice(key.isoformat())
