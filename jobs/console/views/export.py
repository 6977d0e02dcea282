"""Exports of the jobs list. A POST: it is audited, so that nothing but a person's click makes one."""

from collections.abc import AsyncIterator
from typing import Any
from weakref import WeakSet

import structlog
from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse

from jobs.console.export import FORMS, Csv, Json
from jobs.console.filters import JobFilter
from jobs.console.queries import jobs as read
from jobs.console.queries.db import database_now
from jobs.console.queries.export import NAMES, batches
from jobs.console.views.render import action, person
from jobs.domain.errors import InvalidInput
from jobs.operations import exports
from jobs.operations.actions import Person

log = structlog.get_logger("jobs.console")

# Each holds a connection and a snapshot of the database for as long as it runs.
MOST_AT_ONCE = 4


class _Turn:
    """The place of one among them, from its request to the end of its stream; or of its answer, when nobody reads that."""


_running: WeakSet[_Turn] = WeakSet()


@action("export")
def export(request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
    """The rows of the address's filter, streamed. A read that fails breaks the download; it never ends as if whole."""
    form = request.POST.get("form", "csv")
    if form not in FORMS:
        raise InvalidInput("form", "it is neither csv nor json")
    turn = _Turn()
    _running.add(turn)  # first: of two that ask at the same moment each sees the other
    try:
        if len(_running) <= MOST_AT_ONCE:
            return _begun(request, form, turn)
    except BaseException:
        _running.discard(turn)
        raise
    return HttpResponse(
        "Other exports are running; try again when they have ended.", status=429, content_type="text/plain"
    )


def _begun(request: HttpRequest, form: str, turn: _Turn) -> StreamingHttpResponse:
    filter_ = read.searchable(JobFilter.parse(request.GET))
    who = person(request)
    exports.begun(who, filter_.recorded(), form)
    writer = FORMS[form]()
    response = StreamingHttpResponse(_stream(filter_, writer, who, turn), content_type=f"{writer.kind}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="jobs-{database_now():%Y%m%d-%H%M%S}.{writer.ending}"'
    response["X-Accel-Buffering"] = "no"
    return response


async def _stream(filter_: JobFilter, writer: Csv | Json, who: Person, turn: _Turn) -> AsyncIterator[bytes]:
    count, complete = 0, False
    try:
        yield writer.head(NAMES)
        async for rows in batches(filter_):
            yield writer.rows(NAMES, rows, first=not count)
            count += len(rows)
        yield writer.foot()
        complete = True
    finally:
        _running.discard(turn)
        log.info("jobs.exported", actor=who.actor, rows=count, complete=complete)
        await _record(who, filter_.recorded(), writer.ending, count, complete)


async def _record(who: Person, filter_: dict[str, Any], form: str, rows: int, complete: bool) -> None:
    await sync_to_async(exports.ended, thread_sensitive=False)(who, filter_, form, rows, complete)
