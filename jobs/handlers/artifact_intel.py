"""ARTIFACT_INTEL: what an uploaded file is: its document type, a summary, keywords."""

from dataclasses import replace
from typing import Any

from django.db import DatabaseError, InterfaceError, transaction

from jobs.artifacts import records, storage
from jobs.artifacts.analysis.analyse import Findings
from jobs.artifacts.analysis.redact import redacted
from jobs.artifacts.doctypes import DocType, final
from jobs.artifacts.model import Model
from jobs.artifacts.process import inspect
from jobs.conf import conf
from jobs.handlers.context import JobContext
from jobs.handlers.registry import handler
from jobs.handlers.web.errors import InvalidJobInput
from jobs.ledger import outbox
from jobs.models import ProjectArtifact

SKIPPED = "Artifact deleted or missing content, skipping."


@handler("ARTIFACT_INTEL")
def run(job: JobContext) -> dict[str, Any]:
    """Config: `artifactId`, `artifactName`, `isReprocess`. An artifact that is gone, or has no file, ends with a note.

    Raises `InvalidJobInput`, what `storage.fetched` raises, and what the model's endpoint raises, after it marked the
    artifact as failed.
    """
    artifact_id = job.config.get("artifactId")
    if not isinstance(artifact_id, str) or not artifact_id:
        raise InvalidJobInput("artifactId", "it must be the id of an artifact")
    job.progress(10, "Downloading artifact content")
    artifact = records.find(artifact_id, job.tenant_id)
    if artifact is None or not artifact.storage_key:
        return _skipped(job, artifact_id)
    try:
        return _analyse(job, artifact)
    except Exception as error:
        _mark_failed(job, artifact, error)
        raise


def _analyse(job: JobContext, artifact: ProjectArtifact) -> dict[str, Any]:
    with storage.fetched(artifact.tenant_id, artifact.storage_key or "", job.raise_if_cancelled) as file:
        job.progress(40, "Generating intelligence")
        found = inspect(file, artifact.name, masked_keys=conf().masked_keys, check=job.raise_if_cancelled)
    if found.note:
        job.log.info("note: %s", found.note)
    found, doc_type, by = _described(job, artifact, found)
    job.progress(90, "Saving results")
    with transaction.atomic():
        there = records.describe(artifact, found, doc_type, by=by, job_id=job.id)
        if there:
            _refresh(artifact, "artifact-reprocess" if job.config.get("isReprocess") is True else "artifact-intel")
    if not there:
        return _skipped(job, artifact.id)
    return {
        "artifactId": artifact.id,
        "artifactName": artifact.name,
        "summary": found.summary,
        "keywords": found.keywords,
        "docType": str(doc_type),
    }


def _described(job: JobContext, artifact: ProjectArtifact, found: Findings) -> tuple[Findings, DocType, str]:
    """By the model that the settings name, where there is text to show it; else as it was read here."""
    by_content = DocType(found.by_content) if found.by_content else records.type_by_content(artifact)
    model = Model.of(conf())
    if model is None or not found.sample.strip():
        return found, by_content or DocType(found.doc_type), "local"
    job.progress(50, f"Asking {model.name}"[:200])
    said = model.ask(artifact.name, found.sample)
    masked = conf().masked_keys
    described = replace(
        found,
        summary=redacted(said.summary, masked),
        keywords=[redacted(word, masked) for word in said.keywords] or found.keywords,
    )
    return described, final(by_content, said.doc_type), model.name


def _skipped(job: JobContext, artifact_id: str) -> dict[str, Any]:
    job.progress(100, SKIPPED)
    return {"artifactId": artifact_id, "artifactName": str(job.config.get("artifactName") or ""), "note": SKIPPED}


def _mark_failed(job: JobContext, artifact: ProjectArtifact, error: Exception) -> None:
    """The job's own failure counts more than this mark: if it cannot be written, that is logged."""
    try:
        with transaction.atomic():
            if records.mark_failed(artifact, job.id, redacted(f"{type(error).__name__}: {error}", conf().masked_keys)):
                _refresh(artifact, "artifact-intel-failed")
    except (DatabaseError, InterfaceError) as trouble:
        job.log.warning("the artifact could not be marked as failed: %s", str(trouble)[:300])


def _refresh(artifact: ProjectArtifact, reason: str) -> None:
    """What depends on the artifact is made anew once this is committed."""
    outbox.enqueue(
        company_id=artifact.tenant_id, document_id=artifact.id, hook_type=records.REFRESH,
        payload={"reason": reason, "projectId": artifact.project_id},
    )  # fmt: skip
