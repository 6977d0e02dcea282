"""A file and its artifact: both are there, or neither; whatever its name, it lies below its tenant's prefix."""

import contextlib
import io
import os
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import FileSystemStorage, storages
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone

from jobs.artifacts import records, storage
from jobs.domain.errors import InvalidInput
from jobs.models import ArtifactFile, AuditEntry, LifecycleEvent, ProjectArtifact
from jobs.operations import artifacts
from jobs.operations.retention import retention
from tests.artifacts.helpers import KIM, STORY, files, uploaded
from tests.together import at_once
from tests.workers.helpers import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_upload_leaves_a_file_an_artifact_its_hook_and_an_audit_entry() -> None:
    artifact = uploaded(project_id="shop", reason="from the customer")
    assert (artifact.tenant_id, artifact.project_id, artifact.name) == ("acme", "shop", "sign-in.md")
    assert (artifact.status, artifact.keywords, artifact.doc_type, artifact.summary) == ("PENDING", [], None, None)
    assert [path.read_bytes() for path in files()] == [STORY]
    event = LifecycleEvent.objects.get()
    assert (event.hook_type, event.document_id, event.company_id) == ("ARTIFACT_INTEL", artifact.id, "acme")
    known = ArtifactFile.objects.get(artifact_id=artifact.id)
    assert (known.size_bytes, known.uploaded_by, len(known.sha256)) == (len(STORY), "kim", 64)
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.actor, entry.tenant_id, entry.reason) == (
        "upload_artifact",
        "kim",
        "acme",
        "from the customer",
    )


def test_a_failure_after_the_file_was_stored_removes_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**more: Any) -> None:
        assert len(files()) == 1
        raise RuntimeError("the audit trail is full")

    monkeypatch.setattr("jobs.audit.record", refuse)
    with pytest.raises(RuntimeError):
        uploaded()
    assert files() == []
    assert (
        not ProjectArtifact.objects.exists()
        and not LifecycleEvent.objects.exists()
        and not ArtifactFile.objects.exists()
    )


def test_a_transaction_around_it_that_is_undone_removes_the_file_too() -> None:
    with (
        pytest.raises(RuntimeError),
        artifacts.stored(KIM, tenant_id="acme", name="a.txt", content=io.BytesIO(b"a")) as stored,
        transaction.atomic(),
    ):
        artifacts.create(KIM, stored)
        raise RuntimeError
    assert files() == [] and not ProjectArtifact.objects.exists()


def test_a_file_that_cannot_be_stored_leaves_no_artifact(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("django.core.files.storage.FileSystemStorage._save", full)
    with pytest.raises(storage.StorageFailed, match="No space left"):
        uploaded()
    assert not ProjectArtifact.objects.exists() and not ArtifactFile.objects.exists()


def test_a_file_larger_than_allowed_is_refused_and_nothing_is_kept(choose: Callable[..., None]) -> None:
    choose(artifact_max_mb=1)
    with pytest.raises(InvalidInput, match=r"file: it is larger than 1 MB"):
        uploaded(b"x" * 1_000_001)
    assert files() == [] and not ProjectArtifact.objects.exists() and not ArtifactFile.objects.exists()
    assert uploaded(b"x" * 1_000_000).name == "sign-in.md"


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\kim\\plan.docx", "plan.docx"),
        ("<script>alert(1)<b>.md", "<script>alert(1)<b>.md"),
        ("a\x00b.txt", "a\ufffdb.txt"),
        ("a\ud800b.txt", "a\ufffdb.txt"),
        ("two\nlines\t\u202e.txt", "two lines .txt"),
        ("x" * 200 + ".txt", "x" * 200 + ".txt"),
        ("…/日本語.md", "日本語.md"),
        (".env", ".env"),
        ("plan \U0001f680 v2.md", "plan \U0001f680 v2.md"),
        ("invoice\u202efdp.exe", "invoice fdp.exe"),
    ],
)
def test_whatever_its_name_a_file_lies_below_its_tenants_prefix(name: str, kept: str) -> None:
    artifact = uploaded(name=name)
    assert artifact.name == kept
    assert artifact.storage_key == f"tenants/acme/artifacts/{artifact.id}/content"
    assert [path.parts[-5:-2] for path in files()] == [("tenants", "acme", "artifacts")]


@pytest.mark.parametrize("name", ["", "   ", "/", "a/..", "x" * 301, "\x07"])
def test_names_that_say_nothing_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="name"):
        uploaded(name=name)
    assert files() == []


@pytest.mark.parametrize("tenant", ["../..", "..", ".", "a/b", "a\\b", "Ünï", "t" * 300, "a b", "%2E%2E"])
def test_whatever_a_tenant_is_called_its_files_are_its_own(tenant: str) -> None:
    artifact = uploaded(tenant_id=tenant)
    prefix = storage.tenant_prefix(tenant)
    assert artifact.storage_key.startswith(prefix) and prefix.count("/") == 3 and ".." not in prefix
    with storage.fetched(tenant, artifact.storage_key) as file:
        assert file.read() == STORY
    others = ["../..", "..", ".", "a/b", "a\\b", "Ünï", "t" * 300, "t" * 299, "a b", "%2E%2E", "acme"]
    for other in set(others) - {tenant}:
        assert storage.tenant_prefix(other) != prefix
        with pytest.raises(storage.ForeignKey):
            storage.check_key(other, artifact.storage_key)


