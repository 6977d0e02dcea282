"""Uploads as people make them, and runs of their jobs."""

import io
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.storage import storages

from jobs.handlers.artifact_intel import run
from jobs.models import ProjectArtifact
from jobs.operations import artifacts
from jobs.operations.actions import Person
from tests.handlers.running import Run

KIM = Person("kim")
STORY = b"# Sign in\n\nAs a customer, I want to sign in with my e-mail address so that I see my orders.\n\n## Acceptance criteria\n"


def uploaded(content: bytes = STORY, name: str = "sign-in.md", tenant_id: str = "acme", **more: Any) -> ProjectArtifact:
    made = artifacts.upload(KIM, tenant_id=tenant_id, name=name, content=io.BytesIO(content), **more)
    return ProjectArtifact.objects.get(id=made)


def analysed(artifact: ProjectArtifact, tenant_id: str = "", **config: Any) -> dict[str, Any]:
    """What a run of the handler returns, in this process."""
    job = Run({"artifactId": artifact.id, "artifactName": artifact.name, "isReprocess": False} | config).job
    job.tenant_id = tenant_id or artifact.tenant_id
    return run(job)


def files() -> list[Path]:
    """All that is stored."""
    folder = Path(storages["artifacts"].base_location)
    assert str(folder).startswith(str(settings.VAR_DIR))
    return sorted(path for path in folder.rglob("*") if path.is_file()) if folder.exists() else []
