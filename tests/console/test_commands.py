"""Each dialog shows the command that does the same, and that command does it."""

import io
import json
import os
import re
import shlex
import subprocess
from html import unescape
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from jobs.models import AuditEntry, Job, Pause, SystemConfig, TenantSetting, TypeSetting
from tests.console.addresses import HTMX
from tests.factories import (
    AlertFactory,
    ArtifactFactory,
    EventFactory,
    JobFactory,
    OperationFactory,
    PauseFactory,
    WorkerFactory,
)
from tests.processes import ROOT, environment, manage

pytestmark = pytest.mark.django_db


def shown(client: Client, path: str, **query: str) -> list[str]:
    page = client.get(path, query, headers=HTMX).content.decode()
    found = re.search(r'class="command"><code[^>]*>(.*?)</code>', page, re.DOTALL)
    assert found, page
    return shlex.split(unescape(re.sub("<[^>]+>", "", found[1])))


def run(words: list[str]) -> str:
    assert words[0] == "manage.py"
    out = io.StringIO()
    call_command(*words[1:], stdout=out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("verb", "traits", "becomes"),
    [("cancel", {}, "CANCELLED"), ("cancel", {"running": True}, "CANCEL_REQUESTED"), ("retry", {"dead": True}, "QUEUED"),
     ("run-now", {"retry_wait": True}, "QUEUED"), ("force-cancel", {"running": True}, "CANCELLED"),
     ("set-priority", {"priority": 7}, "QUEUED"), ("purge", {"done": True}, None), ("rerun", {"done": True}, "DONE")],
)  # fmt: skip
@pytest.mark.parametrize("job_id", ["0193-a", 'it\'s $(odd) "id"', "--reason", "Ünï/кode 🦊"])
def test_a_dialogs_command_does_what_the_dialog_does(
    admin: Client, verb: str, traits: dict[str, Any], becomes: str | None, job_id: str
) -> None:
    JobFactory(id=job_id, **traits)
    words = shown(admin, f"/dialogs/{verb}/", id=job_id)
    run([word.replace("…", "by the command") for word in words])
    job = Job.objects.filter(id=job_id).first()
    assert (job.status if job else None) == becomes
    entry = AuditEntry.objects.get()
    assert entry.action == verb.replace("-", "_") and entry.reason == "by the command" and entry.target == job_id
    assert entry.actor.startswith("command:") and entry.tenant_id == "halden-bank"
    if verb == "purge":
        run(shown(admin, "/dialogs/restore/", id=job_id))
        assert Job.objects.get(id=job_id).status == "DONE"


def test_a_caps_command_sets_the_same(admin: Client) -> None:
    values = {"id": "acme", "cap": "5", "weight": "2", "note": 'it\'s "gold"; --x', "ends": "3600", "reason": "a'b"}
    run(shown(admin, "/caps/tenant/effect/", **values))
    made = TenantSetting.objects.get()
    assert (made.cap, made.weight, made.note, made.previous_cap) == (5, 2, values["note"], None) and made.ends_at
    assert AuditEntry.objects.get().reason == "a'b"
    run(shown(admin, "/caps/tenant/effect/", **values | {"cap": "6", "ends": "keep"}))
    assert TenantSetting.objects.get().cap == 6 and TenantSetting.objects.get().ends_at == made.ends_at
    run(shown(admin, "/caps/tenant/effect/", **values | {"ends": "back"}))
    assert TenantSetting.objects.get().cap is None and TenantSetting.objects.get().ends_at is None
    run(
        shown(
            admin, "/caps/type/effect/", id="CRAWL", cap="", unlimited="on", max_run_seconds="60", ends="", reason="x"
        )
    )
    assert TypeSetting.objects.values_list("unlimited", "max_run_seconds").get() == (True, 60)
    run(shown(admin, "/caps/type/effect/", id="CRAWL", cap="", max_run_seconds="", ends="", reason="x"))
    assert TypeSetting.objects.values_list("unlimited", "cap", "max_run_seconds").get() == (False, None, None)


def test_a_pauses_commands_hold_and_lift_the_same(admin: Client) -> None:
    run(shown(admin, "/pauses/effect/", type="CRAWL", tenant="acme", ends="3600", reason="502s"))
    pause = Pause.objects.get()
    assert (pause.scope, pause.reason) == ("CRAWL for acme", "502s") and pause.ends_at
    run(shown(admin, "/pauses/lift/", id=str(pause.pk)))
    assert Pause.objects.get().lifted_at
    run(shown(admin, "/pauses/effect/", everything="on", ends=""))
    assert SystemConfig.objects.get().value == "true"
    run(shown(admin, "/pauses/lift/", id=str(Pause.objects.latest("pk").pk)))
    assert SystemConfig.objects.get().value == "false"


