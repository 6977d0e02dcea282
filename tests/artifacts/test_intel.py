"""ARTIFACT_INTEL: from the upload to the description, by the real path; and every way in which it may end otherwise."""

import shutil
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.storage import storages

from jobs.artifacts.storage import ContentMissing, ForeignKey, StorageMissing
from jobs.domain.errors import JobCancelled
from jobs.handlers import artifact_intel
from jobs.handlers.artifact_intel import SKIPPED
from jobs.handlers.web.errors import InvalidJobInput
from jobs.models import ArtifactFile, Job, LifecycleEvent, ProjectArtifact, ProjectKnowledge
from tests.artifacts.helpers import STORY, analysed, files, uploaded
from tests.handlers.running import Run
from tests.workers.helpers import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_upload_is_described_by_a_worker_and_its_project_knows(worker_process: Any) -> None:
    worker_process(JOB_WORKER_POLL_INTERVAL_MS="1000")
    artifact = uploaded(project_id="shop")
    wait_for(lambda: ProjectArtifact.objects.get(id=artifact.id).status == "READY", 20)
    artifact.refresh_from_db()
    assert artifact.doc_type == "USER_STORY" and "Sign in" in artifact.summary and artifact.keywords
    job = Job.objects.get(type="ARTIFACT_INTEL")
    wait_for(lambda: Job.objects.get(id=job.id).status == "DONE", 5)
    job.refresh_from_db()
    assert {key: job.config[key] for key in ("artifactId", "artifactName", "isReprocess")} == {
        "artifactId": artifact.id, "artifactName": "sign-in.md", "isReprocess": False,
    }  # fmt: skip
    assert {name: value for name, value in job.result.items() if name != "step"} == {
        "artifactId": artifact.id, "artifactName": "sign-in.md", "summary": artifact.summary,
        "keywords": artifact.keywords, "docType": "USER_STORY",
    }  # fmt: skip
    assert (job.tenant_id, job.project_id) == ("acme", "shop")
    wait_for(lambda: ProjectKnowledge.objects.filter(tenant_id="acme", project_id="shop").exists(), 5)
    known = ProjectKnowledge.objects.get()
    assert (known.artifacts, known.ready, known.types) == (1, 1, {"USER_STORY": 1})
    assert set(LifecycleEvent.objects.values_list("hook_type", flat=True)) == {"ARTIFACT_INTEL", "ARTIFACT_REFRESH"}
    assert ArtifactFile.objects.get().job_id == job.id


def test_a_description_is_saved_with_the_event_that_refreshes_what_depends_on_it() -> None:
    artifact = uploaded(project_id="shop")
    result = analysed(artifact, isReprocess=True)
    artifact.refresh_from_db()
    assert result == {
        "artifactId": artifact.id, "artifactName": "sign-in.md", "summary": artifact.summary,
        "keywords": artifact.keywords, "docType": artifact.doc_type,
    }  # fmt: skip
    event = LifecycleEvent.objects.get(hook_type="ARTIFACT_REFRESH")
    assert "artifact-reprocess" in event.payload_json and "shop" in event.payload_json


@pytest.mark.parametrize("how", ["deleted", "without a key", "another tenant's"])
def test_an_artifact_that_is_gone_or_has_no_file_ends_with_a_note(how: str) -> None:
    artifact = uploaded()
    if how == "deleted":
        ProjectArtifact.objects.all().delete()
    elif how == "without a key":
        ProjectArtifact.objects.update(storage_key=None)
    result = analysed(artifact, tenant_id="other" if how.startswith("another") else "")
    assert result == {"artifactId": artifact.id, "artifactName": "sign-in.md", "note": SKIPPED}
    assert not LifecycleEvent.objects.filter(hook_type="ARTIFACT_REFRESH").exists()


def test_an_artifact_deleted_while_it_is_read_ends_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    artifact, real = uploaded(), artifact_intel.inspect

    def meanwhile(*args: Any, **more: Any) -> Any:
        ProjectArtifact.objects.all().delete()
        return real(*args, **more)

    monkeypatch.setattr(artifact_intel, "inspect", meanwhile)
    assert analysed(artifact)["note"] == SKIPPED


