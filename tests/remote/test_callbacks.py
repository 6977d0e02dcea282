"""What a service may tell of a run, and what changes nothing: late, foreign, replayed, tampered, oversized."""

import json
import threading
import time
from typing import Any

import pytest
from django.db import connections
from django.test import Client
from django.utils import timezone

from jobs.domain.errors import RunLost
from jobs.domain.outcomes import Completed, Ended
from jobs.domain.remote import MOST_BODY_BYTES
from jobs.models import Job, JobHistory, JobLog, RemoteNonce, RemoteRun, RemoteType
from jobs.operations import remote as operations
from jobs.operations.actions import Person
from jobs.queue import remote, transitions
from jobs.vault import REMOTE_TYPES
from tests.factories import JobFactory, RemoteTypeFactory
from tests.remote.service import SECRET, callback

pytestmark = pytest.mark.django_db
KIM = Person("kim")


def begun(job: Any = None) -> str:
    """A run that a service was asked for; its id."""
    RemoteType.objects.filter(type="FAR").exists() or RemoteTypeFactory(type="FAR")
    job = job or JobFactory(id="j", running=True, type="FAR", progress=10, current_step="before")
    from jobs.domain.outcomes import Run

    return remote.begin(Run(job.id, job.worker_id, job.started_at), "FAR", 60).id


def tell(run: str, event: str, value: Any, **more: Any) -> tuple[int, dict[str, Any]]:
    body, sent = callback(run, event, value, **more)
    return post(run, event, body, sent)


def post(run: str, event: str, body: bytes, sent: dict[str, str]) -> tuple[int, dict[str, Any]]:
    client = Client(enforce_csrf_checks=True)
    response = client.post(f"/remote/{run}/{event}", body, content_type="application/json", headers=sent)
    assert "Set-Cookie" not in response.headers
    return response.status_code, json.loads(response.content) if response["Content-Type"].startswith("app") else {}


def snapshot() -> tuple[Any, ...]:
    """Everything that a callback could change."""
    return (
        list(Job.objects.order_by("id").values()),
        JobHistory.objects.count(),
        JobLog.objects.count(),
        list(RemoteRun.objects.order_by("id").values()),
        RemoteNonce.objects.count(),
    )


# --- What is taken ----------------------------------------------------------------------------------------------------


def test_progress_step_and_signs_of_life(db: None) -> None:
    run = begun()
    assert tell(run, "progress", {"percent": 41.7, "step": "page 3"}) == (200, {"ok": True, "cancel": False})
    job = Job.objects.get(id="j")
    assert (job.progress, job.current_step, job.result) == (41, "page 3", {"step": "page 3"})
    tell(run, "progress", {"percent": 50})
    tell(run, "progress", b"")
    tell(run, "progress", {"step": "page \u0000 4"})
    job.refresh_from_db()
    assert (job.progress, job.current_step) == (50, "page \ufffd 4")
    assert RemoteRun.objects.get().heard_at is not None


def test_checkpoints_and_log_lines(db: None) -> None:
    run = begun()
    assert tell(run, "checkpoint", {"checkpoint": {"page": 3}})[0] == 200
    assert Job.objects.get(id="j").checkpoint == {"page": 3}
    lines = [{"message": "fetched"}, {"level": "error", "message": "<b>\u0000"}]
    assert tell(run, "log", {"lines": lines})[0] == 200
    assert list(JobLog.objects.order_by("id").values_list("level", "message")) == [
        ("INFO", "fetched"),
        ("ERROR", "<b>\ufffd"),
    ]


def test_a_run_may_not_fill_the_log(db: None) -> None:
    run = begun()
    RemoteRun.objects.update(log_lines=4_999)
    tell(run, "log", {"lines": [{"message": "a"}, {"message": "b"}]})
    tell(run, "log", {"lines": [{"message": "c"}]})
    assert list(JobLog.objects.order_by("id").values_list("message", flat=True)) == ["a", "More lines are not kept."]


def test_an_end_is_recorded_and_may_be_told_again(db: None) -> None:
    run = begun()
    assert tell(run, "end", {"outcome": "done", "result": {"pages": 3}})[0] == 200
    job = Job.objects.get(id="j")
    assert (job.status, job.result, job.progress, job.worker_id) == ("DONE", {"pages": 3}, 100, None)
    assert JobHistory.objects.filter(job_id="j", to_status="DONE").get().actor == "remote:FAR"
    assert not RemoteNonce.objects.exists()
    before = snapshot()
    again = tell(run, "end", {"outcome": "done", "result": {"pages": 3}})
    assert again == (200, {"ok": True, "cancel": False, "repeated": True})
    assert tell(run, "end", {"outcome": "done", "result": {"pages": 4}})[1]["error"] == "ended_otherwise"
    assert tell(run, "end", {"outcome": "failed", "error": {"message": "x"}})[0] == 409
    assert tell(run, "progress", {"percent": 1})[0] == 410
    assert snapshot() == before


