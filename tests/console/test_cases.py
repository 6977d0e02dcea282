"""What goes wrong elsewhere when people act: pressed twice, at the same moment, by odd requests, on any way to the same deed."""

import re
from collections.abc import Callable
from io import StringIO
from typing import Any
from urllib.parse import urljoin

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from jobs.console import metrics
from jobs.console.queries.overview import forget
from jobs.models import (
    AuditEntry,
    FailureGroup,
    Job,
    JobHistory,
    JobTrash,
    Operation,
    Pause,
    SystemConfig,
    TenantSetting,
)
from jobs.queue import transitions
from tests.console.addresses import ACTIONS, HTMX
from tests.console.test_access import FITTING, form_for
from tests.factories import (
    ArtifactFactory,
    EventFactory,
    GroupFactory,
    JobFactory,
    OperationFactory,
    PauseFactory,
    RemoteTypeFactory,
    user,
)
from tests.operations.bulk_helpers import work
from tests.together import at_once

pytestmark = pytest.mark.django_db

# Whose answer is what was asked for, each time anew; and what is about people, tested where they are.
AGAIN = {"reveal", "export_audit", "link_person", "create_person", "change_person", "end_sessions", "test_channel",
         "ledger_repair"}  # fmt: skip


def hidden(page: str) -> dict[str, str]:
    """The hidden fields of a form as it was drawn."""
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page)
    return {name: value for name, value in found if name != "csrfmiddlewaretoken"}


# --- Pressed twice ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("action", [name for name in ACTIONS if name not in AGAIN])
def test_the_same_form_twice_is_one_deed(admin: Client, empty_cache: None, action: str) -> None:
    job = JobFactory(**FITTING.get(action, {}))
    GroupFactory(fingerprint="v1:a")
    EventFactory(id="event")
    ArtifactFactory(id="artifact")
    RemoteTypeFactory(type="FAR")
    user("viewer", "somebody")
    form = {"token": "one-form"} | form_for(action, job)
    if action in {"cap", "type_cap"}:
        form["version"] = "0"
    if action == "set_priority":
        form |= hidden(admin.get("/dialogs/set-priority/", {"id": job.id}).content.decode())
    first = admin.post(ACTIONS[action], form)
    audited, jobs = AuditEntry.objects.count(), Job.objects.count()
    if action == "upload_artifact":
        form["file"].seek(0)
    second = admin.post(ACTIONS[action], form)
    assert first.status_code in {200, 302} and second.status_code in {200, 302, 404, 409, 422}, second.status_code
    assert (AuditEntry.objects.count(), Job.objects.count()) == (audited, jobs) and audited == 1
    assert Pause.objects.count() <= 1 and Operation.objects.count() <= 1


def test_a_pause_sent_twice_is_one_and_a_fresh_form_is_another(operator: Client, empty_cache: None) -> None:
    for number in (1, 2):
        form = hidden(operator.get("/pauses/new/").content.decode()) | {
            "type": "CRAWL",
            "ends": "900",
            "reason": "502s",
        }
        for _ in range(3):
            assert operator.post("/actions/pause/", form).status_code == 302
        assert Pause.objects.count() == AuditEntry.objects.filter(action="pause").count() == number
    changed = form | {"type": "DISCOVER"}  # Back, another type, and the same form goes out with other words
    for _ in range(2):
        assert operator.post("/actions/pause/", changed).status_code == 302
    assert [one.type for one in Pause.objects.order_by("id")] == ["CRAWL", "CRAWL", "DISCOVER"]
    wrong = operator.post("/actions/pause/", form | {"reason": "", "token": "kept"}).content.decode()
    assert hidden(wrong)["token"] == "kept"


