"""The document-lifecycle ledger, and what hangs on a document."""

from django.db import models
from django.db.models.functions import Now


class LifecycleEvent(models.Model):
    """A hook that must run after a document is saved. Only `jobs.ledger.outbox` changes its status."""

    id = models.TextField(primary_key=True)
    company_id = models.TextField()
    document_id = models.TextField()
    hook_type = models.TextField()
    status = models.TextField(default="pending", db_default="pending")
    attempts = models.IntegerField(default=0, db_default=0)
    last_error = models.TextField(null=True)
    payload_json = models.TextField(default="{}", db_default="{}")
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())
    completed_at = models.DateTimeField(null=True)
    # Ours: not before; whose claim; whose run covered it.
    next_attempt_at = models.DateTimeField(null=True)
    claim_token = models.TextField(null=True)
    ran_with = models.TextField(null=True)

    class Meta:
        db_table = "document_lifecycle_events"

    def __str__(self) -> str:
        return f"{self.hook_type} of {self.document_id}"


class LedgerJob(models.Model):
    """A job that an event made."""

    pk = models.CompositePrimaryKey("event_id", "job_id")
    event_id = models.TextField()
    job_id = models.TextField()
    document_id = models.TextField()
    made_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "ledger_job"

    def __str__(self) -> str:
        return f"{self.job_id} of {self.event_id}"


class Membership(models.Model):
    """A user's role in a tenant: OWNER, ADMIN, …"""

    id = models.TextField(primary_key=True)
    tenant_id = models.TextField(db_column="tenantId")
    user_id = models.TextField(db_column="userId")
    role = models.TextField()

    class Meta:
        db_table = "Membership"

    def __str__(self) -> str:
        return f"{self.user_id} is {self.role} of {self.tenant_id}"


class Notification(models.Model):
    """Something a user should know."""

    id = models.TextField(primary_key=True)
    tenant_id = models.TextField(db_column="tenantId")
    user_id = models.TextField(db_column="userId")
    type = models.TextField()
    title = models.TextField()
    body = models.TextField(default="", db_default="")
    metadata = models.JSONField(null=True)
    # Ours.
    read = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(db_column="createdAt", db_default=Now())

    class Meta:
        db_table = "Notification"

    def __str__(self) -> str:
        return self.title