@pytest.mark.parametrize("key", ["", "/etc/passwd", "tenants/acme/artifacts/../../other/x", "tenants/acme/artifacts/",
                                 "tenants/acme/artifacts//x", "tenants/acme2/artifacts/x", "tenants/acme/artifacts/a\\..\\x"])  # fmt: skip
def test_a_key_that_is_not_the_tenants_is_never_read(key: str) -> None:
    with pytest.raises(storage.ForeignKey, match="tenant's own files"), storage.fetched("acme", key):
        pass


def test_two_uploads_of_one_file_at_once_are_two_artifacts(choose: Callable[..., None]) -> None:
    made = at_once(*[lambda: uploaded(b"same" * 100_000).id] * 2)
    assert len(set(made)) == 2 == len(files()) == ProjectArtifact.objects.count() == LifecycleEvent.objects.count()


@pytest.mark.parametrize(
    ("field", "value"), [("tenant_id", ""), ("tenant_id", "a\0"), ("project_id", " "), ("project_id", "x" * 301)]
)
def test_bad_tenants_and_projects_name_their_field(field: str, value: str) -> None:
    with pytest.raises(InvalidInput, match=field.removesuffix("_id")):
        uploaded(**{field: value})
    assert files() == []


def test_what_a_killed_upload_left_is_removed_a_day_later() -> None:
    key = storage.key_of("acme", "left")
    records.announce("left", "acme", key, "kim")
    storage.save("acme", key, io.BytesIO(b"half"))
    kept = uploaded()
    assert artifacts.clean() == 0 and len(files()) == 2
    ArtifactFile.objects.update(uploaded_at=timezone.now() - timedelta(days=2))
    assert retention().prune(retention().all(), 5)[-1].pruned == 1  # as workers do, once a day
    assert [path.parts[-2] for path in files()] == [kept.id]
    assert ArtifactFile.objects.get().artifact_id == kept.id


def test_an_upload_killed_in_the_middle_leaves_no_artifact_and_no_file_for_ever(
    worker_process: Any, tmp_path: Path
) -> None:
    pipe = tmp_path / "slow.txt"
    os.mkfifo(pipe)
    process = worker_process.start("artifact", "upload", str(pipe), "--tenant", "acme")
    with pipe.open("wb", buffering=0) as content:
        content.write(b"x" * 600_000)
        wait_for(lambda: any(path.stat().st_size for path in files()), 20)  # its beginning is stored
        process.popen.kill()
        process.popen.wait()
    assert not ProjectArtifact.objects.exists() and not LifecycleEvent.objects.exists()
    assert retention().prune(retention().all(), 5)[-1].pruned == 0  # not yet: another may be at it
    ArtifactFile.objects.update(uploaded_at=timezone.now() - timedelta(days=2))
    assert retention().prune(retention().all(), 5)[-1].pruned == 1
    assert files() == [] and not ArtifactFile.objects.exists()


def keep_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of artifacts named so cannot be removed."""
    real = FileSystemStorage.delete

    def delete(self: FileSystemStorage, name: str) -> None:
        if "stuck" in name:
            raise PermissionError("read only")
        real(self, name)

    monkeypatch.setattr(FileSystemStorage, "delete", delete)


@pytest.mark.parametrize("harm", ["one cannot be removed", "the volume is not there"])
def test_what_cannot_be_removed_is_tried_again_and_stops_no_other(harm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stuck", "left"):
        records.announce(name, "acme", storage.key_of("acme", name), "kim")
        storage.save("acme", storage.key_of("acme", name), io.BytesIO(b"half"))
    ArtifactFile.objects.update(uploaded_at=timezone.now() - timedelta(days=2))
    if harm.startswith("one"):
        keep_stuck(monkeypatch)
    else:
        shutil.rmtree(storages["artifacts"].base_location)
    fared = retention().prune(retention().all(), 5)[-1]
    kept = ["stuck"] if harm.startswith("one") else ["left", "stuck"]
    assert sorted(ArtifactFile.objects.values_list("artifact_id", flat=True)) == kept
    with pytest.raises(CommandError, match="could not be removed"):
        call_command("artifact", "clean")
    assert (fared.target.name, fared.rows_left) == ("artifacts", len(kept)) and "could not be removed" in str(
        fared.error
    )


def test_as_many_as_a_batch_that_cannot_be_removed_stand_before_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_stuck(monkeypatch)
    for name in ("stuck", "left"):
        records.announce(name, "acme", storage.key_of("acme", name), "kim")
        storage.save("acme", storage.key_of("acme", name), io.BytesIO(b"half"))
        age = timedelta(days=9 if name == "stuck" else 2)
        ArtifactFile.objects.filter(artifact_id=name).update(uploaded_at=timezone.now() - age)
    for _ in range(60):  # which one is tried is chance
        with contextlib.suppress(storage.StorageFailed):
            artifacts.clean(1)
    assert ArtifactFile.objects.get().artifact_id == "stuck"


def test_an_artifact_is_analysed_again_for_a_reason() -> None:
    artifact = uploaded()
    artifacts.reprocess(KIM, artifact.id, "new rules")
    again = LifecycleEvent.objects.order_by("-created_at", "-id").first()
    assert again is not None and again.payload_json.replace(" ", "") == '{"isReprocess":true}'
    with pytest.raises(InvalidInput, match="reason"):
        artifacts.reprocess(KIM, artifact.id, " ")
    with pytest.raises(artifacts.ArtifactNotFound):
        artifacts.reprocess(KIM, "nowhere", "x")
    ProjectArtifact.objects.update(storage_key=None)
    with pytest.raises(artifacts.ArtifactHasNoFile):
        artifacts.reprocess(KIM, artifact.id, "x")