def _lose_storage() -> None:
    shutil.rmtree(storages["artifacts"].base_location)


def _lose_file() -> None:
    files()[0].unlink()


def _name_anothers() -> None:
    ProjectArtifact.objects.update(storage_key="tenants/other/artifacts/x/content")


@pytest.mark.parametrize(
    ("harm", "error"), [(_lose_storage, StorageMissing), (_lose_file, ContentMissing), (_name_anothers, ForeignKey)]
)
def test_a_failure_marks_the_artifact_and_fails_the_job(harm: Callable[[], None], error: type[Exception]) -> None:
    artifact = uploaded(project_id="shop")
    harm()
    with pytest.raises(error):
        analysed(artifact)
    artifact.refresh_from_db()
    assert (artifact.status, artifact.summary) == ("ERROR", "AI analysis failed")
    assert error.__name__ in str(ArtifactFile.objects.get().note)
    assert "artifact-intel-failed" in LifecycleEvent.objects.get(hook_type="ARTIFACT_REFRESH").payload_json


def test_a_missing_tenant_storage_fails_the_job_by_the_policy(worker_process: Any) -> None:
    artifact = uploaded()
    _lose_storage()
    worker_process(JOB_WORKER_POLL_INTERVAL_MS="1000")
    wait_for(lambda: Job.objects.filter(status="RETRY_WAIT").exists(), 20)
    job = Job.objects.get()
    assert job.failure_type == "INFRASTRUCTURE" and "tenant storage missing" in job.error and job.next_retry_at
    artifact.refresh_from_db()
    assert artifact.status == "ERROR"


@pytest.mark.parametrize("config", [{}, {"artifactId": ""}, {"artifactId": 7}, {"artifactId": ["x"]}])
def test_a_config_without_an_artifact_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(InvalidJobInput, match="artifactId"):
        artifact_intel.run(Run(config).job)


def test_a_cancelled_run_stops_and_leaves_the_artifact_as_it_was() -> None:
    artifact = uploaded(b"x y z\n" * 600_000)
    run = Run({"artifactId": artifact.id})
    run.recorder.on_progress = lambda percent, step: percent >= 40 and run.stop_after(0.0, JobCancelled())
    started = time.monotonic()
    with pytest.raises(JobCancelled):
        artifact_intel.run(run.job)
    assert time.monotonic() - started < 5
    artifact.refresh_from_db()
    assert (artifact.status, artifact.summary) == ("PENDING", None)


def test_a_type_that_another_program_read_from_the_content_stays() -> None:
    artifact = uploaded()
    ProjectArtifact.objects.update(doc_type="FUNCTIONIZE_TC")
    artifact.refresh_from_db()
    assert analysed(artifact)["docType"] == "FUNCTIONIZE_TC"
    ProjectArtifact.objects.update(doc_type="REPORT")
    assert analysed(artifact)["docType"] == "USER_STORY"


def test_an_environment_file_is_described_without_any_of_its_values() -> None:
    secret = "hunter2-is-not-to-be-seen"
    artifact = uploaded(
        f"DATABASE_PASSWORD={secret}\nPUBLIC_URL=https://{secret}.example\nexport KEY='{secret}'\n".encode(), ".env"
    )
    result = analysed(artifact)
    assert result["docType"] == "ENV_CONFIG" and "DATABASE_PASSWORD" in result["summary"]
    row = ProjectArtifact.objects.values().get()
    assert secret not in str(result) + str(row) + str(list(ArtifactFile.objects.values()))


def test_secrets_in_other_files_are_not_repeated_either() -> None:
    text = (
        "# Runbook\n\nSign in with password: hunter2secret and token=abcd1234efgh to postgres://admin:pa55word@db.example/x now.\n"
        "Use AKIAABCDEFGHIJKLMNOP or Bearer abcdefgh12345678 for the rest of it, it is fine.\n"
    )
    result = str(analysed(uploaded(text.encode(), "runbook.md")))
    for secret in ("hunter2secret", "abcd1234efgh", "pa55word", "AKIAABCDEFGHIJKLMNOP", "abcdefgh12345678"):
        assert secret not in result
    assert STORY
