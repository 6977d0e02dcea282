"""What a role or a database may be set to for the sake of other programs, and what it must not change for ours."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, transaction
from django.test import Client
from psycopg.errors import ReadOnlySqlTransaction

from jobs.console.links import job_url
from jobs.queue.connections import connector
from jobs.workers.consumer import JobsStorage
from tests.factories import everything, user
from tests.queue.helpers import claim, insert

SETTINGS = {
    "datestyle": "German, DMY",
    "intervalstyle": "sql_standard",
    "timezone": "America/Sao_Paulo",
    "client_encoding": "LATIN1",
    "default_transaction_isolation": "repeatable read",
    "idle_session_timeout": "10s",
}


@pytest.fixture
def set_role(conn: Any) -> Iterator[Callable[[str], None]]:
    """What every new connection of the product's role begins with: `set_role("SET datestyle = 'German'")`."""
    of = "ALTER ROLE CURRENT_USER IN DATABASE " + conn.execute("SELECT quote_ident(current_database())").fetchone()[0]
    yield lambda what: conn.execute(f"{of} {what}")
    conn.execute(f"{of} RESET ALL")
    connection.close()


@pytest.fixture
def odd_server(set_role: Callable[[str], None]) -> None:
    """A server that gives the product's role such settings with every new connection."""
    for name, value in SETTINGS.items():
        set_role(f"SET {name} = '{value}'")
    connection.close()


def test_pages_and_times_are_as_ever(odd_server: None) -> None:
    jobs = everything("名前 ä")
    client = Client()
    client.force_login(user("viewer"), "django.contrib.auth.backends.ModelBackend")
    for path in ("/", "/jobs/", "/dlq/", "/tenants/", "/audit/", *[job_url(job.id) for job in jobs]):
        assert client.get(path).status_code == 200, path


def test_claims_hold_caps_although_transactions_would_see_what_was_at_their_start(
    odd_server: None, make_conn: Callable[[], Any]
) -> None:
    ours, other = make_conn(), connector(settings.DATABASES["default"])()
    insert(ours, "名前", tenantId="ä")
    for n in range(4):
        insert(ours, f"j{n}", tenantId="ä")
    with other:
        assert other.execute("SHOW transaction_isolation").fetchone() == ("read committed",)
        assert other.execute("SHOW idle_session_timeout").fetchone() == ("0",), "who listens is idle for long"
        assert len(claim(ours, 2, worker="w1", tenant_cap=3).jobs) == 2
        assert len(claim(other, 4, worker="w2", tenant_cap=3).jobs) == 1
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SHOW transaction_isolation")
        assert cursor.fetchone() == ("read committed",)


def test_what_was_opened_while_nothing_could_be_changed_is_opened_anew(set_role: Callable[[str], None]) -> None:
    storage = JobsStorage(
        "test", connection=connector(settings.DATABASES["default"]), create_tables=False, blocking=False
    )
    set_role("SET default_transaction_read_only = on")
    with pytest.raises(ReadOnlySqlTransaction):
        storage.enqueue(b"one")
    set_role("RESET default_transaction_read_only")
    storage.enqueue(b"two")
    assert storage.dequeue() == b"two"
    storage.close()