def test_the_same_bytes_once_more_are_the_same_end(db: None) -> None:
    run = begun()
    body, sent = callback(run, "end", {"outcome": "done"})
    assert post(run, "end", body, sent)[0] == 200
    assert post(run, "end", body, sent) == (200, {"ok": True, "cancel": False, "repeated": True})


@pytest.mark.parametrize(
    ("error", "failure_type", "status"),
    [
        ({"message": "HTTP 503 from the shop"}, "TRANSIENT", "RETRY_WAIT"),
        ({"message": "no", "status": 422}, "LOGICAL", "RETRY_WAIT"),
        ({"message": "no", "code": "ECONNRESET", "class": "FetchError"}, "TRANSIENT", "RETRY_WAIT"),
        ({"message": "HTTP 503", "type": "FATAL"}, "FATAL", "FAILED"),
        ({"message": "missing secret"}, "FATAL", "FAILED"),
    ],
)
def test_a_failure_is_judged_by_the_policy(db: None, error: dict[str, Any], failure_type: str, status: str) -> None:
    assert tell(begun(), "end", {"outcome": "failed", "error": error})[0] == 200
    job = Job.objects.get(id="j")
    assert (job.status, job.failure_type, job.retry_count) == (status, failure_type, 1)
    assert job.dlq is (status == "FAILED")
    assert error["message"] in job.error and job.fingerprint


def test_a_named_wait_replaces_the_delay(db: None) -> None:
    tell(begun(), "end", {"outcome": "failed", "error": {"message": "busy", "status": 429, "retryAfter": 600}})
    job = Job.objects.get(id="j")
    assert 600 <= (job.next_retry_at - job.finished_at).total_seconds() < 661


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (b'{"outcome": "done", "result": [NaN, -Infinity]}', ["NaN", "-Infinity"]),
        (b'{"outcome": "done", "result": {"a\\u0000": "\\ud800"}}', {"a\ufffd": "\ufffd"}),
        (b'{"outcome": "done", "result": 1' + b"0" * 4000 + b"}", None),
        (b'{"outcome": "done", "result": ' + b"[" * 900 + b"]" * 900 + b"}", None),
    ],
)
def test_a_result_that_cannot_be_stored_as_it_is_ends_the_run_all_the_same(db: None, value: bytes, kept: Any) -> None:
    run = begun()
    tell(run, "progress", {"percent": 90})
    assert tell(run, "progress", {"percent": 20})[0] == 200, "in whatever order they come"
    assert tell(run, "end", value)[0] == 200
    job = Job.objects.get(id="j")
    assert (job.status, job.progress) == ("DONE", 100) and (kept is None or job.result == kept)


def test_cancel_is_told_with_every_answer_and_ends_as_it_ended(db: None) -> None:
    run = begun(JobFactory(id="j", type="FAR", cancel_requested=True))
    assert tell(run, "progress", {"percent": 20})[1] == {"ok": True, "cancel": True}
    assert tell(run, "log", {"lines": []})[1]["cancel"] is True
    assert tell(run, "end", {"outcome": "cancelled"})[0] == 200
    assert Job.objects.get(id="j").status == "CANCELLED"


# --- What changes nothing ---------------------------------------------------------------------------------------------


def test_only_what_was_asked_to_stop_ends_cancelled(db: None) -> None:
    run = begun()
    before = snapshot()
    code, answer = tell(run, "end", {"outcome": "cancelled"})
    assert (code, answer["error"]) == (409, "not_cancelled")
    assert snapshot() == before


