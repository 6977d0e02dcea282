"""Who may see which tenants."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class TenantLimit(models.Model):
    """One tenant that a user may see. A user without any sees every tenant; one with some sees those alone."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tenant_limits")
    tenant_id = models.TextField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tenant_limit"
        constraints = [models.UniqueConstraint(fields=["user", "tenant_id"], name="tenant_limit_once")]
        ordering = ["tenant_id"]

    def __str__(self) -> str:
        return self.tenant_id
