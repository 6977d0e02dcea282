"""Who may see and do what, whatever a page shows."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import get_resolver

from jobs.console.permissions import TABLE, Role, can, role, who_may
from jobs.console.queries.overview import forget
from jobs.models import AuditEntry, Job
from jobs.queue import transitions
from tests.console.addresses import (
    ACTIONS,
    ALERT_PAGES,
    ARTIFACT_PAGES,
    BULK_PAGES,
    CAP_PAGES,
    DELIVERY_PAGES,
    GROUP_PAGES,
    HTMX,
    JOB_PAGES,
    LEDGER_PAGES,
    OPEN,
    OPERATION_PAGES,
    PAGES,
    PEOPLE_PAGES,
    REMOTE_CALLBACK,
    REMOTE_PAGES,
    job_pages,
)
from tests.console.conftest import ROLES
from tests.factories import (
    AlertFactory,
    ArtifactFactory,
    AuditFactory,
    ChannelFactory,
    DeliveryFactory,
    EventFactory,
    GroupFactory,
    JobFactory,
    OperationFactory,
    PauseFactory,
    RemoteTypeFactory,
    user,
)

pytestmark = pytest.mark.django_db


def test_every_route_is_in_the_lists_of_these_tests() -> None:
    known = {page.split("?")[0].strip("/") for page in [*PAGES, *PEOPLE_PAGES, *REMOTE_PAGES, *OPEN, *ACTIONS.values()]}
    routes = {str(entry.pattern) for entry in get_resolver("jobs.console.urls").url_patterns}
    listed = {"jobs/<path:job_id>/", "job/", "raw/<slug:value>/", "dialogs/<slug:verb>/", "pauses/lift/", "live/",
              "tenants/tenant/", "types/type/", "caps/<slug:kind>/", "caps/<slug:kind>/effect/", "audit/entry/",
              "actions/restore/<path:job_id>/", "failures/group/", "failures/group/change/", "export/", "filters/save/", "filters/forget/",
              "bulk/<slug:verb>/", "ledger/document/", "ledger/act/", "artifacts/artifact/", "artifacts/reprocess/", "operations/<int:operation_id>/",
              "alerts/alert/", "alerts/message/", "notifications/read/", "operations/<int:operation_id>/export/",
              "operations/<int:operation_id>/<slug:step>/", REMOTE_CALLBACK}  # fmt: skip
    assert {route.strip("/") for route in routes} == known - {"accounts/login"} | {one.strip("/") for one in listed}


def test_strangers_are_sent_to_the_login(client: Client) -> None:
    JobFactory(id="a")
    everywhere = [*PAGES, *PEOPLE_PAGES, *REMOTE_PAGES, *JOB_PAGES, *GROUP_PAGES, *CAP_PAGES, *LEDGER_PAGES, *ARTIFACT_PAGES,
                  *ALERT_PAGES, *DELIVERY_PAGES, *BULK_PAGES, "/operations/1/", "/operations/1/stop/", "/dialogs/cancel/?id={}",
                  "/dialogs/reveal/?id={}&value=config", "/audit/entry/?id=1", "/pauses/lift/?id=1"]  # fmt: skip
    for path in everywhere:
        response = client.get(path.format("a"))
        assert response.status_code == 302, path
        assert response["Location"].startswith("/accounts/login/?next="), path
    assert client.get("/nowhere/").status_code == 404


def test_a_strangers_script_gets_401_and_where_to_go(client: Client) -> None:
    for path in PAGES:
        response = client.get(path, headers=HTMX)
        assert response.status_code == 401, path
        assert response["HX-Redirect"] == "/accounts/login/", path
        assert "HX-Redirect" not in client.get(path, headers=HTMX | {"X-Live": "1"}), path


@pytest.mark.parametrize("path", OPEN)
def test_what_machines_ask_is_open(client: Client, path: str) -> None:
    assert client.get(path).status_code == 200


@pytest.mark.parametrize("name", ROLES)
def test_every_role_reads_every_page(as_role: Callable[..., Client], name: str) -> None:
    client, job = as_role(name), JobFactory(dead=True)
    entry, operation = AuditFactory(), OperationFactory(kind="retry").pk
    message = DeliveryFactory()
    about = [
        *(path.format(message.alert_id) for path in ALERT_PAGES),
        *(path.format(message.pk) for path in DELIVERY_PAGES),
    ]
    own = [f"/dialogs/retry/?id={job.id}", f"/dialogs/reveal/?id={job.id}&value=config", f"/audit/entry/?id={entry.pk}"]
    work = [
        *(path.format(ArtifactFactory().id) for path in ARTIFACT_PAGES),
        *BULK_PAGES,
        *(path.format(operation) for path in OPERATION_PAGES),
    ]
    for path in [*PAGES, *job_pages(job.id), *CAP_PAGES, *work, *own, *about]:
        assert client.get(path).status_code == 200, path
        assert client.get(path, headers=HTMX).status_code == 200, path


@pytest.mark.parametrize("name", ROLES)
def test_people_are_for_admins(as_role: Callable[..., Client], name: str) -> None:
    client = as_role(name)
    for path in PEOPLE_PAGES:
        assert client.get(path.format(f"the-{name}")).status_code == (200 if name == "admin" else 403), path


@pytest.mark.parametrize("name", ROLES)
def test_where_work_is_sent_is_for_admins(as_role: Callable[..., Client], name: str) -> None:
    client = as_role(name)
    for path in REMOTE_PAGES:
        assert client.get(path).status_code == (200 if name == "admin" else 403), path


def test_an_account_without_a_role_sees_nothing(as_role: Callable[..., Client]) -> None:
    client = as_role("")
    for path in PAGES:
        response = client.get(path)
        assert response.status_code == 403
        assert "no role yet" in response.content.decode()


def test_a_superuser_is_an_admin_and_an_inactive_one_nothing() -> None:
    person = user("")
    person.is_superuser = True
    assert role(person) == "admin"
    other = user("admin")
    other.is_active = False
    assert not can(other, "read")


def test_pages_write_nothing_but_through_the_door() -> None:
    for path in (Path(__file__).resolve().parents[2] / "jobs" / "console").rglob("*.py"):
        found = re.search(
            r"\b(INSERT INTO|UPDATE \"|DELETE FROM|TRUNCATE)\b|objects\.\w*(create|update|delete)", path.read_text()
        )
        assert found is None, (path, found)


def test_the_table_names_roles_and_refuses_what_it_does_not_know() -> None:
    assert all(allowed <= set(Role) for allowed in TABLE.values())
    assert not can(user("admin"), "drop_database")
    assert who_may("cancel") == "operator, support or admin"
    assert who_may("force_cancel") == "admin"


FORMS = {
    "pause": {"type": "CRAWL", "ends": "900"},
    "enqueue": {"type": "CRAWL", "tenant": "t", "config": "{}", "token": "x"},
    "change_group": {"id": "v1:a", "seen": "NEW", "state": "KNOWN"},
    "set_priority": {"priority": "5"},
    "force_cancel": {"sure": "on"},
    "reveal": {"value": "config"},
    "cap": {"id": "acme", "cap": "5", "ends": "3600"},
    "type_cap": {"id": "CRAWL", "cap": "5", "ends": "3600"},
    "ledger_retry": {"id": "event"},
    "ledger_purge": {"id": "event"},
    "upload_artifact": {"tenant": "acme"},
    "reprocess_artifact": {"id": "artifact"},
    "ledger_repair": {"kind": "attempts"},
    "bulk_priority": {"priority": "3"},
    "create_person": {"username": "erik", "role": "support", "tenants": "acme"},
    "change_person": {"user": "somebody", "role": "operator", "active": "on"},
    "link_person": {"user": "somebody"},
    "end_sessions": {"user": "somebody"},
    "alert_rule": {"name": "silent_stop", "threshold": "20", "minutes": "30", "enabled": "on", "version": "0"},
    "alert_channel": {
        "name": "hook",
        "kind": "webhook",
        "target": "https://hooks.example.org/x",
        "secret": "s" * 32,
        "id": "",
    },
    "set_membership": {"tenant": "acme", "user": "somebody", "role": "OWNER"},
    "set_remote": {"type": "NEW", "url": "https://crawler.example.com/run", "first_answer_seconds": "30",
                   "silence_seconds": "300", "longest_run_seconds": "3600"},
    "rotate_remote": {"type": "FAR", "overlap": "24"},
    "remove_remote": {"type": "FAR"},
}  # fmt: skip
FITTING = {"cancel": {}, "force_cancel": {"running": True}, "retry": {"dead": True}, "rerun": {"done": True},
           "run_now": {"retry_wait": True}, "purge": {"done": True}, "bulk_retry": {"dead": True}, "bulk_rerun": {"done": True},
           "bulk_run_now": {"retry_wait": True}, "bulk_purge": {"dead": True}}  # fmt: skip


def form_for(action: str, job: Job) -> dict[str, Any]:
    """What an action's form sends, on something that it fits."""
    if action == "restore":
        transitions.purge([JobFactory(done=True, id=job.id + "-purged").id], actor="kim", reason="test")
        job.id += "-purged"
    form = {"id": job.id, "reason": "a test", "query": "type=CRAWL"} | FORMS.get(action, {})
    if action == "upload_artifact":
        form["file"] = SimpleUploadedFile("a.txt", b"hello")
    if action == "resume":
        form["id"] = str(PauseFactory().pk)
    if action.endswith("_operation"):
        state = "PAUSED" if action == "resume_operation" else "RUNNING"
        form["id"] = str(OperationFactory(kind="retry", state=state).pk)
    if action == "acknowledge":
        form["id"] = str(AlertFactory().pk)
    if action in {"remove_channel", "test_channel"}:
        form["id"] = str(ChannelFactory().pk)
    if action == "resend_delivery":
        form["id"] = DeliveryFactory(state="FAILED").pk
    if action == "bulk_restore":
        transitions.purge([JobFactory(id="purged", done=True).id], actor="dana", reason="x")
        form["query"] = "id=purged"
    return form