@pytest.mark.parametrize(
    ("event", "value", "names"),
    [
        ("progress", {"percent": 101}, "percent"),
        ("progress", {"percent": True}, "percent"),
        ("progress", {"step": 3}, "step"),
        ("progress", b"[1]", "body"),
        ("progress", b"{", "body"),
        ("progress", b'{"percent": NaN}', "percent"),
        ("progress", b"\xff", "body"),
        ("progress", b"[" * 50_000, "body"),
        ("checkpoint", {}, "checkpoint"),
        ("log", {"lines": [{}]}, "lines[0]"),
        ("log", {"lines": [{"message": "a", "level": "LOUD"}]}, "lines[0].level"),
        ("log", {"lines": [{"message": "a"}] * 501}, "lines"),
        ("end", {}, "outcome"),
        ("end", {"outcome": "QUEUED"}, "outcome"),
        ("end", {"outcome": "CANCELLED"}, "outcome"),
        ("end", {"outcome": "failed"}, "error"),
        ("end", {"outcome": "failed", "error": {"message": " "}}, "error.message"),
        ("end", {"outcome": "failed", "error": {"message": "x", "type": "MILD"}}, "error.type"),
        ("end", {"outcome": "failed", "error": {"message": "x", "status": 9}}, "error.status"),
        ("end", {"outcome": "failed", "error": {"message": "x", "retryAfter": -1}}, "error.retryAfter"),
    ],
)
def test_a_body_that_makes_no_sense_gets_a_message_that_names_the_field(
    db: None, event: str, value: Any, names: str
) -> None:
    run = begun()
    before = snapshot()
    code, answer = tell(run, event, value)
    assert (code, answer["error"]) == (400, "bad_body")
    assert answer["message"].startswith(f"{names}: ")
    assert snapshot() == before


@pytest.mark.parametrize("change", ["body", "event", "run", "time", "nonce", "secret", "signature", "none", "request"])
def test_what_is_not_signed_for_exactly_this_is_refused(db: None, change: str) -> None:
    run = begun()
    other = begun(JobFactory(id="other", running=True, type="FAR"))
    body, sent = callback(run, "progress", {"percent": 50})
    event, target = "progress", run
    match change:
        case "body":
            body = b'{"percent": 51}'
        case "event":
            event = "checkpoint"
        case "run":
            target = other
        case "time":
            sent["Detiq-Timestamp"] = str(int(sent["Detiq-Timestamp"]) + 1)
        case "nonce":
            sent["Detiq-Nonce"] = "another-nonce-of-some-length"
        case "secret":
            body, sent = callback(run, "progress", {"percent": 50}, "dts_of-another-type")
        case "signature":
            sent["Detiq-Signature"] = "v1=" + "0" * 64
        case "none":
            sent = {}
        case "request":  # what this side once sent to the service, played back
            from jobs.domain.remote import REQUEST, Message, headers

            sent = headers(
                Message(REQUEST, "progress", run, int(time.time()), "a-nonce-of-some-length", body), [SECRET]
            )
    before = snapshot()
    code, answer = post(target, event, body, sent)
    assert (code, answer["ok"]) == (401, False)
    assert snapshot() == before


@pytest.mark.parametrize("offset", [-301, -86_400, 303, 10**10])
def test_what_was_signed_too_long_ago_or_too_early_is_refused(db: None, offset: int) -> None:
    run = begun()
    before = snapshot()
    code, answer = tell(run, "progress", {"percent": 50}, at=time.time() + offset)
    assert (code, answer["error"]) == (401, "bad_time")
    assert snapshot() == before


@pytest.mark.parametrize("stamp", ["", "-5", "1e9", "٣", "9" * 40, "now"])
def test_a_time_that_is_no_time_is_refused(db: None, stamp: str) -> None:
    run = begun()
    body, sent = callback(run, "progress", {})
    code, _ = post(run, "progress", body, sent | {"Detiq-Timestamp": stamp.encode().decode("latin-1")})
    assert code == 401


def test_a_replay_is_refused(db: None) -> None:
    run = begun()
    body, sent = callback(run, "progress", {"percent": 50})
    assert post(run, "progress", body, sent)[0] == 200
    tell(run, "progress", {"percent": 60})
    before = snapshot()
    code, answer = post(run, "progress", body, sent)
    assert (code, answer["error"]) == (409, "replayed")
    assert snapshot() == before


def test_nonces_are_kept_for_as_long_as_a_signature_is_taken(db: None) -> None:
    run = begun()
    body, sent = callback(run, "progress", {}, at=time.time() + 299)
    post(run, "progress", body, sent)
    RemoteNonce.objects.update(at=timezone.now() - timezone.timedelta(seconds=601))
    tell(run, "progress", {})
    assert RemoteNonce.objects.count() == 2, "a signature of the future is taken for ten minutes"
    RemoteNonce.objects.update(at=timezone.now() - timezone.timedelta(seconds=661))
    tell(run, "progress", {})
    assert RemoteNonce.objects.count() == 1


@pytest.mark.parametrize("event", MOST_BODY_BYTES)
def test_a_body_that_is_too_large_is_refused(db: None, event: str) -> None:
    run = begun()
    before = snapshot()
    code, answer = tell(run, event, b'{"x": "' + b"x" * MOST_BODY_BYTES[event] + b'"}')
    assert (code, answer["error"]) == (413, "too_large")
    assert snapshot() == before


