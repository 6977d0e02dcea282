"""What holds the queue: pauses by scope, and the flag that other programs read."""

from django.db import models
from django.db.models.functions import Now


class SystemConfig(models.Model):
    """Settings shared with other programs. `queue.paused` = `true` pauses everything."""

    key = models.TextField(primary_key=True)
    value = models.TextField()
    updated_at = models.DateTimeField(db_column="updatedAt", db_default=Now())

    class Meta:
        db_table = "SystemConfig"

    def __str__(self) -> str:
        return f"{self.key}={self.value}"


class Pause(models.Model):
    """Holds the jobs of a type, tenant or project; a scope left open means all of them."""

    id = models.BigAutoField(primary_key=True)
    type = models.TextField(null=True, blank=True)
    tenant_id = models.TextField(null=True, blank=True)
    project_id = models.TextField(null=True, blank=True)
    reason = models.TextField()
    owner = models.TextField()
    created_at = models.DateTimeField(db_default=Now())
    ends_at = models.DateTimeField(null=True, blank=True)
    lifted_at = models.DateTimeField(null=True, blank=True)
    lifted_by = models.TextField(null=True, blank=True)
    lift_reason = models.TextField(null=True, blank=True)

    class Meta:
        db_table = "queue_pause"

    def __str__(self) -> str:
        return self.scope

    @property
    def scope(self) -> str:
        """The scope in words, such as `CRAWL for quanta-pay`."""
        return scope_words(self.type, self.tenant_id, self.project_id)


class GateChange(models.Model):
    """What claims had to obey from a moment on: one committed change of a cap, a pause or the flag. The database writes it.

    `source` is the table, `key` its row's, `row` that row as committed, None when it was removed. The row with source
    `begin` says since when this is known.
    """

    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField(db_default=Now())
    source = models.TextField()
    key = models.TextField()
    row = models.JSONField(null=True)

    class Meta:
        db_table = "gate_history"

    def __str__(self) -> str:
        return f"{self.source} {self.key} at {self.at}"


def scope_words(type_: str | None, tenant_id: str | None, project_id: str | None) -> str:
    """A pause's scope in words."""
    what = type_ or ("Everything" if tenant_id is None and project_id is None else "All types")
    whose = [f"project {project_id}"] if project_id else []
    whose += [tenant_id] if tenant_id else []
    return what + (" for " + " of ".join(whose) if whose else "")
