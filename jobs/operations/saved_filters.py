"""Saving a filter for oneself, and forgetting it. Nobody else sees it, so it is not audited."""

from typing import Any

from django.db import transaction

from jobs.domain.errors import InvalidInput
from jobs.models import SavedFilter

MOST = 20
LONGEST_NAME = 40
LONGEST_QUERY = 8_000


def save(user: Any, name: str, query: str) -> SavedFilter:
    """Keeps a filter under a name; a name that is there gets the new filter. Raises `InvalidInput`."""
    name = " ".join(name.split())
    if not name:
        raise InvalidInput("name", "it is empty; the filter's tab needs one")
    if len(name) > LONGEST_NAME:
        raise InvalidInput("name", f"it is longer than {LONGEST_NAME} characters")
    if not query or len(query) > LONGEST_QUERY:
        raise InvalidInput("filter", "there is none to save" if not query else "it is too long to be kept")
    with transaction.atomic():
        kept, made = SavedFilter.objects.update_or_create(owner_id=user.pk, name=name, defaults={"query": query})
        if made and SavedFilter.objects.filter(owner_id=user.pk).count() > MOST:
            raise InvalidInput("filter", f"{MOST} are saved already; forget one first")
    return kept


def forget(user: Any, saved_id: int) -> bool:
    """Forgets one of the user's own. False: there was none."""
    return SavedFilter.objects.filter(owner_id=user.pk, pk=saved_id).delete()[0] > 0
