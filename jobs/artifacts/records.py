"""The rows of artifacts: written here alone, within the caller's transaction."""

from collections import Counter
from typing import Any

from django.db import close_old_connections, connection, transaction
from django.db.models import Count, Q
from django.db.models.functions import Now

from jobs.artifacts.analysis.analyse import Findings
from jobs.artifacts.doctypes import BY_CONTENT, DocType
from jobs.models import ArtifactFile, ProjectArtifact, ProjectKnowledge

PENDING, READY, ERROR = "PENDING", "READY", "ERROR"
FAILED_SUMMARY = "AI analysis failed"
REFRESH = "ARTIFACT_REFRESH"
INTEL = "ARTIFACT_INTEL"
_NEWEST = 2_000
_KEYWORDS = 20


def announce(artifact_id: str, tenant_id: str, key: str, uploaded_by: str) -> None:
    """Says that a file is about to be stored, so that it is found if nothing comes of it."""
    ArtifactFile.objects.create(artifact_id=artifact_id, tenant_id=tenant_id, storage_key=key, uploaded_by=uploaded_by)


def create(
    artifact_id: str, tenant_id: str, project_id: str | None, name: str, key: str, size: int, digest: str
) -> str:
    """The artifact of a stored file. Returns its id."""
    ArtifactFile.objects.filter(artifact_id=artifact_id).update(size_bytes=size, sha256=digest)
    ProjectArtifact.objects.create(
        id=artifact_id, tenant_id=tenant_id, project_id=project_id, name=name, storage_key=key, status=PENDING,
        **({} if _keywords_are_json() else {"keywords": _array([])}),
    )  # fmt: skip
    return artifact_id


def find(artifact_id: str, tenant_id: str | None = None) -> ProjectArtifact | None:
    """The artifact, of this tenant if one is named."""
    rows = ProjectArtifact.objects.filter(id=artifact_id)
    return (rows if tenant_id is None else rows.filter(tenant_id=tenant_id)).first()


def is_there(artifact_id: str) -> bool:
    """Asked on a connection that works, also after one that broke."""
    if not connection.in_atomic_block:
        close_old_connections()
    return ProjectArtifact.objects.filter(id=artifact_id).exists()


def type_by_content(artifact: ProjectArtifact) -> DocType | None:
    """The type that another program read from the content when it took the file; it wins. Ours is read anew each time."""
    if artifact.doc_type not in BY_CONTENT:
        return None
    ours = ArtifactFile.objects.filter(artifact_id=artifact.id, described_by__isnull=False).exists()
    return None if ours else DocType(artifact.doc_type)


def describe(artifact: ProjectArtifact, found: Findings, doc_type: str, *, by: str, job_id: str) -> bool:
    """Writes what an analysis found. False when the artifact is gone, or holds another file by now."""
    changed = ProjectArtifact.objects.filter(
        id=artifact.id, tenant_id=artifact.tenant_id, storage_key=artifact.storage_key
    ).update(status=READY, doc_type=doc_type, summary=found.summary, keywords=_words(found.keywords))
    if changed:
        _file(artifact, kind=found.kind, described_by=by, note=found.note or None, job_id=job_id)
    return bool(changed)


def mark_failed(artifact: ProjectArtifact, job_id: str, note: str) -> bool:
    """The analysis failed. What an earlier one found of type and keywords stays."""
    changed = ProjectArtifact.objects.filter(id=artifact.id, tenant_id=artifact.tenant_id).update(
        status=ERROR, summary=FAILED_SUMMARY
    )
    if changed:
        _file(artifact, note=note[:500], job_id=job_id)
    return bool(changed)


def _file(artifact: ProjectArtifact, **found: Any) -> None:
    """What we know besides; of an artifact that another program uploaded this is the first that we know."""
    ArtifactFile.objects.update_or_create(
        artifact_id=artifact.id,
        defaults=found | {"analysed_at": Now()},
        create_defaults=found
        | {"analysed_at": Now(), "tenant_id": artifact.tenant_id, "storage_key": artifact.storage_key or ""},
    )


def refresh_project(tenant_id: str, project_id: str) -> None:
    """Makes anew what a project's artifacts say together. One at a time: the last one sees all that was committed."""
    with transaction.atomic():
        ProjectKnowledge.objects.bulk_create(
            [ProjectKnowledge(tenant_id=tenant_id, project_id=project_id)], ignore_conflicts=True
        )
        row = ProjectKnowledge.objects.select_for_update().get(tenant_id=tenant_id, project_id=project_id)
        rows = ProjectArtifact.objects.filter(tenant_id=tenant_id)
        rows = rows.filter(project_id=project_id) if project_id else rows.filter(Q(project_id=None) | Q(project_id=""))
        counts = rows.aggregate(n=Count("id"), ready=Count("id", Q(status=READY)), failed=Count("id", Q(status=ERROR)))
        types = rows.filter(status=READY).values_list("doc_type").annotate(n=Count("id")).order_by("-n")[:50]
        words: Counter[str] = Counter()
        for one in rows.filter(status=READY).order_by("-id").values_list("keywords", flat=True)[:_NEWEST]:
            words.update({str(word)[:60] for word in one if isinstance(word, str)} if isinstance(one, list) else ())
        ProjectKnowledge.objects.filter(pk=row.pk).update(
            artifacts=counts["n"], ready=counts["ready"], failed=counts["failed"], refreshed_at=Now(),
            types={str(name or "OTHER")[:60]: n for name, n in types},
            keywords=[word for word, _n in words.most_common(_KEYWORDS)],
        )  # fmt: skip


# --- Tables that another program made: its keywords may be an array of text -------------------------------------------


def _keywords_are_json() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT format_type(atttypid, NULL) FROM pg_attribute
                WHERE attrelid = '"ProjectArtifact"'::regclass AND attname = 'keywords' AND NOT attisdropped"""
        )
        found = cursor.fetchone()
    return found is None or not str(found[0]).endswith("[]")


def _words(words: list[str]) -> Any:
    return words if _keywords_are_json() else _array(words)


def _array(words: list[str]) -> Any:
    from django.contrib.postgres.fields import ArrayField
    from django.db.models import TextField, Value

    return Value(words, output_field=ArrayField(TextField()))
