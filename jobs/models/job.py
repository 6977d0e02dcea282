"""The contract's job table, and what is written beside it. No method writes: changes go through `jobs.queue`."""

from typing import Any, ClassVar

from django.db import models
from django.db.models.functions import Now

from jobs.domain.states import JobStatus, state


class Job(models.Model):
    """A row of "PlatformJob". Other programs read and write the same table: columns are the contract."""

    id = models.TextField(primary_key=True)
    tenant_id = models.TextField(db_column="tenantId")
    project_id = models.TextField(db_column="projectId", null=True, blank=True)
    type = models.TextField()
    name = models.TextField(default="", db_default="")
    status = models.TextField(default=JobStatus.QUEUED.value, db_default=JobStatus.QUEUED.value)
    priority = models.IntegerField(default=0, db_default=0)
    config = models.JSONField(default=dict, db_default={})
    result = models.JSONField(null=True, blank=True)
    error = models.TextField(null=True, blank=True)
    progress = models.IntegerField(default=0, db_default=0)
    current_step = models.TextField(db_column="currentStep", null=True, blank=True)
    queued_at = models.DateTimeField(db_column="queuedAt", db_default=Now())
    requeued_at = models.DateTimeField(db_column="requeuedAt", null=True, blank=True)
    started_at = models.DateTimeField(db_column="startedAt", null=True, blank=True)
    finished_at = models.DateTimeField(db_column="finishedAt", null=True, blank=True)
    heartbeat_at = models.DateTimeField(db_column="heartbeatAt", null=True, blank=True)
    worker_id = models.TextField(db_column="workerId", null=True, blank=True)
    retry_count = models.IntegerField(db_column="retryCount", default=0, db_default=0)
    next_retry_at = models.DateTimeField(db_column="nextRetryAt", null=True, blank=True)
    failure_type = models.TextField(db_column="failureType", null=True, blank=True)
    dlq = models.BooleanField(default=False, db_default=False)
    dlq_at = models.DateTimeField(db_column="dlqAt", null=True, blank=True)
    dlq_reason = models.TextField(db_column="dlqReason", null=True, blank=True)
    inline = models.BooleanField(default=False, db_default=False)
    submitted_by = models.TextField(db_column="submittedBy", null=True, blank=True)
    checkpoint = models.JSONField(null=True, blank=True)
    checkpoint_at = models.DateTimeField(db_column="checkpointAt", null=True, blank=True)
    # Ours.
    checkpoint_version = models.TextField(db_column="checkpointVersion", null=True, blank=True)
    unique_key = models.TextField(db_column="uniqueKey", null=True, blank=True)
    fingerprint = models.TextField(null=True, blank=True)
    origin_id = models.TextField(db_column="originId", null=True, blank=True)
    redrive_count = models.IntegerField(db_column="redriveCount", default=0, db_default=0)
    lost_count = models.IntegerField(db_column="lostCount", default=0, db_default=0)
    progress_at = models.DateTimeField(db_column="progressAt", null=True, blank=True)

    class Meta:
        db_table = "PlatformJob"

    def __str__(self) -> str:
        return self.name or self.type

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Refused for a row that was read: it would write every column back as it was then."""
        if not self._state.adding:
            raise RuntimeError("a job is changed through jobs.queue.transitions, never by save()")
        super().save(*args, **kwargs)

    @property
    def state(self) -> str:
        """The status, or `DEAD_LETTERED`."""
        return state(self.status, self.dlq)


class JobHistory(models.Model):
    """One change of one job. Written by a trigger, whoever made the change; append-only."""

    id = models.BigAutoField(primary_key=True)
    job_id = models.TextField()
    tenant_id = models.TextField()
    type = models.TextField()
    from_status = models.TextField(null=True)
    from_dlq = models.BooleanField(null=True)
    to_status = models.TextField(null=True)
    to_dlq = models.BooleanField(null=True)
    at = models.DateTimeField(db_default=Now())
    actor = models.TextField()
    reason = models.TextField(null=True)
    worker_id = models.TextField(null=True)
    run_started_at = models.DateTimeField(null=True)
    inline = models.BooleanField(db_default=False)
    retry_count = models.IntegerField(null=True)
    failure_type = models.TextField(null=True)
    fingerprint = models.TextField(null=True)
    detail = models.JSONField(null=True)

    class Meta:
        db_table = "job_history"
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.from_status or 'new'} → {self.to_status or 'gone'}"

    @property
    def from_state(self) -> str | None:
        """The state left; None when the row was new."""
        return None if self.from_status is None else state(self.from_status, bool(self.from_dlq))

    @property
    def to_state(self) -> str | None:
        """The state entered; None when the row went away."""
        return None if self.to_status is None else state(self.to_status, bool(self.to_dlq))


class JobLog(models.Model):
    """A line that a handler wrote with `job.log`."""

    id = models.BigAutoField(primary_key=True)
    job_id = models.TextField()
    run_started_at = models.DateTimeField(null=True)
    at = models.DateTimeField(db_default=Now())
    level = models.TextField()
    message = models.TextField()

    class Meta:
        db_table = "job_log"
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return self.message[:80]


class JobTrash(models.Model):
    """A purged job, whole, until retention removes it."""

    job_id = models.TextField(primary_key=True)
    tenant_id = models.TextField()
    row = models.JSONField()
    operation = models.ForeignKey("jobs.Operation", null=True, on_delete=models.SET_NULL)
    purged_at = models.DateTimeField(db_default=Now())
    purged_by = models.TextField()

    class Meta:
        db_table = "job_trash"

    def __str__(self) -> str:
        return self.job_id
