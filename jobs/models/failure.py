"""Failures by cause: groups, what people say of them, and counts over time. The triggers write deltas, the sweep folds."""

from django.db import models
from django.db.models.functions import Now


class FailureDelta(models.Model):
    """Failures of one statement, not yet folded. Without a key: never read one by one."""

    at = models.DateTimeField(primary_key=True)
    fingerprint = models.TextField()
    type = models.TextField()
    failure_type = models.TextField()
    tenant_id = models.TextField()
    n = models.IntegerField()
    dead = models.IntegerField()
    started_at = models.DateTimeField(null=True)
    job_id = models.TextField()
    sample = models.TextField(default="", db_default="")

    class Meta:
        db_table = "failure_delta"

    def __str__(self) -> str:
        return f"{self.fingerprint}: {self.n}"


class FailureGroup(models.Model):
    """One cause. `n` counts runs that failed, `dead` those that went to the dead-letter queue, both since `first_at`."""

    fingerprint = models.TextField(primary_key=True)
    type = models.TextField()
    failure_type = models.TextField()
    sample = models.TextField(default="", db_default="")
    job_id = models.TextField()
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    n = models.BigIntegerField()
    dead = models.BigIntegerField()
    state = models.TextField(default="NEW", db_default="NEW")
    owner = models.TextField(default="", db_default="", blank=True)
    note = models.TextField(default="", db_default="", blank=True)
    changed_at = models.DateTimeField(null=True)
    changed_by = models.TextField(default="", db_default="", blank=True)

    class Meta:
        db_table = "failure_group"

    def __str__(self) -> str:
        return self.fingerprint


class FailureGroupChange(models.Model):
    """What became of a group, by whom and why."""

    id = models.BigAutoField(primary_key=True)
    group = models.ForeignKey(FailureGroup, models.CASCADE, db_column="fingerprint")
    at = models.DateTimeField(db_default=Now())
    from_state = models.TextField()
    to_state = models.TextField()
    actor = models.TextField()
    reason = models.TextField(default="", db_default="", blank=True)

    class Meta:
        db_table = "failure_group_change"

    def __str__(self) -> str:
        return f"{self.from_state} → {self.to_state}"


class FailureGroupTenant(models.Model):
    """How often, and from when to when, a group hit a tenant."""

    pk = models.CompositePrimaryKey("fingerprint", "tenant_id")
    fingerprint = models.TextField()
    tenant_id = models.TextField()
    n = models.BigIntegerField()
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        db_table = "failure_group_tenant"

    def __str__(self) -> str:
        return f"{self.tenant_id}: {self.n}"


class FailureCause(models.Model):
    """Failures of a group in a minute, hour or day (`grain` m, h, d; UTC)."""

    pk = models.CompositePrimaryKey("grain", "at", "fingerprint", "type", "failure_type")
    grain = models.TextField()
    at = models.DateTimeField()
    type = models.TextField()
    failure_type = models.TextField()
    fingerprint = models.TextField()
    n = models.BigIntegerField()
    dead = models.BigIntegerField()

    class Meta:
        db_table = "failure_cause"

    def __str__(self) -> str:
        return f"{self.at} {self.fingerprint}: {self.n}"


class FailureTenant(models.Model):
    """Failures of a tenant in a minute, hour or day (`grain` m, h, d; UTC)."""

    pk = models.CompositePrimaryKey("grain", "at", "tenant_id", "type", "failure_type")
    grain = models.TextField()
    at = models.DateTimeField()
    tenant_id = models.TextField()
    type = models.TextField()
    failure_type = models.TextField()
    n = models.BigIntegerField()
    dead = models.BigIntegerField()

    class Meta:
        db_table = "failure_tenant"

    def __str__(self) -> str:
        return f"{self.at} {self.tenant_id}: {self.n}"