# --- At the same moment -----------------------------------------------------------------------------------------------
@pytest.mark.django_db(transaction=True)
def test_six_posts_at_once_are_one_transition(as_role: Callable[..., Client], empty_cache: None) -> None:
    client = as_role("admin")
    for action, traits in (("cancel", {}), ("retry", {"dead": True}), ("purge", {"done": True})):
        job = JobFactory(**traits)
        sent = [lambda: client.post(ACTIONS[action], {"id": job.id, "reason": "x"}).status_code for _ in range(6)]  # noqa: B023
        assert sorted(at_once(*sent))[0] == 302
        assert AuditEntry.objects.filter(action=action).count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_admins_pause_and_resume_at_once_and_every_place_agrees(
    as_role: Callable[..., Client], empty_cache: None
) -> None:
    one, other = as_role("admin", "kim"), as_role("admin", "dana")
    everything = {"everything": "on", "ends": "", "reason": "incident"}
    for turn in range(4):
        one.post("/actions/pause/", everything)
        kept = str(Pause.objects.filter(lifted_at=None).latest("pk").pk)
        before = AuditEntry.objects.count()
        answers = at_once(
            lambda: one.post("/actions/pause/", everything).status_code,
            lambda: other.post("/actions/resume/", {"id": kept, "reason": "over"}).status_code,  # noqa: B023
        )
        assert set(answers) <= {302, 404, 409}
        assert AuditEntry.objects.count() - before == answers.count(302)
        forget()
        paused = Pause.objects.filter(lifted_at=None).exists()
        assert (SystemConfig.objects.get().value == "true") == paused
        for client in (one, other):
            assert ("Everything is paused" in client.get("/").content.decode()) == paused
            assert ("Lift…" in client.get("/pauses/").content.decode()) == paused
            assert bool(client.get("/frame/pauses/").content.strip()) == paused
        for pause in Pause.objects.filter(lifted_at=None):
            one.post("/actions/resume/", {"id": str(pause.pk), "reason": f"turn {turn}"})
        forget()


def test_an_empty_queue_that_was_paused_says_running_everywhere_once_it_is_resumed(admin: Client) -> None:
    admin.post("/actions/pause/", {"everything": "on", "ends": "", "reason": "incident"})
    assert "Everything is paused" in admin.get("/").content.decode()
    admin.post("/actions/resume/", {"id": str(Pause.objects.get().pk), "reason": "over"})
    for path in ("/", "/jobs/", "/frame/pauses/", "/pauses/"):
        assert "pause in force" not in admin.get(path).content.decode()
        assert "Everything is paused" not in admin.get(path).content.decode()
    metrics.clear()
    assert "detiq_pauses 0.0" in admin.get("/metrics").content.decode()


# --- Cancels ----------------------------------------------------------------------------------------------------------
WAITING: dict[str, tuple[dict[str, Any], int, str]] = {
    "queued": ({}, 302, "CANCELLED"),
    "waiting for a retry": ({"retry_wait": True}, 302, "CANCELLED"),
    "of a paused queue": ({"type": "PAUSED"}, 302, "CANCELLED"),
    "of a suspended tenant": ({"tenant_id": "suspended"}, 302, "CANCELLED"),
    "dead": ({"dead": True}, 409, "FAILED"),
    "done": ({"done": True}, 409, "DONE"),
}


@pytest.mark.parametrize("name", WAITING)
def test_what_no_worker_has_is_cancelled_at_once(operator: Client, name: str) -> None:
    traits, status, becomes = WAITING[name]
    PauseFactory(type="PAUSED")
    TenantSetting.objects.create(tenant_id="suspended", cap=0)
    job = JobFactory(**traits)
    assert operator.post(ACTIONS["cancel"], {"id": job.id, "reason": "x"}).status_code == status
    found = Job.objects.get(pk=job.pk)
    assert found.status == becomes and found.finished_at or becomes == "FAILED"


def test_a_project_ends_with_its_cancelled_jobs(viewer: Client) -> None:
    """Cancelled is an end like the others: nothing that counts ends forgets it."""
    for project, ends in {"a": ["done"] * 8 + ["failed", "cancelled"], "b": ["cancelled"] * 10}.items():
        for end in ends:
            JobFactory(project_id=project, **{end: True})
    for project in ("a", "b"):
        shown = viewer.get("/jobs/", {"project": project, "state": "QUEUED,RUNNING,RETRY_WAIT,CANCEL_REQUESTED"})
        assert "No job matches" in shown.content.decode()
    JobFactory(project_id="b", cancel_requested=True)
    shown = viewer.get("/jobs/", {"project": "b", "state": "QUEUED,RUNNING,RETRY_WAIT,CANCEL_REQUESTED"})
    assert "No job matches" not in shown.content.decode()
    assert viewer.get("/tenants/").status_code == 200


# --- One deed, several ways -------------------------------------------------------------------------------------------
def by_page(client: Client, action: str, job: Job) -> str:
    client.post(ACTIONS[action], {"id": job.id, "reason": "because"})
    return "the-admin"


def by_bulk(client: Client, action: str, job: Job) -> str:
    client.post(ACTIONS[f"bulk_{action}"], {"query": f"id={job.id}", "reason": "because"})
    work(Operation.objects.latest("pk").pk)
    return "the-admin"


