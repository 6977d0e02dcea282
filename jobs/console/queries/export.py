"""The rows of an export, whatever their number, by a cursor on the server: memory holds one handful of them."""

from collections.abc import AsyncIterator
from typing import Any

import psycopg
from django.db import connections

from jobs.console.export import Value, moment
from jobs.console.filters import JobFilter, where
from jobs.queue.connections import parameters

BATCH = 500
# A spreadsheet's cell takes no more.
LONGEST = 32_000
BATCH_SECONDS = 30
STALLED_SECONDS = 120

_TEXTS = {"project": 'j."projectId"', "name": "j.name", "failure_type": 'j."failureType"::text', "error": "j.error",
          "dlq_reason": 'j."dlqReason"', "step": 'j."currentStep"', "worker": 'j."workerId"',
          "submitted_by": 'j."submittedBy"', "group": "j.fingerprint", "origin": 'j."originId"'}  # fmt: skip
_TIMES = ("queuedAt", "requeuedAt", "startedAt", "finishedAt", "heartbeatAt", "nextRetryAt", "dlqAt", "checkpointAt")
_COLUMNS: dict[str, str] = {
    "id": "j.id",
    "type": "j.type",
    "tenant": 'j."tenantId"',
    "state": "detiq_state(j.status::text, j.dlq)",
    "priority": "j.priority",
    "progress": "j.progress::integer",  # of any kind of number where another program made it
    "retry_count": 'j."retryCount"',
    "redrive_count": 'j."redriveCount"',
    "inline": "j.inline",
    **{name: f"left({column}, {LONGEST})" for name, column in _TEXTS.items()},
    **{name: f'j."{name}"::timestamptz::text' for name in _TIMES},
}
NAMES = list(_COLUMNS)
_FIRST_TIME = NAMES.index(_TIMES[0])


async def batches(filter_: JobFilter) -> AsyncIterator[list[list[Value]]]:
    """The rows under a filter, newest first, all of one moment. Holds a connection of its own, not one of the pool."""
    clause, params = where(filter_)
    columns = ", ".join(_COLUMNS.values())
    sql = f'SELECT {columns} FROM "PlatformJob" j WHERE {clause} ORDER BY j."queuedAt" DESC, j.id DESC'  # noqa: S608
    settings = parameters(connections["default"].settings_dict, "detiq-export")
    async with await psycopg.AsyncConnection.connect(**settings) as connection, connection.transaction():
        await connection.execute("SET TRANSACTION READ ONLY")
        await connection.execute("SET LOCAL timezone = 'UTC'")  # a pooler may ignore what the start asked for
        await connection.execute(f"SET LOCAL statement_timeout = '{BATCH_SECONDS}s'")
        # A reader that stalls must not hold the database's old rows for ever.
        await connection.execute(f"SET LOCAL idle_in_transaction_session_timeout = '{STALLED_SECONDS}s'")
        if "error" in filter_.texts:  # found by their text and then sorted, not by walking through all jobs
            await connection.execute("SET LOCAL cursor_tuple_fraction = 1")
        async with connection.cursor(name="export") as cursor:
            await cursor.execute(sql, params)
            while rows := await cursor.fetchmany(BATCH):
                yield [_row(row) for row in rows]


def _row(row: tuple[Any, ...]) -> list[Value]:
    return [*row[:_FIRST_TIME], *map(moment, row[_FIRST_TIME:])]
