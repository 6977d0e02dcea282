"""What tests of the console's pages share."""

from collections.abc import Callable, Iterator

import pytest
from django.core.cache import cache
from django.test import Client

from jobs.console import metrics
from jobs.console.queries.overview import forget
from jobs.console.views import export
from tests.browser import just_proved
from tests.factories import user

ROLES = ["viewer", "operator", "support", "admin"]


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    """What a process keeps between requests must not reach from one test into the next."""
    forget()
    metrics.clear()
    export._running.clear()  # the answers of tests before may not be collected yet
    yield
    forget()


@pytest.fixture
def as_role(db: None) -> Callable[..., Client]:
    """`as_role("viewer")`: a client signed in with that role, just now; `""` for an account without one.

    `proved=False`: longer ago than a grave action accepts without asking again.
    """

    def signed_in(role: str, username: str = "", proved: bool = True, **options: object) -> Client:
        client, person = Client(**options), user(role, username)
        client.force_login(person, "django.contrib.auth.backends.ModelBackend")
        if proved:
            just_proved(client, person)
        return client

    return signed_in


@pytest.fixture
def viewer(as_role: Callable[..., Client]) -> Client:
    return as_role("viewer")


@pytest.fixture
def operator(as_role: Callable[..., Client]) -> Client:
    return as_role("operator")


@pytest.fixture
def admin(as_role: Callable[..., Client]) -> Client:
    return as_role("admin")


@pytest.fixture
def empty_cache(db: None) -> None:
    cache.clear()
