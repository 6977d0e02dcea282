"""Short words for what the tests of bulk operations do again and again."""

from typing import Any

from jobs.domain.bulk import Kind, Options
from jobs.models import Operation, OperationItem
from jobs.operations import bulk
from jobs.operations.actions import Person
from jobs.queue.operations import Selection

KIM = Person("kim", address="10.0.0.1")
DEAD = Selection("""j.status = 'FAILED' AND j.dlq""", {}, {"state": "DEAD_LETTERED"})
EVERYTHING = Selection("true")


def begin(kind: Kind = Kind.RETRY, selection: Selection = DEAD, **more: Any) -> int:
    """An operation of ours. Options by their names."""
    named = {name: more.pop(name) for name in list(more) if name in Options.__dataclass_fields__}
    return bulk.start(KIM, kind, selection, reason="proxy rolled back", options=Options(**named), **more).id


def work(operation_id: int, seconds: float = 30.0, runner: str = "") -> Operation:
    """Works until there is nothing to do at once."""
    runner = runner or bulk.new_runner()
    while bulk.work(operation_id, runner, seconds).delay == 0.0:
        pass
    return Operation.objects.get(pk=operation_id)


def outcomes(operation_id: int) -> dict[str, tuple[str | None, str | None]]:
    """What became of each job, and why."""
    return {
        item.job_id: (item.outcome, item.reason)
        for item in OperationItem.objects.filter(operation_id=operation_id)
    }  # fmt: skip


def trash(conn: Any) -> set[str]:
    return {row[0] for row in conn.execute("SELECT job_id FROM job_trash")}


def dead(conn: Any, number: int, tenants: int = 1, prefix: str = "d", **columns: Any) -> None:
    """Many dead letters, inserted in one statement."""
    extra = "".join(f', "{name}"' for name in columns)
    places = "".join(f", %({name})s" for name in columns)
    conn.execute(
        f"""INSERT INTO "PlatformJob" (id, "tenantId", type, config, status, dlq, "dlqAt", "finishedAt", error{extra})
            SELECT %(prefix)s || i, 't' || i %% %(tenants)s, 'CRAWL', '{{}}', 'FAILED', true, now(), now(), 'boom'{places}
              FROM generate_series(1, %(number)s) AS g (i)""",
        {"prefix": prefix, "tenants": tenants, "number": number} | columns,
    )