def by_command(client: Client, action: str, job: Job) -> str:
    call_command("job", action, job.id, "--reason", "because", stdout=StringIO())
    return "command:"


def by_operation_command(client: Client, action: str, job: Job) -> str:
    words = ["operation", "start", action, "--filter", f"id={job.id}", "--reason", "because", "--yes"]
    call_command(*words, stdout=StringIO())
    return "command:"


@pytest.mark.parametrize("way", [by_page, by_bulk, by_command, by_operation_command])
@pytest.mark.parametrize(("action", "traits"), [("cancel", {}), ("purge", {"done": True})])
def test_a_deed_is_the_same_by_every_way(
    admin: Client, way: Callable[[Client, str, Job], str], action: str, traits: dict[str, Any]
) -> None:
    job, running = JobFactory(**traits), JobFactory(running=True)
    who = way(admin, action, job)
    if action == "cancel":
        assert Job.objects.get(pk=job.pk).status == "CANCELLED"
    else:
        assert JobTrash.objects.filter(job_id=job.pk).exists() and not Job.objects.filter(pk=job.pk).exists()
    history = JobHistory.objects.filter(job_id=job.pk).latest("id")
    assert history.actor.startswith(who) and (history.reason or "").startswith("because")
    entry = AuditEntry.objects.earliest("id")
    assert entry.action in {action, f"bulk_{action}"} and entry.actor.startswith(who) and entry.reason == "because"
    if action == "purge":  # the same guard: what runs is not purged
        with_guard = AuditEntry.objects.filter(action="purge").count()
        try:
            way(admin, action, running)
        except Exception as error:  # noqa: BLE001 - a command says it by its exit code
            assert getattr(error, "returncode", None) == 1
        assert Job.objects.get(pk=running.pk).status == "RUNNING"
        assert AuditEntry.objects.filter(action="purge").count() == with_guard


# --- Odd requests -----------------------------------------------------------------------------------------------------
ODD: dict[str, dict[str, Any]] = {
    "a prefetch": {"method": "get", "headers": {"Purpose": "prefetch", "Sec-Purpose": "prefetch"}},
    "a method in a header": {"method": "get", "headers": {"X-HTTP-Method-Override": "POST"}},
    "a method in the address": {"method": "get", "headers": {}, "query": "&_method=POST"},
}


@pytest.mark.parametrize("how", ODD)
def test_nothing_but_a_true_post_acts(admin: Client, how: str) -> None:
    job, odd = JobFactory(dead=True), ODD[how]
    for action, address in ACTIONS.items():
        if action == "enqueue":
            continue
        path = f"{address}?id={job.id}&reason=x&query=type%3DCRAWL{odd.get('query', '')}"
        assert getattr(admin, odd["method"])(path, headers=odd["headers"]).status_code == 405, action
    assert not AuditEntry.objects.exists() and Job.objects.get().status == "FAILED"


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Referer": "https://evil.example/x"}]
)
def test_a_post_from_another_site_is_refused(as_role: Callable[..., Client], headers: dict[str, str]) -> None:
    client, job = as_role("admin", enforce_csrf_checks=True), JobFactory()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/json"):
        sent = client.post(ACTIONS["cancel"], f"id={job.id}&reason=x", content_type=kind, headers=headers, secure=True)
        assert sent.status_code == 403
    assert Job.objects.get().status == "QUEUED" and not AuditEntry.objects.exists()


def test_a_sessions_cookie_goes_nowhere_else(client: Client, settings: Any) -> None:
    person = user("viewer", "dana")
    person.set_password("correct horse")
    person.save()
    client.post("/accounts/login/", {"login": "dana", "password": "correct horse"})
    session = client.cookies[settings.SESSION_COOKIE_NAME]
    assert session["httponly"] and session["samesite"] == "Lax"
    assert bool(session["secure"]) == settings.SESSION_COOKIE_SECURE


@pytest.mark.parametrize("target", ["https://evil.example", "//evil.example", "%2F%2Fevil.example", "/\\evil.example"])
def test_no_way_out_leads_to_another_site(as_role: Callable[..., Client], target: str) -> None:
    client = as_role("admin")
    job = JobFactory()
    answers = [
        client.post(
            ACTIONS["cancel"], {"id": job.id, "reason": "x", "next": target}, headers={"HX-Current-URL": target}
        ),
        client.post(ACTIONS["cancel"], {"id": job.id, "reason": "x"}, headers=HTMX | {"HX-Current-URL": target}),
        client.get(f"/accounts/reauthenticate/?next={target}"),
        client.post("/accounts/logout/", {"next": target}),
        client.get(f"/jobs/?next={target}", headers=HTMX),
    ]
    for answer in answers:
        for name in ("Location", "HX-Redirect", "HX-Location", "HX-Push-Url"):
            place = urljoin("https://ours.example/a/b/", answer.headers.get(name, "/").replace("\\", "/"))
            assert place.startswith("https://ours.example/"), (name, place)


