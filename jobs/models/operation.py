"""Bulk work: one operation, and the outcome of each of its rows."""

from django.db import models
from django.db.models.functions import Now


class Operation(models.Model):
    """Something done to many jobs, in a worker: who, why, to which, how far."""

    id = models.BigAutoField(primary_key=True)
    kind = models.TextField()
    state = models.TextField(default="PENDING", db_default="PENDING")
    actor = models.TextField()
    reason = models.TextField()
    filter = models.JSONField(default=dict, db_default={})
    options = models.JSONField(default=dict, db_default={})
    idempotency_key = models.TextField(null=True, unique=True)
    total = models.IntegerField(default=0, db_default=0)
    done = models.IntegerField(default=0, db_default=0)
    skipped = models.IntegerField(default=0, db_default=0)
    failed = models.IntegerField(default=0, db_default=0)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    # The chain of work that has it now; another takes over when `heartbeat_at` is old.
    runner = models.TextField(null=True)
    # Why it stopped by itself.
    note = models.TextField(default="", db_default="")
    # Up to when the rate's allowance is used up.
    paced_at = models.DateTimeField(null=True)
    # The position up to which its rows have been looked at.
    reached = models.IntegerField(default=0, db_default=0)

    class Meta:
        db_table = "operation"

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class OperationItem(models.Model):
    """One row of an operation's frozen set."""

    pk = models.CompositePrimaryKey("operation_id", "position")
    operation = models.ForeignKey(Operation, on_delete=models.CASCADE)
    position = models.IntegerField()
    job_id = models.TextField()
    outcome = models.TextField(null=True)
    reason = models.TextField(null=True)
    at = models.DateTimeField(null=True)
    # What the job was when the set was frozen.
    tenant_id = models.TextField(default="", db_default="")
    type = models.TextField(default="", db_default="")
    state = models.TextField(default="", db_default="")
    redrives = models.IntegerField(default=0, db_default=0)
    # The job that came of it, or that is in its way.
    detail = models.TextField(null=True)

    class Meta:
        db_table = "operation_item"

    def __str__(self) -> str:
        return f"{self.operation_id}/{self.position}"