@contextmanager
def undone() -> Iterator[None]:
    """What is done within is undone after it."""
    point = transaction.savepoint_create()
    yield
    transaction.savepoint_rollback(point)
    forget()


@pytest.mark.parametrize("action", ACTIONS)
def test_every_action_as_every_role(
    as_role: Callable[..., Client], client: Client, empty_cache: None, action: str
) -> None:
    job = JobFactory(**FITTING.get(action, {}))
    GroupFactory(fingerprint="v1:a")
    EventFactory(id="event")
    ArtifactFactory(id="artifact")
    EventFactory(id="tried too often", status="pending", attempts=99)
    user("viewer", "somebody")
    RemoteTypeFactory(type="FAR")
    form = form_for(action, job)
    for name in [*ROLES, "", None]:
        with undone():
            if "file" in form:
                form["file"].seek(0)
            response = (client if name is None else as_role(name)).post(ACTIONS[action], form)
            judge(action, name, response)


def judge(action: str, name: str | None, response: Any) -> None:
    """Whether an action was done, and audited, exactly if that role may do it."""
    done = AuditEntry.objects.exists()
    if name is None:
        assert (response.status_code, done) == (302, False)
        assert response["Location"] == "/accounts/login/"
    elif name and name in TABLE[action]:
        shown = action in {
            "reveal",
            "export_audit",
            "create_person",
            "link_person",
            "set_remote",
            "rotate_remote",
        }  # their answer is what was asked for
        assert (response.status_code, done) == (200 if shown else 302, True), (name, response.content[:500])
    else:
        assert (response.status_code, done) == (403, False), name
        if name:
            assert who_may(action) in response.content.decode(), name
        assert Job.objects.count() == 1, name


