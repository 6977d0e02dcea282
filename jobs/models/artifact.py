"""Files that tenants uploaded: the shared table, and what we know besides."""

from typing import Any

from django.db import models
from django.db.models.functions import Now


class WordList(models.JSONField):
    """A JSON array of words. In tables that another program made it may be an array of text, and reads the same."""

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """A list, or whatever JSON is there; None for NULL."""
        return value if isinstance(value, list) else super().from_db_value(value, expression, connection)


class ProjectArtifact(models.Model):
    """A file that a tenant uploaded, and what an analysis made of it."""

    id = models.TextField(primary_key=True)
    tenant_id = models.TextField(db_column="tenantId")
    project_id = models.TextField(db_column="projectId", null=True)
    name = models.TextField(default="", db_default="")
    storage_key = models.TextField(db_column="storageKey", null=True)
    doc_type = models.TextField(db_column="docType", null=True)
    status = models.TextField(default="PENDING", db_default="PENDING")
    summary = models.TextField(null=True)
    keywords = WordList(default=list, db_default=[])

    class Meta:
        db_table = "ProjectArtifact"

    def __str__(self) -> str:
        return self.name


class ArtifactFile(models.Model):
    """The file behind an artifact that was uploaded here, and its last analysis.

    Written before the file is stored: what has no artifact after a day is what an upload left that never ended.
    """

    artifact_id = models.TextField(primary_key=True)
    tenant_id = models.TextField()
    storage_key = models.TextField()
    size_bytes = models.BigIntegerField(default=0, db_default=0)
    sha256 = models.TextField(default="", db_default="")
    uploaded_by = models.TextField(default="", db_default="")
    uploaded_at = models.DateTimeField(db_default=Now())
    # What the content is, by whom it was described, what was left out; of the last analysis that ended.
    kind = models.TextField(null=True)
    described_by = models.TextField(null=True)
    note = models.TextField(null=True)
    analysed_at = models.DateTimeField(null=True)
    job_id = models.TextField(null=True)

    class Meta:
        db_table = "artifact_file"

    def __str__(self) -> str:
        return self.artifact_id


class ProjectKnowledge(models.Model):
    """What a project's artifacts say together; made anew after each analysis. `project_id` is empty for none."""

    tenant_id = models.TextField()
    project_id = models.TextField(default="", db_default="")
    artifacts = models.IntegerField(default=0, db_default=0)
    ready = models.IntegerField(default=0, db_default=0)
    failed = models.IntegerField(default=0, db_default=0)
    types = models.JSONField(default=dict, db_default={})
    keywords = models.JSONField(default=list, db_default=[])
    refreshed_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "project_knowledge"
        constraints = [models.UniqueConstraint(fields=["tenant_id", "project_id"], name="project_knowledge_of")]

    def __str__(self) -> str:
        return f"{self.tenant_id}/{self.project_id}"
