"""The audit trail."""

from django.db import models
from django.db.models.functions import Now


class AuditEntry(models.Model):
    """Who did what, when, why, to how many rows, from where. Append-only: a trigger refuses anything else."""

    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField(db_default=Now())
    actor = models.TextField()
    action = models.TextField()
    target = models.TextField(default="", db_default="")
    tenant_id = models.TextField(null=True)
    reason = models.TextField(default="", db_default="")
    filter = models.JSONField(null=True)
    numbers = models.JSONField(null=True)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    address = models.TextField(null=True)
    user_agent = models.TextField(null=True)
    operation_id = models.BigIntegerField(null=True)

    class Meta:
        db_table = "audit_entry"

    def __str__(self) -> str:
        return f"{self.actor}: {self.action} {self.target}"
