"""The hooks that are built in."""

from typing import Any

from jobs.artifacts import records
from jobs.domain.actors import ledger
from jobs.domain.errors import DuplicateJob
from jobs.ledger import outbox
from jobs.ledger.hooks import Event, HookRefused, hook
from jobs.models import ProjectArtifact
from jobs.queue import transitions


def enqueue_for(event: Event, *, type: str, project_id: str | None = None, config: dict[str, Any]) -> str:
    """A job made by an event, in the event's transaction, and noted with it. Returns its id.

    One event has one such job of a type at a time: when it runs again while that job is active, that job is it.
    """
    try:
        job_id = transitions.enqueue(
            type=type,
            tenant_id=event.company_id,
            project_id=project_id,
            config=config,
            actor=ledger(event.id),
            unique_key=f"ledger:{event.id}:{type}",
            reason=f"{event.hook_type} of document {event.document_id}",
        )
    except DuplicateJob as error:
        job_id = error.holder
    outbox.link_job(event, job_id)
    return job_id


@hook("ARTIFACT_INTEL")
def artifact_intel(event: Event) -> None:
    """An artifact was saved: its analysis is queued. The payload may say `{"isReprocess": true}`."""
    artifact = ProjectArtifact.objects.filter(id=event.document_id, tenant_id=event.company_id).first()
    if artifact is None:
        raise HookRefused(f"there is no artifact {event.document_id} of {event.company_id}: it was deleted")
    payload = event.payload if isinstance(event.payload, dict) else {}
    config = {
        "artifactId": artifact.id,
        "artifactName": artifact.name,
        "isReprocess": payload.get("isReprocess") is True,
    }
    enqueue_for(event, type="ARTIFACT_INTEL", project_id=artifact.project_id, config=config)


@hook("ARTIFACT_REFRESH")
def artifact_refresh(event: Event) -> None:
    """An artifact's analysis ended: what its project's artifacts say together is made anew."""
    payload = event.payload if isinstance(event.payload, dict) else {}
    project_id = payload.get("projectId")
    records.refresh_project(event.company_id, project_id if isinstance(project_id, str) else "")
