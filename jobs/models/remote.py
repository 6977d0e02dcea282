"""Job types that another service runs, and the runs it was asked for."""

from django.db import models
from django.db.models.functions import Now


class RemoteType(models.Model):
    """A job type and the service that does it. Secrets are stored encrypted (`jobs.queue.remote_secrets`)."""

    type = models.TextField(primary_key=True)
    url = models.TextField()
    secret = models.TextField()
    previous_secret = models.TextField(null=True)
    previous_until = models.DateTimeField(null=True)
    first_answer_seconds = models.IntegerField()
    silence_seconds = models.IntegerField()
    longest_run_seconds = models.IntegerField()
    created_by = models.TextField()
    created_at = models.DateTimeField(db_default=Now())
    updated_by = models.TextField()
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "remote_type"
        ordering = ["type"]

    def __str__(self) -> str:
        return f"{self.type} at {self.url}"


class RemoteRun(models.Model):
    """One run of a job that a service was asked for: the address of its callbacks, and what the run is fenced by."""

    id = models.TextField(primary_key=True)
    job_id = models.TextField()
    type = models.TextField()
    worker = models.TextField()
    started_at = models.DateTimeField()
    created_at = models.DateTimeField(db_default=Now())
    deadline_at = models.DateTimeField()
    heard_at = models.DateTimeField(null=True)
    log_lines = models.IntegerField(default=0, db_default=0)
    ended_at = models.DateTimeField(null=True)
    end_digest = models.TextField(null=True)

    class Meta:
        db_table = "remote_run"
        indexes = [
            models.Index(fields=["deadline_at"], name="remote_run_deadline"),
            models.Index(fields=["job_id"], name="remote_run_job"),
        ]

    def __str__(self) -> str:
        return f"{self.id} of {self.job_id}"


class RemoteNonce(models.Model):
    """A callback that was taken; it is not taken again."""

    pk = models.CompositePrimaryKey("run_id", "nonce")
    run_id = models.TextField()
    nonce = models.TextField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "remote_nonce"

    def __str__(self) -> str:
        return self.nonce