def test_only_a_post_acts(admin: Client) -> None:
    job = JobFactory()
    for action in ACTIONS:
        for method in ["get", "head", "options", "put", "delete"] if action != "enqueue" else []:
            response = getattr(admin, method)(f"{ACTIONS[action]}?id={job.id}&reason=x")
            assert response.status_code == 405, (action, method)
            assert not AuditEntry.objects.exists(), (action, method)


def test_a_post_without_the_forms_token_is_refused(as_role: Callable[..., Client]) -> None:
    client = as_role("admin", enforce_csrf_checks=True)
    for action in ACTIONS:
        with undone():
            response = client.post(ACTIONS[action], form_for(action, JobFactory()))
            assert response.status_code == 403, action
            assert "Reload the page" in response.content.decode(), action
            assert not AuditEntry.objects.exists(), action


@pytest.mark.parametrize(
    "target", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "///evil.example",
               "https:evil.example", "http://testserver@evil.example", "/ok\r\nSet-Cookie:a=b"],
)  # fmt: skip
@pytest.mark.parametrize("where", ["query", "body"])
def test_the_login_leads_only_to_our_own_pages(client: Client, target: str, where: str) -> None:
    person = user("viewer", "dana")
    person.set_password("correct horse")
    person.save()
    form = {"login": "dana", "password": "correct horse"}
    if where == "body":
        response = client.post("/accounts/login/", form | {"next": target})
    else:
        response = client.post("/accounts/login/", form, query_params={"next": target})
    assert response.status_code == 302
    assert response["Location"].startswith("/") and "evil" not in response["Location"].replace("/\\", "//")[:2]
    assert not response["Location"].startswith(("//", "/\\"))
    assert "a=b" not in response.headers.get("Set-Cookie", "")


