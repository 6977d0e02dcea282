"""Operations in real worker processes: told at once, shared by slices, taken over from a killed one."""

import signal
from typing import Any

from django.db import transaction

from jobs import tasks
from jobs.domain.bulk import Kind
from jobs.models import JobHistory, Operation, OperationItem
from tests.operations.bulk_helpers import begin, dead
from tests.processes import WorkerProcesses
from tests.workers.helpers import wait_for


def finished(operation_id: int) -> bool:
    return Operation.objects.get(pk=operation_id).state == "DONE"


def test_a_worker_does_it_within_moments(conn: Any, worker_process: WorkerProcesses) -> None:
    worker_process()
    dead(conn, 1000, tenants=20)
    operation = begin(Kind.PURGE)
    wait_for(lambda: finished(operation), 15)
    assert Operation.objects.get(pk=operation).done == 1000


def test_a_killed_workers_operation_is_done_by_another_each_row_once(
    conn: Any, worker_process: WorkerProcesses
) -> None:
    first = worker_process()
    dead(conn, 3000, tenants=30)
    # Jobs of a type that nobody does stay queued: each history row is one redrive.
    conn.execute("""UPDATE "PlatformJob" SET type = 'NOBODY_DOES_IT'""")
    with transaction.atomic():
        operation = begin(rate=60_000)
    wait_for(lambda: Operation.objects.get(pk=operation).done > 300, 15)
    first.signal(signal.SIGKILL)
    first.wait()
    half = Operation.objects.get(pk=operation).done
    assert half < 3000, "it was done before the kill"
    assert OperationItem.objects.filter(operation_id=operation, outcome="done").count() == half
    worker_process()
    tasks.operations_watch.call_local()  # as each replica does every minute; the first look comes too early
    wait_for(lambda: bool(tasks.bulk.abandoned()), 15)
    tasks.operations_left.call_local()
    wait_for(lambda: finished(operation), 30)
    assert Operation.objects.get(pk=operation).done == 3000
    redriven = JobHistory.objects.filter(to_status="QUEUED", from_dlq=True).values_list("job_id", flat=True)
    assert len(redriven) == len(set(redriven)) == 3000
