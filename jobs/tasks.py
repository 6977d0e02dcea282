"""Huey's own tasks: work that is no job. Each is short, may be run twice, and is lost without harm."""

from datetime import datetime

from huey.contrib.djhuey import db_periodic_task, db_task

from jobs.notifications import deliveries
from jobs.operations import bulk
from jobs.operations.retention import retention as all_retention
from jobs.workers import delivery
from jobs.workers.ledger import drainer

RETENTION_SLICE_SECONDS = 1.0
OPERATION_SLICE_SECONDS = 1.0
# A task may begin once a minute; operations are looked for more often.
LOOKS_A_MINUTE = 4


@db_periodic_task(lambda now: True, name="jobs.retention")
def retention() -> None:
    """Every minute in every replica; what is due, and who does it, is decided in the database."""
    _go_on(all_retention().slice(None, RETENTION_SLICE_SECONDS))


@db_task(name="jobs.retention_slice")
def retention_slice(key: str) -> None:
    """The next slice, queued behind whatever else waits."""
    _go_on(all_retention().slice(datetime.fromisoformat(key), RETENTION_SLICE_SECONDS))


@db_task(name="jobs.ledger_drain")
def ledger_drain(document_id: str) -> None:
    """Right after the commit of a document's event. What it leaves, or what nobody told of, the worker's sweep finds."""
    drainer.drain(document_id)


def _go_on(key: datetime | None) -> None:
    if key is not None:
        retention_slice(key.isoformat())


@db_task(name="jobs.operation_slice")
def operation_slice(operation_id: int, runner: str) -> None:
    """The next moment of work on a bulk operation, queued behind whatever else waits."""
    delay = bulk.work(operation_id, runner, OPERATION_SLICE_SECONDS).delay
    if delay is None:
        return
    if delay:
        operation_slice.schedule((operation_id, runner), delay=delay)
    else:
        operation_slice(operation_id, runner)


def begin_operation(operation_id: int) -> None:
    """A fresh chain of slices. Of two at the same operation one goes on."""
    operation_slice(operation_id, bulk.new_runner())


@db_task(name="jobs.operations_left")
def operations_left() -> None:
    """Takes up operations whose worker died."""
    for operation_id in bulk.abandoned():
        begin_operation(operation_id)


@db_periodic_task(lambda now: True, name="jobs.operations_watch")
def operations_watch() -> None:
    """Every minute in every replica, and some times until the next."""
    for number in range(LOOKS_A_MINUTE):
        operations_left.schedule(delay=number * 60 // LOOKS_A_MINUTE)


@db_task(name="jobs.deliver_alerts")
def deliver_alerts() -> None:
    """Sends some of the alerts' messages that are due; the rest queued behind whatever else waits."""
    if delivery.deliver():
        deliver_alerts()


@db_task(name="jobs.deliveries_left")
def deliveries_left() -> None:
    """Takes up what nobody told of: a later try, the end of quiet hours, a worker that died."""
    if deliveries.any_due():
        deliver_alerts()


@db_periodic_task(lambda now: True, name="jobs.deliveries_watch")
def deliveries_watch() -> None:
    """Every minute in every replica, and some times until the next."""
    for number in range(LOOKS_A_MINUTE):
        deliveries_left.schedule(delay=number * 60 // LOOKS_A_MINUTE)
