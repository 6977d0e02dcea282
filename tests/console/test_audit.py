"""The audit trail's page: found by anything, taken away as a file, linked to what it is about, without secrets."""

import asyncio
import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import DatabaseError, connection, connections
from django.test import Client
from django.utils import timezone

from jobs.models import AuditEntry, Job
from tests.console.addresses import HTMX
from tests.console.test_export import whole
from tests.factories import AuditFactory, JobFactory

pytestmark = pytest.mark.django_db


async def taken(response: Any) -> bytes:
    """The whole file; the connection of the thread that read it does not outlive the test."""
    text = await whole(response)
    await sync_to_async(connections.close_all, thread_sensitive=True)()
    return text


@pytest.fixture
def trail() -> None:
    AuditFactory(
        actor="dana", action="cancel", target="job-1", tenant_id="acme", reason="duplicate", before={"job-1": "QUEUED"}
    )
    AuditFactory(
        actor="kim",
        action="retry",
        target="2 jobs",
        tenant_id="beta",
        reason="100% sure",
        before={"job-1": "D", "job-2": "D"},
    )
    AuditFactory(
        actor="kim", action="pause", target="Everything", reason="incident", at=timezone.now() - timedelta(days=3)
    )


@pytest.mark.parametrize(
    ("query", "reasons"),
    [({"actor": "kim"}, {"100% sure", "incident"}), ({"action": "cancel"}, {"duplicate"}),
     ({"target": "job-1"}, {"duplicate", "100% sure"}), ({"target": "job-2"}, {"100% sure"}), ({"tenant": "acme"}, {"duplicate"}),
     ({"text": "100%"}, {"100% sure"}), ({"text": "INCID"}, {"incident"}), ({"actor": "kim", "action": "pause"}, {"incident"}),
     ({"to": (timezone.now() - timedelta(days=1)).isoformat()}, {"incident"}),
     ({"from": (timezone.now() - timedelta(days=1)).date().isoformat()}, {"duplicate", "100% sure"}), ({"actor": "nobody"}, set())],
)  # fmt: skip
def test_it_is_found_by_who_what_to_what_when_and_text(
    viewer: Client, trail: None, query: dict[str, str], reasons: set[str]
) -> None:
    page = viewer.get("/audit/", query).content.decode()
    assert {one for one in ("duplicate", "100% sure", "incident") if f'title="{one}"' in page} == reasons


def test_what_cannot_be_used_is_said(viewer: Client, trail: None) -> None:
    page = viewer.get("/audit/?from=yesterday&actor=kim&target=%00").content.decode()
    assert "could not be used:</b> target, from" in page and "duplicate" not in page


def test_pages_keep_the_filter_and_lose_and_repeat_nothing(viewer: Client) -> None:
    moment = timezone.now()
    for n in range(120):  # many at one moment: the id decides
        AuditFactory(actor="kim" if n % 2 else "dana", reason=f"r{n:03}", at=moment)
    seen: list[str] = []
    response = viewer.get("/audit/?actor=kim")
    while True:
        seen += [row["reason"] for row in response.context["rows"]]
        older = response.context["pager"]["older_url"]
        if not older:
            break
        assert "actor=kim" in older
        response = viewer.get(older)
    assert seen == [f"r{n:03}" for n in range(119, 0, -2)]


def test_an_entry_shows_before_and_after_and_leads_to_its_rows(operator: Client) -> None:
    job = JobFactory(priority=1)
    operator.post("/actions/set-priority/", {"id": job.id, "priority": "9", "reason": "first"}, headers=HTMX)
    entry = AuditEntry.objects.get()
    assert (entry.before, entry.after) == ({job.id: 1}, {"priority": 9})
    page = operator.get(f"/audit/entry/?id={entry.pk}").content.decode()
    assert f"/jobs/{job.id}/" in page and "“first”" in page and "127.0.0.1" in page
    assert f"/jobs/{job.id}/" in operator.get("/audit/").content.decode()
    for wrong in ("", "abc", "-1", "9" * 30, "999999"):
        assert operator.get(f"/audit/entry/?id={wrong}").status_code == 404


def test_secrets_in_an_entry_are_masked_on_page_and_in_file(admin: Client) -> None:
    entry = AuditFactory(before={"password": "hunter2", "cap": 4}, after={"config": {"apiKey": "abc-123"}})
    assert "hunter2" not in admin.get(f"/audit/entry/?id={entry.pk}").content.decode()
    assert "abc-123" not in admin.get(f"/audit/entry/?id={entry.pk}").content.decode()


