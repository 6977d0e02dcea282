"""The artifacts' pages: what they show, what a form may bring, who may."""

import json
import shutil
from collections.abc import Callable, Iterator
from html import unescape
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from jobs.artifacts import records
from jobs.models import AuditEntry, LifecycleEvent, ProjectArtifact, ProjectKnowledge, TenantLimit
from tests.artifacts.helpers import analysed, files, uploaded
from tests.console.addresses import HTMX
from tests.factories import HOSTILE, LONG, ArtifactFactory, ArtifactFileFactory, user

pytestmark = pytest.mark.django_db(transaction=True)
UPLOAD, AGAIN = "/actions/artifact/upload/", "/actions/artifact/reprocess/"


@pytest.fixture(autouse=True)
def _no_files() -> Iterator[None]:
    shutil.rmtree(storages["artifacts"].base_location, ignore_errors=True)  # of tests that looked at no file
    yield
    shutil.rmtree(storages["artifacts"].base_location, ignore_errors=True)


def form(name: str = "plan.md", content: bytes = b"# Plan\n", **more: str) -> dict[str, Any]:
    return {"tenant": "acme", "file": SimpleUploadedFile(name, content)} | more


def text(response: Any) -> str:
    return unescape(response.content.decode())


def test_an_upload_leads_to_the_artifacts_page(operator: Client) -> None:
    response = operator.post(UPLOAD, form(project="shop", reason="sent by mail"), follow=True)
    artifact = ProjectArtifact.objects.get()
    assert (artifact.name, artifact.tenant_id, artifact.project_id) == ("plan.md", "acme", "shop")
    assert "plan.md" in text(response) and "Waiting" in text(response) and "ARTIFACT_INTEL" in text(response)
    assert len(files()) == 1 and AuditEntry.objects.get().reason == "sent by mail"


def test_the_page_shows_what_the_analysis_found(viewer: Client) -> None:
    artifact = uploaded(project_id="shop")
    analysed(artifact)
    records.refresh_project("acme", "shop")
    page = text(viewer.get(f"/artifacts/artifact/?id={artifact.id}"))
    artifact.refresh_from_db()
    assert len(artifact.keywords) > 2 and all(
        f'<span class="chip" title="{word}">{word}</span>' in page for word in artifact.keywords
    )
    assert "USER_STORY 1" in page and ", ".join(ProjectKnowledge.objects.get().keywords) in page
    assert all(word in page for word in ("As a customer, I want to sign in", "ARTIFACT_REFRESH", "1 artifact, 1 ready"))
    listed = text(viewer.get("/artifacts/?tenant=acme"))
    assert "sign-in.md" in listed and "USER_STORY" in listed
    assert "sign-in.md" not in text(viewer.get("/artifacts/?status=ERROR"))
    assert "sign-in.md" not in text(viewer.get("/artifacts/?type=REPORT"))
    assert "sign-in.md" in text(viewer.get("/artifacts/?name=SIGN&project=shop&status=READY&type=USER_STORY"))


