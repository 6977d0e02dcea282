"""What people do to artifacts: upload a file, have it analysed again, remove what uploads left behind. Audited."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import IO

import structlog
from django.db import DatabaseError, InterfaceError, transaction
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from jobs.artifacts import records, storage
from jobs.domain.errors import InvalidInput, JobsError
from jobs.domain.ids import new_id
from jobs.domain.text import NUL_OR_SURROGATE, plural
from jobs.ledger import outbox
from jobs.ledger.outbox import NewEvent
from jobs.models import ArtifactFile, ProjectArtifact
from jobs.operations.actions import Person, audited, required

log = structlog.get_logger("jobs.artifacts")

LONGEST_NAME = 300
# An upload that has not ended after so long never will.
LEFT_BEHIND = timedelta(days=1)
_MOST_AT_ONCE = 500


class ArtifactNotFound(JobsError):
    """There is no such artifact."""

    def __init__(self, artifact_id: str) -> None:
        super().__init__(f"there is no artifact {artifact_id[:200]}")


class ArtifactHasNoFile(JobsError):
    """Nothing of the artifact is stored, so that nothing can be analysed."""

    def __init__(self, artifact_id: str) -> None:
        super().__init__(f"artifact {artifact_id[:200]} has no file; nothing changed")


@dataclass(frozen=True)
class Stored:
    """A file that is stored, and not an artifact yet."""

    artifact_id: str
    tenant_id: str
    key: str
    name: str
    size_bytes: int
    sha256: str


@contextmanager
def stored(person: Person, *, tenant_id: str, name: str, content: IO[bytes]) -> Iterator[Stored]:
    """Stores a file for the time in which its artifact is made. Afterwards it stays only if an artifact has it.

    To be entered outside of any transaction: what is asked at the end is what was committed. Raises `InvalidInput` that
    names the field, `storage.StorageFailed`.
    """
    _check("tenant", tenant_id)
    name = shown_name(name)
    artifact_id = new_id()
    key = storage.key_of(tenant_id, artifact_id)
    records.announce(artifact_id, tenant_id, key, person.actor)
    try:
        size, digest = storage.save(tenant_id, key, content)
        yield Stored(artifact_id, tenant_id, key, name, size, digest)
    finally:
        _keep_only_if_used(artifact_id, tenant_id, key)


def create(person: Person, file: Stored, *, project_id: str | None = None, reason: str = "") -> str:
    """The artifact of a stored file with its hooks, in one transaction. Returns its id."""
    if project_id is not None:
        _check("project", project_id)
    with transaction.atomic():
        made = outbox.create_document_with_lifecycle(
            lambda: records.create(
                file.artifact_id, file.tenant_id, project_id, file.name, file.key, file.size_bytes, file.sha256
            ),
            company_id=file.tenant_id,
            hooks=[NewEvent(records.INTEL)],
        )
        audited(
            person, "upload_artifact", f"artifact {made}", reason, tenant_id=file.tenant_id,
            after={"name": file.name, "project": project_id, "bytes": file.size_bytes, "sha256": file.sha256},
        )  # fmt: skip
    return made


def upload(
    person: Person, *, tenant_id: str, name: str, content: IO[bytes], project_id: str | None = None, reason: str = ""
) -> str:
    """Stores a file and makes its artifact: both are there, or neither. Returns its id."""
    with stored(person, tenant_id=tenant_id, name=name, content=content) as file:
        return create(person, file, project_id=project_id, reason=reason)


def reprocess(person: Person, artifact_id: str, reason: str) -> None:
    """Has an artifact analysed again. Raises `ArtifactNotFound`, `ArtifactHasNoFile`, `InvalidInput`."""
    required(reason)
    with transaction.atomic():
        artifact = ProjectArtifact.objects.select_for_update().filter(id=artifact_id).first()
        if artifact is None:
            raise ArtifactNotFound(artifact_id)
        if not artifact.storage_key:
            raise ArtifactHasNoFile(artifact_id)
        outbox.enqueue(
            company_id=artifact.tenant_id,
            document_id=artifact.id,
            hook_type=records.INTEL,
            payload={"isReprocess": True},
        )
        audited(
            person, "reprocess_artifact", f"artifact {artifact.id}", reason, tenant_id=artifact.tenant_id,
            before={"status": artifact.status, "docType": artifact.doc_type},
        )  # fmt: skip


def clean(most: int = _MOST_AT_ONCE) -> int:
    """Removes the files of uploads that were cut off a day ago or longer, and of artifacts that are gone, `most` of them.
    How many.

    Raises `storage.StorageFailed` after it went through these, if some could not be removed: they are tried again.
    """
    old = ArtifactFile.objects.filter(uploaded_at__lt=Now() - LEFT_BEHIND).exclude(
        Exists(ProjectArtifact.objects.filter(id=OuterRef("artifact_id")))
    )
    removed, failed = 0, list[storage.StorageFailed]()
    # In no order: as many that can never be removed would else stand before all others for ever.
    for one in old.order_by("?")[:most]:
        try:
            _remove(one)
        except storage.StorageFailed as error:
            failed.append(error)
        else:
            removed += 1
    if failed:
        raise storage.StorageFailed(f"{plural(len(failed), 'file')} could not be removed; the last: {failed[-1]}")
    return removed


def _remove(one: ArtifactFile) -> None:
    if one.storage_key == storage.key_of(one.tenant_id, one.artifact_id):  # else another program put it there
        storage.require()
        storage.delete(one.tenant_id, one.storage_key)
    one.delete()


def shown_name(name: str) -> str:
    """A file's name as it is kept: without folders; spaces for what cannot be seen. Raises `InvalidInput`."""
    base = name.replace("\\", "/").rpartition("/")[2]
    base = NUL_OR_SURROGATE.sub("\ufffd", base)
    base = " ".join("".join(char if char.isprintable() else " " for char in base).split())
    if base in ("", ".", ".."):
        raise InvalidInput("name", "it is empty")
    if len(base) > LONGEST_NAME:
        raise InvalidInput("name", f"it is longer than {LONGEST_NAME} characters")
    return base


def _check(field: str, value: str) -> None:
    if not value.strip():
        raise InvalidInput(field, "it is empty")
    if len(value) > LONGEST_NAME:
        raise InvalidInput(field, f"it is longer than {LONGEST_NAME} characters")
    if NUL_OR_SURROGATE.search(value):
        raise InvalidInput(field, "it holds a character that cannot be stored (NUL or half of a pair)")


def _keep_only_if_used(artifact_id: str, tenant_id: str, key: str) -> None:
    """Removes a file that no artifact has. When that cannot be asked, it stays, and `clean` finds it a day later."""
    try:
        if records.is_there(artifact_id):
            return
        storage.delete(tenant_id, key)
        ArtifactFile.objects.filter(artifact_id=artifact_id).delete()
    except (DatabaseError, InterfaceError, storage.StorageFailed) as error:
        log.warning("artifact.left_behind", artifact_id=artifact_id, error=str(error)[:300])