@pytest.mark.django_db(transaction=True)
def test_the_file_has_every_entry_of_the_filter_and_is_on_record(admin: Client) -> None:
    for n in range(1203):
        AuditFactory(actor="kim", reason="=1+1" if n == 0 else f"r{n}", after={"token": "s3cret", "n": n})
    AuditFactory(actor="dana")
    response = admin.post("/audit/export/?actor=kim", {"form": "csv"})
    text = asyncio.run(taken(response)).decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(rows) == 1203 and {row["actor"] for row in rows} == {"kim"} and rows[-1]["reason"] == "'=1+1"
    assert "s3cret" not in text and '"n": 7' in rows[-8]["after"] and rows[0]["at"].endswith("+00:00")
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.target, entry.filter) == ("export", "audit", {"actor": "kim"})


def test_long_and_forged_values_are_cut_and_kept(operator: Client) -> None:
    job = JobFactory(tenant_id="t" * 5000, id="j" * 5000)
    agent = "a\nforged: line\x1b[31m" + "x" * 10_000
    response = operator.post("/actions/cancel/", {"id": job.id, "reason": "x"}, headers=HTMX | {"User-Agent": agent})
    assert response.status_code == 200
    entry = AuditEntry.objects.get()
    assert len(entry.target) < 4100 and len(entry.tenant_id or "") < 4100 and len(entry.user_agent or "") <= 300
    assert (
        operator.get("/audit/").status_code == 200 and operator.get(f"/audit/entry/?id={entry.pk}").status_code == 200
    )


def test_what_cannot_be_audited_is_not_done(admin: Client) -> None:
    """With the trail unwritable an action is refused, not done in silence."""
    job = JobFactory(config={"password": "hunter2"})
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION pg_temp.no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'unwritable'; END $$"
        )
        cursor.execute("CREATE TRIGGER no BEFORE INSERT ON audit_entry FOR EACH ROW EXECUTE FUNCTION pg_temp.no()")
    forms: dict[str, Any] = {
        "cancel": {},
        "set-priority": {"priority": "3"},
        "reveal": {"value": "config"},
        "cap": {"cap": "5"},
    }
    for action, more in forms.items():
        with pytest.raises(DatabaseError):
            admin.post(f"/actions/{action}/", {"id": job.id, "reason": "x"} | more)
    found = Job.objects.get()
    assert (found.status, found.priority) == ("QUEUED", 0)


def test_a_secret_is_masked_everywhere_and_revealed_for_a_reason_by_an_admin(admin: Client, operator: Client) -> None:
    job = JobFactory(done=True, config={"url": "https://x/", "auth": {"password": "hunter2"}}, result={"token": "hunter2"},
                     checkpoint={"cookies": ["hunter2"], "page": 3})  # fmt: skip
    paths = [f"/jobs/{job.id}/", *(f"/raw/{name}/?id={job.id}" for name in ("config", "result", "checkpoint")),
             f"/dialogs/reveal/?id={job.id}&value=config", "/jobs/?config=auth.password%3Dhunter2"]  # fmt: skip
    for path in paths[:-1]:
        assert "hunter2" not in admin.get(path).content.decode(), path
    assert "Part of the address could not be used" in admin.get(paths[-1]).content.decode()
    form = {"id": job.id, "value": "config", "reason": "login fails"}
    assert operator.post("/actions/reveal/", form, headers=HTMX).status_code == 403
    assert admin.post("/actions/reveal/", form | {"reason": " "}, headers=HTMX).status_code == 422
    assert not AuditEntry.objects.exists()
    response = admin.post("/actions/reveal/", form, headers=HTMX)
    assert "hunter2" in response.content.decode() and "no-store" in response["Cache-Control"]
    assert AuditEntry.objects.values_list("action", "target", "after").get() == ("reveal", job.id, {"value": "config"})
    assert "hunter2" not in admin.get(paths[0]).content.decode()


def test_a_long_value_that_is_cut_hides_them_too(admin: Client) -> None:
    job = JobFactory(config={"a": "x" * 100, "password": "hunter2", "zzzzzzzzzz": ["y" * 50] * 3000})
    page = admin.get(f"/jobs/{job.id}/").content.decode()
    assert "hunter2" not in page and "masked" in page and "Cut:" in page
