"""Exports: whole, streamed, safe to open in a spreadsheet, and on record."""

import asyncio
import csv
import gc
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.test import Client

from jobs.console.export import Csv, guarded, moment
from jobs.console.queries import export as read
from jobs.console.views import export as view
from jobs.models import AuditEntry, Job
from tests.console.conftest import ROLES
from tests.factories import HOSTILE, JobFactory, everything

pytestmark = pytest.mark.django_db(transaction=True)


def take(client: Client, query: str = "", form: str = "csv") -> bytes:
    response = client.post(f"/export/?{query}", {"form": form})
    assert response.status_code == 200, response.content[:300]
    assert response["Cache-Control"] == "no-store"
    return asyncio.run(whole(response))


async def whole(response: Any) -> bytes:
    return b"".join([chunk async for chunk in response])


def rows(client: Client, query: str = "") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(take(client, query).decode(), newline="")))


FORMULAS = [
    "=cmd|'/C calc'!A0",
    "@SUM(1+1)",
    "+1",
    "-2+3",
    "\t=1+1",
    "\r=1",
    "＝1",
    "  =1",
    "\n=1",
    "-",
    "=1\x07",
    "\u200b=1",
]


def test_no_text_cell_begins_like_a_formula_and_what_is_stored_stays(viewer: Client) -> None:
    for number, text in enumerate(FORMULAS):
        JobFactory(id=f"{text}{number}", tenant_id=text, project_id=text, type=text, name=text, error=text, current_step=text,
                   worker_id=text, submitted_by=text, failure_type=text, fingerprint=text, origin_id=text, dlq_reason=text)  # fmt: skip
    found = rows(viewer)
    assert len(found) == len(FORMULAS)
    texts = {"id", "type", "tenant", "project", "name", "error", "step", "worker", "submitted_by", "group", "origin",
             "failure_type", "dlq_reason"}  # fmt: skip
    for row in found:
        for name in texts:
            assert row[name][0] == "'" and row[name][1:].startswith(tuple(FORMULAS)), (name, row[name])
    assert set(Job.objects.values_list("tenant_id", flat=True)) == set(FORMULAS)
    raw = json.loads(take(viewer, form="json"))
    assert {row["tenant"] for row in raw} == set(FORMULAS)


def test_numbers_stay_numbers_times_are_iso_and_nothing_is_empty(viewer: Client) -> None:
    JobFactory(id="a", priority=-5, progress=0, queued_at=datetime(2026, 10, 25, 0, 30, tzinfo=UTC), name='x,"y"\nz')
    JobFactory(id="b", dead=True)
    by_id = {row["id"]: row for row in rows(viewer)}
    assert by_id["a"]["priority"] == "-5" and by_id["a"]["progress"] == "0" and by_id["a"]["inline"] == "false"
    assert by_id["a"]["queuedAt"] == "2026-10-25T00:30:00+00:00"
    assert by_id["a"]["startedAt"] == "" and by_id["a"]["error"] == "" and by_id["a"]["name"] == 'x,"y"\nz'
    assert (by_id["a"]["state"], by_id["b"]["state"]) == ("QUEUED", "DEAD_LETTERED")
    assert "None" not in take(viewer).decode()
    row = next(one for one in json.loads(take(viewer, form="json")) if one["id"] == "a")
    assert row["priority"] == -5 and row["startedAt"] is None and row["inline"] is False


def test_rows_that_no_page_expects_leave_like_any_other(viewer: Client) -> None:
    JobFactory(id="odd", type="", queued_at=datetime(9999, 12, 31, 23, tzinfo=UTC))
    JobFactory(id="old", queued_at=datetime(1, 1, 1, tzinfo=UTC), finished_at=datetime(1, 1, 1, tzinfo=UTC))
    with connection.cursor() as cursor:
        cursor.execute("""UPDATE "PlatformJob" SET "startedAt" = 'infinity' WHERE id = 'odd'""")
    odd, old = rows(viewer)
    assert odd["queuedAt"] == "9999-12-31T23:00:00+00:00" and odd["startedAt"] == "infinity" and odd["type"] == ""
    assert old["queuedAt"] == "0001-01-01T00:00:00+00:00"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2026-01-01 00:00:00.5+00", "2026-01-01T00:00:00.5+00:00"), ("infinity", "infinity"), (None, None),
     ("0001-01-01 00:00:00+00 BC", "0001-01-01 00:00:00+00 BC")],
)  # fmt: skip
def test_times(text: str | None, expected: str | None) -> None:
    assert moment(text) == expected


def test_what_is_guarded() -> None:
    assert (
        guarded("=1") == "'=1"
        and guarded(-1) == -1
        and guarded(None) is None
        and guarded("a=1") == "a=1"
        and guarded("") == ""
    )
    assert Csv().rows(["a"], [["'tis;=1", 2, None]], first=True) == b'"\'tis;=1",2,""\r\n'