def test_a_large_upload_waits_on_disk_without_a_name(
    operator: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    seen, real = list[Any](), storages["artifacts"].__class__._save

    def save(self: Any, *args: Any) -> Any:
        seen.append(list(tmp_path.iterdir()))
        return real(self, *args)

    monkeypatch.setattr(storages["artifacts"].__class__, "_save", save)
    operator.post(UPLOAD, form(content=b"x" * 3_000_000))
    assert seen == [[]] and [path.stat().st_size for path in files()] == [3_000_000]


def test_an_upload_without_a_file_names_the_field(operator: Client) -> None:
    response = operator.post(UPLOAD, {"tenant": "acme"})
    assert response.status_code == 422 and "Choose a file." in text(response)
    response = operator.post(UPLOAD, {"file": SimpleUploadedFile("a.txt", b"x")})
    assert response.status_code == 422 and "This field is required." in text(response)
    assert not files() and not ProjectArtifact.objects.exists()


def test_an_empty_file_may_be_uploaded(operator: Client) -> None:
    assert operator.post(UPLOAD, form("empty.txt", b"")).status_code == 302
    assert analysed(ProjectArtifact.objects.get())["summary"] == "An empty file."


def test_a_file_that_is_too_large_is_refused_as_it_arrives(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.conf.Conf.artifact_max_bytes", property(lambda self: 100_000))
    kept: list[int] = []
    handler = "django.core.files.uploadhandler.TemporaryFileUploadHandler.receive_data_chunk"
    monkeypatch.setattr(
        "django.core.files.uploadhandler.MemoryFileUploadHandler.receive_data_chunk", lambda self, raw, start: raw
    )
    monkeypatch.setattr(handler, lambda self, raw, start: kept.append(len(raw)))
    response = operator.post(UPLOAD, form(content=b"x" * 2_000_000))
    assert sum(kept) <= 100_000, "what is beyond the limit reaches nobody who keeps it"
    assert response.status_code == 422 and "It is larger than" in text(response)
    assert 'value="acme"' in text(response), "what was typed is still there"
    assert not files() and not ProjectArtifact.objects.exists()


def test_the_same_form_sent_twice_is_one_artifact(operator: Client, empty_cache: None) -> None:
    first = operator.post(UPLOAD, form(token="once"))
    second = operator.post(UPLOAD, form(token="once"))
    assert first["Location"] == second["Location"]
    assert ProjectArtifact.objects.count() == len(files()) == LifecycleEvent.objects.count() == 1


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>.md", "../../etc/passwd", "x" * 200 + ".md", HOSTILE, "日本語.md"]
)
def test_hostile_names_are_shown_as_text(operator: Client, name: str) -> None:
    response = operator.post(UPLOAD, form(name), follow=True)
    artifact = ProjectArtifact.objects.get()
    assert response.status_code == 200 and "/etc" not in artifact.name
    for path in ("/artifacts/", f"/artifacts/artifact/?id={artifact.id}", f"/artifacts/reprocess/?id={artifact.id}"):
        body = operator.get(path).content.decode()
        assert "<script>alert" not in body and "<svg/onload" not in body


def test_a_nul_in_a_field_is_refused(operator: Client) -> None:
    response = operator.post(UPLOAD, form(tenant="a\0b"))
    assert response.status_code == 422 and "cannot be stored" in text(response)


@pytest.mark.parametrize("value", [HOSTILE, LONG])
def test_rows_of_other_programs_may_hold_anything(viewer: Client, value: str) -> None:
    artifact = ArtifactFactory(
        id=value,
        tenant_id=value,
        project_id=value,
        name=value,
        doc_type=value,
        status=value,
        summary=value,
        keywords=[value, 7, {"a": value}],
    )
    ArtifactFileFactory(
        artifact_id=value, tenant_id=value, uploaded_by=value, kind=value, note=value, described_by=value, job_id=value
    )
    ArtifactFactory(
        id="strange", keywords={"not": "a list"}, project_id=None, doc_type=None, summary=None, storage_key=None
    )
    for response in (
        viewer.get("/artifacts/"),
        viewer.get("/artifacts/artifact/", {"id": artifact.id}),
        viewer.get("/artifacts/artifact/?id=strange"),
    ):
        assert response.status_code == 200 and "<svg/onload" not in response.content.decode()


@pytest.mark.parametrize("bad", ["", "nowhere", "%00", "x" * 3_000])
def test_an_artifact_that_is_not_there_is_not_found(viewer: Client, bad: str) -> None:
    assert viewer.get(f"/artifacts/artifact/?id={bad}").status_code == 404
    assert viewer.get(f"/artifacts/?after={bad}&before={bad}&tenant={bad}").status_code == 200


def test_another_analysis_needs_a_reason(operator: Client) -> None:
    artifact = uploaded()
    LifecycleEvent.objects.all().delete()
    assert "Write why" in text(operator.post(AGAIN, {"id": artifact.id, "reason": " "}, headers=HTMX))
    assert not LifecycleEvent.objects.exists()
    assert operator.post(AGAIN, {"id": artifact.id, "reason": "new rules"}, headers=HTMX).status_code == 200
    assert LifecycleEvent.objects.get().hook_type == "ARTIFACT_INTEL"
    assert AuditEntry.objects.filter(action="reprocess_artifact", reason="new rules").exists()


def test_limited_support_acts_on_its_own_tenants_alone(as_role: Callable[..., Client]) -> None:
    TenantLimit.objects.create(user=user("support", "lena"), tenant_id="acme")
    lena = as_role("support", "lena")
    foreign = uploaded(tenant_id="globex")
    LifecycleEvent.objects.all().delete()
    AuditEntry.objects.all()
    response = lena.post(UPLOAD, form(tenant="globex"))
    assert response.status_code == 422 and "none of the tenants of this account" in text(response)
    answers = [lena.post(AGAIN, {"id": one, "reason": "x"}) for one in (foreign.id, "nowhere")]
    assert [one.status_code for one in answers] == [404, 404]
    assert not LifecycleEvent.objects.exists() and ProjectArtifact.objects.count() == 1
    assert lena.post(UPLOAD, form()).status_code == 302
    own = ProjectArtifact.objects.get(tenant_id="acme")
    assert lena.post(AGAIN, {"id": own.id, "reason": "x"}).status_code == 302
    assert "globex" not in text(lena.get("/artifacts/"))


def test_pages_of_many_artifacts_follow_each_other(viewer: Client) -> None:
    for number in range(120):
        ArtifactFactory(id=f"a-{number:03}", name=f"file {number:03}")
    first = text(viewer.get("/artifacts/?tenant=halden-bank"))
    assert "file 119" in first and "file 070" in first and "file 069" not in first
    second = text(viewer.get("/artifacts/?after=a-070"))
    assert "file 069" in second and "file 020" in second and "file 019" not in second
    assert "file 119" in text(viewer.get("/artifacts/?before=a-069"))


def command(*words: str) -> str:
    out = StringIO()
    call_command("artifact", *words, stdout=out)
    return out.getvalue()


def test_the_command_uploads_lists_shows_and_has_it_analysed_again(tmp_path: Path) -> None:
    path = tmp_path / "story.md"
    path.write_text("As a customer, I want to sign in so that I see my orders.\n")
    made = command("upload", str(path), "--tenant", "acme", "--project", "shop").strip()
    analysed(ProjectArtifact.objects.get(id=made))
    assert made in command("list", "--tenant", "acme", "--type", "USER_STORY") and "no artifacts" in command(
        "list", "--tenant", "other"
    )
    shown = json.loads(command("show", made, "--json"))
    assert (shown["docType"], shown["name"], shown["tenantId"], shown["bytes"]) == (
        "USER_STORY",
        "story.md",
        "acme",
        58,
    )
    assert "docType: USER_STORY" in command("show", made)
    assert "queued" in command("reprocess", made, "--reason", "new rules")
    assert AuditEntry.objects.filter(actor__startswith="command:").count() == 2
    assert json.loads(command("clean", "--json")) == {"removed": 0}


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [(["upload", "/nowhere/x", "--tenant", "acme"], 2, "file: it cannot be read"), (["upload", "/etc/hostname", "--tenant", " "], 2, "tenant"),
     (["show", "nowhere"], 1, "no artifact nowhere"), (["reprocess", "nowhere", "--reason", "x"], 1, "no artifact")],
)  # fmt: skip
def test_the_commands_refusals_say_why(words: list[str], code: int, says: str) -> None:
    with pytest.raises(CommandError, match=says) as caught:
        command(*words)
    assert caught.value.returncode == code and not files()
