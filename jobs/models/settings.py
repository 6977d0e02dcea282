"""Caps and weights of tenants and types."""

from django.db import models
from django.db.models.functions import Now


class Override(models.Model):
    """A cap: a number (0 suspends), empty for the default, or unlimited; with an end, what then comes back."""

    cap = models.IntegerField(null=True, blank=True)
    unlimited = models.BooleanField(default=False, db_default=False)
    ends_at = models.DateTimeField(null=True, blank=True)
    previous_cap = models.IntegerField(null=True, blank=True)
    previous_unlimited = models.BooleanField(default=False, db_default=False)
    version = models.IntegerField(default=1, db_default=1)
    updated_at = models.DateTimeField(db_default=Now())
    updated_by = models.TextField()

    class Meta:
        abstract = True


class TenantSetting(Override):
    """How much one tenant may run."""

    tenant_id = models.TextField(primary_key=True)
    weight = models.IntegerField(default=1, db_default=1)
    note = models.TextField(default="", db_default="", blank=True)

    class Meta:
        db_table = "tenant_setting"

    def __str__(self) -> str:
        return self.tenant_id


class TypeSetting(Override):
    """How many jobs of one type may run, over all tenants, and for how long each."""

    type = models.TextField(primary_key=True)
    max_run_seconds = models.IntegerField(null=True, blank=True)

    class Meta:
        db_table = "type_setting"

    def __str__(self) -> str:
        return self.type