def test_another_state_is_refused_with_exit_code_1_and_the_rest_is_done() -> None:
    done, queued = JobFactory(done=True), JobFactory()
    out = io.StringIO()
    with pytest.raises(CommandError, match="already Done; nothing changed") as error:
        call_command("job", "cancel", done.id, queued.id, "nowhere", "--reason", "x", "--json", stdout=out)
    assert error.value.returncode == 1
    answers = {one["job"]: one for one in json.loads(out.getvalue())}
    assert answers[queued.id]["now"] == "CANCELLED" and answers[done.id]["now"] is None
    assert "no job nowhere" in answers["nowhere"]["refused"]
    assert Job.objects.get(id=done.id).status == "DONE"


@pytest.mark.parametrize(
    "words",
    [("job", "cancel", "a", "--reason", " "), ("job", "priority", "a", "--to", "99999999", "--reason", "x"),
     ("queue", "cap", "--tenant", "acme", "--cap", "-1", "--reason", "x"), ("queue", "cap", "--tenant", "acme", "--cap", "5"),
     ("queue", "cap", "--type", "CRAWL", "--weight", "2", "--reason", "x"), ("queue", "resume", "--reason", " "),
     ("queue", "cap", "--type", "CRAWL", "--max-run-seconds", "soon", "--reason", "x")],
)  # fmt: skip
def test_what_is_typed_wrong_ends_with_2(words: tuple[str, ...]) -> None:
    JobFactory(id="a")
    PauseFactory(type=None)
    with pytest.raises(CommandError) as error:
        call_command(*words)
    assert error.value.returncode == 2
    assert not AuditEntry.objects.exists()


def test_a_job_is_shown_with_its_secrets_masked_and_revealed_for_a_reason() -> None:
    job = JobFactory(config={"url": "https://x/", "password": "hunter2"})
    for more in ((), ("--json",)):
        out = io.StringIO()
        call_command("job", "show", job.id, *more, stdout=out)
        assert "https://x/" in out.getvalue() and "hunter2" not in out.getvalue()
    assert json.loads(out.getvalue())["history"][0]["target"] == "QUEUED"
    with pytest.raises(CommandError):
        call_command("job", "show", job.id, "--reveal", "config")
    assert not AuditEntry.objects.exists()
    call_command("job", "show", job.id, "--reveal", "config", "--reason", "login fails", stdout=out)
    assert "hunter2" in out.getvalue()
    assert AuditEntry.objects.values_list("action", "target", "reason").get() == ("reveal", job.id, "login fails")


def test_a_cap_is_shown_for_people_and_scripts() -> None:
    out = io.StringIO()
    call_command("queue", "cap", "--tenant", "acme", stdout=out)
    assert "cap default" in out.getvalue()
    call_command("queue", "cap", "--tenant", "acme", "--cap", "5", "--until", "2h", "--reason", "x", stdout=out)
    out = io.StringIO()
    call_command("queue", "cap", "--tenant", "acme", "--json", stdout=out)
    assert json.loads(out.getvalue()) | {"ends_at": ""} == {
        "tenant": "acme", "version": 1, "cap": 5, "weight": 1, "note": "", "ends_at": "", "then": "default",
    }  # fmt: skip


HOSTILE_WORDS = "[/x] [bold]b[/bold] :boom: \x1b]0;title\x07\x1b[2J\x9b31m \u202e \r over"
SHOWING = [["dlq", "list"], ["operation", "list"], ["operation", "show", "{operation}"], ["queue", "status"], ["job", "show", "{job}"],
           ["alerts", "list"], ["ledger", "status"], ["ledger", "contradictions"], ["artifact", "list"], ["remote", "list"],
           ["rules", "list"]]  # fmt: skip


@pytest.mark.parametrize("words", SHOWING, ids=" ".join)
def test_what_is_stored_is_shown_as_it_is_and_commands_no_terminal(words: list[str]) -> None:
    """An error of a crawled page reaches the terminal of whoever looks: it must neither end the command nor write there."""
    text = HOSTILE_WORDS
    job = JobFactory(dead=True, error=text, dlq_reason=text, type=text, tenant_id=text, name=text, fingerprint=text)
    operation = OperationFactory(actor=text, reason=text, kind=text, state="DONE")
    PauseFactory(type=text, reason=text, owner=text)
    WorkerFactory(id=text, host=text)
    AlertFactory(title=text, detail=text, subject=text, tenant_id=text)
    EventFactory(hook_type=text, status="failed", last_error=text)
    ArtifactFactory(name=text, tenant_id=text, summary=text, doc_type=text)
    shown = run(["manage.py", *(word.format(operation=operation.pk, job=job.id) for word in words)])
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shown)
    assert "\\x1b]0;title" in shown or text[:4] not in shown
    assert "💥" not in shown


@pytest.mark.django_db(transaction=True)
def test_a_reader_that_has_seen_enough_is_no_refusal() -> None:
    """`queue status | head -1` in a script that stops at the first exit code that is not 0."""
    reading, writing = os.pipe()
    os.close(reading)
    started = [
        subprocess.Popen(manage("queue", "status", *more), cwd=ROOT, env=environment(PYTHONUNBUFFERED=""), stdout=writing,
                         stderr=subprocess.PIPE, text=True)
        for more in ([], ["--json"])
    ]  # fmt: skip
    os.close(writing)
    assert [(one.communicate()[1], one.returncode) for one in started] == [("", 0)] * 2
