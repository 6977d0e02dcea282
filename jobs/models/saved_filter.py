"""Filters that people keep."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class SavedFilter(models.Model):
    """A filter of the jobs list under a name, for the one who saved it. `query` is what stands in the address."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.TextField()
    query = models.TextField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "saved_filter"
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="saved_filter_name")]
        ordering = ["id"]

    def __str__(self) -> str:
        return self.name