def test_ids_beyond_what_a_form_holds_are_refused_and_an_audit_of_many_is_cut(operator: Client) -> None:
    jobs = JobFactory.create_batch(300)
    many = "&".join(f"id={job.id}" for job in jobs)
    assert operator.post(ACTIONS["bulk_cancel"], {"query": many, "reason": "x"}).status_code == 422
    assert not Operation.objects.exists()
    operator.post(ACTIONS["bulk_cancel"], {"query": "type=CRAWL", "reason": "x" * 2000})
    work(Operation.objects.get().pk)
    began, ended = AuditEntry.objects.order_by("id")
    assert began.numbers == {"jobs": 300} and ended.numbers["done"] == 300 and len(began.reason) == 2000
    assert began.before is None and ended.before is None


def test_a_group_that_two_people_judge_is_judged_once(as_role: Callable[..., Client]) -> None:
    GroupFactory(fingerprint="v1:a")
    first, second = as_role("operator", "kim"), as_role("operator", "dana")
    form = {"id": "v1:a", "seen": "NEW", "state": "KNOWN", "reason": "x"}
    assert first.post(ACTIONS["change_group"], form).status_code == 302
    assert second.post(ACTIONS["change_group"], form | {"state": "IGNORED"}).status_code in {409, 422}
    assert FailureGroup.objects.get().state == "KNOWN" and AuditEntry.objects.count() == 1


def test_a_step_of_an_operation_that_has_ended_is_told(operator: Client) -> None:
    operation = OperationFactory(kind="retry", state="DONE")
    for step in ("pause", "resume", "stop"):
        assert operator.post(ACTIONS[f"{step}_operation"], {"id": operation.pk, "reason": "x"}).status_code == 409
    assert not AuditEntry.objects.exists()


def test_a_purge_undone_twice_is_undone_once(admin: Client) -> None:
    job = JobFactory(done=True)
    transitions.purge([job.id], actor="kim", reason="x")
    answers = [admin.post(f"/actions/restore/{job.id}/").status_code for _ in range(2)]
    assert answers[0] == 302 and answers[1] in {404, 409}
    assert Job.objects.count() == 1 and AuditEntry.objects.filter(action="restore").count() == 1


UNAUDITED: dict[str, dict[str, str]] = {
    "cancel": {"id": "q"}, "set_priority": {"id": "q", "priority": "5"}, "retry": {"id": "d"}, "purge": {"id": "d"},
    "rerun": {"id": "d"}, "reveal": {"id": "q", "value": "config"}, "pause": {"type": "A", "ends": "3600"},
    "cap": {"id": "acme", "cap": "1", "ends": "3600"}, "change_person": {"user": "vic", "role": "admin", "active": "on"},
    "create_person": {"username": "new", "role": "admin"}, "bulk_retry": {"query": "type=CRAWL", "expected": "1"},
}  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_what_cannot_be_audited_is_not_done(admin: Client, conn: Any) -> None:
    JobFactory(id="q", config={"token": "zzsecretzz"})
    JobFactory(id="d", dead=True)
    user("viewer", "vic")
    admin.raise_request_exception = False
    conn.execute("""
        CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'full'; END $$;
        CREATE TRIGGER full_disk BEFORE INSERT ON audit_entry FOR EACH ROW EXECUTE FUNCTION full_disk()""")
    try:
        for name, form in UNAUDITED.items():
            answer = admin.post(ACTIONS[name], form | {"reason": "x"})
            assert answer.status_code == 500 and b"zzsecretzz" not in answer.content, name
    finally:
        conn.execute("DROP TRIGGER full_disk ON audit_entry; DROP FUNCTION full_disk")
    jobs = list(Job.objects.order_by("id").values_list("id", "status", "priority"))
    assert jobs == [("d", "FAILED", 0), ("q", "QUEUED", 0)]
    assert not (Pause.objects.exists() or TenantSetting.objects.exists() or Operation.objects.exists())
    assert list(User.objects.order_by("username").values_list("username", "groups__name")) == [
        ("the-admin", "admin"), ("vic", "viewer"),
    ]  # fmt: skip
