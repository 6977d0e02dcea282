"""Rules of classification that admins add to the built-in ones."""

from django.db import models
from django.db.models.functions import Now


class FailureRule(models.Model):
    """One rule: a sign and what it means. Asked in the order of `position`, then of age."""

    id = models.BigAutoField(primary_key=True)
    kind = models.TextField()
    pattern = models.TextField()
    failure_type = models.TextField()
    why = models.TextField()
    position = models.IntegerField(default=0, db_default=0)
    enabled = models.BooleanField(default=True, db_default=True)
    created_by = models.TextField()
    created_at = models.DateTimeField(db_default=Now())
    updated_by = models.TextField(null=True)
    updated_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "failure_rule"

    def __str__(self) -> str:
        return f"{self.kind} {self.pattern}: {self.failure_type}"