def test_the_filter_holds_and_any_number_of_rows_come_newest_first(viewer: Client) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO "PlatformJob" (id, "tenantId", type, config, "queuedAt")
               SELECT 'j' || n, 't' || n % 2, 'CRAWL', '{}', now() - n * interval '1 s' FROM generate_series(1, 3001) n"""
        )
    assert [row["id"] for row in rows(viewer, "tenant=t1")] == [f"j{n}" for n in range(1, 3002, 2)]
    assert len(json.loads(take(viewer, form="json"))) == 3001
    assert json.loads(take(viewer, "tenant=nobody", form="json")) == []
    assert take(viewer, "tenant=nobody").count(b"\r\n") == 1


def test_memory_holds_a_handful_of_rows(viewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "BATCH", 3)
    for _ in range(8):
        JobFactory()
    response = viewer.post("/export/", {"form": "csv"})

    async def sizes() -> list[int]:
        return [chunk.count(b"\r\n") for chunk in [one async for one in response]]

    assert asyncio.run(sizes()) == [1, 3, 3, 2, 0]


def test_hostile_text_in_every_column_comes_back_as_it_was(viewer: Client) -> None:
    everything(HOSTILE)
    everything('Рога "Süd" \\ Öl\n\u202e名前 🦊')
    found = json.loads(take(viewer, form="json"))
    assert {row["tenant"] for row in found} == {HOSTILE, 'Рога "Süd" \\ Öl\n\u202e名前 🦊'}
    assert {row["tenant"] for row in rows(viewer)} == {row["tenant"] for row in found}


def test_a_huge_error_is_cut_to_what_a_cell_holds(viewer: Client) -> None:
    JobFactory(dead=True, error="e" * 5_000_000)
    assert len(take(viewer)) < 70_000


def test_it_is_on_record_who_took_what_and_how_much_of_it(viewer: Client) -> None:
    JobFactory.create_batch(3)
    take(viewer, "type=CRAWL")
    begun, ended = AuditEntry.objects.order_by("id")
    assert (begun.action, begun.actor, begun.filter) == ("export", "the-viewer", {"type": "CRAWL"})
    assert (ended.action, ended.numbers) == ("export_ended", {"form": "csv", "rows": 3, "complete": True})


def test_a_read_that_fails_breaks_the_download_and_the_record_says_so(
    viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(filter_: object) -> Any:
        yield [["x"] * len(read.NAMES)]
        raise psycopg.OperationalError("the server went away")

    monkeypatch.setattr(view, "batches", broken)
    response = viewer.post("/export/", {"form": "csv"})
    with pytest.raises(psycopg.OperationalError):
        asyncio.run(whole(response))
    assert AuditEntry.objects.latest("id").numbers == {"form": "csv", "rows": 1, "complete": False}
    assert not view._running


def test_a_reader_that_goes_away_frees_its_place(viewer: Client) -> None:
    JobFactory.create_batch(3)
    response = viewer.post("/export/", {"form": "csv"})

    async def one_line() -> None:
        stream = response.__aiter__()
        await anext(stream)
        await stream.aclose()

    asyncio.run(one_line())
    assert not view._running
    assert AuditEntry.objects.latest("id").numbers["complete"] is False


def test_not_too_many_at_once(viewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "MOST_AT_ONCE", 1)
    first = viewer.post("/export/", {"form": "csv"})  # nobody has read a line of it yet
    assert viewer.post("/export/", {"form": "csv"}).status_code == 429
    assert AuditEntry.objects.count() == 1
    del first
    gc.collect()  # the test's client refers to itself
    with monkeypatch.context() as patch:
        patch.setattr(view.exports, "begun", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            viewer.post("/export/", {"form": "csv"})
    assert viewer.post("/export/", {"form": "csv"}).status_code == 200


@pytest.mark.parametrize("role", [*ROLES, "", None])
def test_each_role(as_role: Callable[..., Client], client: Client, role: str | None) -> None:
    JobFactory()
    response = (client if role is None else as_role(role)).post("/export/", {"form": "csv"})
    assert response.status_code == {None: 302, "": 403}.get(role, 200)
    assert AuditEntry.objects.exists() == bool(role)


@pytest.mark.parametrize("method", ["get", "head", "options", "put", "delete"])
def test_only_a_click_makes_one(viewer: Client, method: str) -> None:
    assert getattr(viewer, method)("/export/?form=csv").status_code == 405
    assert not AuditEntry.objects.exists()


def test_a_form_that_is_none_is_refused(viewer: Client) -> None:
    assert viewer.post("/export/", {"form": "xls"}).status_code == 422
    assert not AuditEntry.objects.exists()


def test_without_the_forms_token_nothing_leaves(as_role: Callable[..., Client]) -> None:
    assert as_role("admin", enforce_csrf_checks=True).post("/export/", {"form": "csv"}).status_code == 403