def test_unknown_runs_and_events_are_not_found(db: None) -> None:
    run = begun()
    assert tell("01a00000-0000-7000-8000-000000000000", "progress", {})[0] == 404
    assert tell(run, "state", {})[0] == 404
    assert Client().get(f"/remote/{run}/progress").status_code == 405


@pytest.mark.parametrize("event", ["progress", "checkpoint", "log", "end"])
@pytest.mark.parametrize("fate", ["lost", "claimed again", "forced", "purged", "overdue"])
def test_a_run_that_is_over_changes_nothing(db: None, fate: str, event: str) -> None:
    run = begun()
    job = Job.objects.get(id="j")
    match fate:
        case "lost":
            transitions.finish("sweep", [Ended(remote.find(run).run, Completed(None))])
        case "claimed again":
            Job.objects.filter(id="j").update(started_at=timezone.now())
        case "forced":
            transitions.force_cancel(["j"], actor="kim", reason="x")
        case "purged":
            Job.objects.filter(id="j").delete()
        case "overdue":
            RemoteRun.objects.update(deadline_at=timezone.now() - timezone.timedelta(seconds=31))
    before = snapshot()
    value = {
        "progress": {"percent": 99},
        "checkpoint": {"checkpoint": 1},
        "log": {"lines": [{"message": "late"}]},
        "end": {"outcome": "done"},
    }[event]
    code, answer = tell(run, event, value)
    assert code == 410 and answer["error"] == ("overdue" if fate == "overdue" else "run_over")
    assert snapshot() == before
    assert job.id == "j"


def test_a_run_that_is_not_ours_is_not_begun(db: None) -> None:
    job = JobFactory(id="j", running=True, type="FAR")
    Job.objects.filter(id="j").update(worker_id="another:1:a")
    with pytest.raises(RunLost):
        begun(job)


# --- Secrets ----------------------------------------------------------------------------------------------------------


def test_while_secrets_change_both_count_and_then_the_old_one_does_not(db: None) -> None:
    run = begun()
    new = operations.rotate(KIM, "FAR", overlap_hours=1, reason="every quarter")
    assert tell(run, "progress", {"percent": 1}, secret=SECRET)[0] == 200
    assert tell(run, "progress", {"percent": 2}, secret=new)[0] == 200
    RemoteType.objects.update(previous_until=timezone.now())
    assert tell(run, "progress", {"percent": 3}, secret=SECRET)[0] == 401
    last = operations.rotate(KIM, "FAR", overlap_hours=0, reason="somebody saw it")
    assert tell(run, "progress", {"percent": 4}, secret=new)[0] == 401
    assert tell(run, "progress", {"percent": 5}, secret=last)[0] == 200


def test_without_its_mapping_a_run_is_told_by_nobody(db: None) -> None:
    run = begun()
    operations.remove(KIM, "FAR", reason="over")
    before = snapshot()
    assert tell(run, "end", {"outcome": "done"})[0] == 401
    assert snapshot() == before


def test_a_secret_stored_with_another_key_is_our_fault_not_theirs(db: None, settings: Any) -> None:
    run = begun()
    settings.SECRET_KEY = "another-key-of-a-console-of-32-characters"
    code, answer = tell(run, "progress", {"percent": 1})
    assert (code, answer["error"]) == (503, "misconfigured")
    assert "SECRET_KEY" in answer["message"] and SECRET not in answer["message"]
    settings.SECRET_KEY_FALLBACKS = ["a-key-for-tests-alone-of-32-characters-or-more"]
    assert tell(run, "progress", {"percent": 1})[0] == 200


def test_no_secret_is_stored_as_it_is(db: None) -> None:
    sealed = REMOTE_TYPES.seal(SECRET)
    assert SECRET not in sealed and sealed != REMOTE_TYPES.seal(SECRET)


# --- Races ------------------------------------------------------------------------------------------------------------


def test_of_many_ends_at_once_one_is_recorded(db_clean: None) -> None:
    run = begun()
    answers: list[tuple[int, dict[str, Any]]] = []

    def end(n: int) -> None:
        answers.append(tell(run, "end", {"outcome": "done", "result": n % 2}))
        connections.close_all()

    threads = [threading.Thread(target=end, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    result = Job.objects.get(id="j").result
    assert JobHistory.objects.filter(job_id="j", to_status="DONE").count() == 1
    assert sorted(code for code, _ in answers) == [200] * 4 + [409] * 4
    assert sum("repeated" not in answer and answer["ok"] for _, answer in answers) == 1
    assert result in (0, 1)