def test_a_page_of_ours_survives_the_login(client: Client) -> None:
    person = user("viewer", "dana")
    person.set_password("correct horse")
    person.save()
    target = client.get("/jobs/?state=QUEUED&tenant=a%20b")["Location"]
    response = client.post(target, {"login": "dana", "password": "correct horse"})
    assert response["Location"] == "/jobs/?state=QUEUED&tenant=a%20b"


def test_a_get_does_not_sign_out(viewer: Client) -> None:
    viewer.get("/accounts/logout/")
    assert viewer.get("/").status_code == 200
    viewer.post("/accounts/logout/")
    assert viewer.get("/").status_code == 302


def test_nobody_signs_up(client: Client) -> None:
    client.post("/accounts/signup/", {"username": "eve", "password1": "correct horse battery"})
    assert not type(user("viewer")).objects.filter(username="eve").exists()


@pytest.mark.parametrize(
    ("path", "status"),
    [("/", 200), ("/jobs/nowhere/", 404), ("/nowhere", 404), ("/jobs/?after=%00", 200), ("/accounts/login/", 302),
     ("/actions/cancel/", 405), ("/metrics", 200), ("/healthz", 200)],
)  # fmt: skip
def test_every_answer_carries_the_headers(admin: Client, path: str, status: int) -> None:
    for headers in ({}, HTMX):
        response = admin.get(path, headers=headers)
        assert response.status_code == status
        assert response["X-Frame-Options"] == "DENY"
        assert response["X-Content-Type-Options"] == "nosniff"
        assert response["Referrer-Policy"] == "same-origin"
        assert "frame-ancestors 'none'" in response["Content-Security-Policy"]
        assert "unsafe-inline" not in response["Content-Security-Policy"]
        assert "HX-Request" in response["Vary"]
        assert "no-store" in response["Cache-Control"] or "no-cache" in response["Cache-Control"]
