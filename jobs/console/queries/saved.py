"""The filters that somebody has saved."""

from typing import Any

from jobs.models import SavedFilter


def of(user: Any) -> list[SavedFilter]:
    """A user's saved filters, oldest first."""
    return list(SavedFilter.objects.filter(owner_id=user.pk).order_by("id")[:50])
