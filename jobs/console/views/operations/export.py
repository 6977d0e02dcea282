"""The outcome of every row of a bulk operation, as a file."""

from collections.abc import AsyncIterator

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse

from jobs.console import scope
from jobs.console.export import Csv
from jobs.console.queries import operations as read
from jobs.console.queries.db import apart, limited
from jobs.console.views.operations.line import find
from jobs.console.views.render import action, person
from jobs.operations import exports
from jobs.rows import Row

EXPORT_ROWS = 2_000
EXPORTED = ("position", "job_id", "tenant_id", "type", "state", "outcome", "reason", "detail", "at")


@action("export")
def export(request: HttpRequest, operation_id: int) -> HttpResponse | StreamingHttpResponse:
    """The outcome of every row as CSV, streamed."""
    found = find(operation_id)
    within = scope.current()
    exports.begun(person(request), {"operation": found["id"]} | ({"within": sorted(within)} if within else {}), "csv")
    response = StreamingHttpResponse(_stream(found["id"], within), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="operation-{found["id"]}.csv"'
    response["X-Accel-Buffering"] = "no"
    return response


async def _stream(operation_id: int, within: scope.Scope) -> AsyncIterator[bytes]:
    writer, after = Csv(), 0
    yield writer.head(EXPORTED)
    while rows := await apart(_batch, operation_id, after, within):
        yield writer.rows(EXPORTED, [[row[name] for name in EXPORTED] for row in rows], first=not after)
        after = rows[-1]["position"]


def _batch(operation_id: int, after: int, within: scope.Scope) -> list[Row]:
    with limited(10):
        return read.export_rows(operation_id, after, EXPORT_ROWS, within)
