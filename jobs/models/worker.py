"""The workers' registry and the sweep's record of itself."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now


class Worker(models.Model):
    """One worker process, from its start to its stop. Nothing about a job's fate is decided by this table."""

    id = models.TextField(primary_key=True)
    host = models.TextField()
    pid = models.IntegerField()
    started_at = models.DateTimeField(db_default=Now())
    heartbeat_at = models.DateTimeField(db_default=Now())
    slots = models.IntegerField()
    types = ArrayField(models.TextField(), default=list, db_default=[])
    version = models.TextField(default="", db_default="")
    # By type, of the handlers that declare one.
    versions = models.JSONField(default=dict, db_default={})
    stopping = models.BooleanField(default=False, db_default=False)
    stopped_at = models.DateTimeField(null=True)
    pause_seen = models.BigIntegerField(null=True)

    class Meta:
        db_table = "worker"

    def __str__(self) -> str:
        return self.id


class SweepDuty(models.Model):
    """When a duty of the sweep last ran, and how it went."""

    name = models.TextField(primary_key=True)
    looked_at = models.DateTimeField(db_default=Now())
    ok_at = models.DateTimeField(null=True)
    grace_until = models.DateTimeField(null=True)
    changed = models.BigIntegerField(default=0, db_default=0)
    error = models.TextField(null=True)
    rows_left = models.BigIntegerField(null=True)

    class Meta:
        db_table = "sweep_duty"

    def __str__(self) -> str:
        return self.name
