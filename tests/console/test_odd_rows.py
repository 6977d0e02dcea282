"""Rows as no release of ours writes them: times that no calendar has, JSON of another shape. Every page still answers."""

import io
import json
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from django.core.management import call_command
from django.db import Error, connection, transaction
from django.test import Client

from jobs.ledger import outbox
from jobs.models import SystemConfig
from tests.console.addresses import (
    ALERT_PAGES,
    ARTIFACT_PAGES,
    BULK_PAGES,
    CAP_PAGES,
    DELIVERY_PAGES,
    GROUP_PAGES,
    LEDGER_PAGES,
    OPERATION_PAGES,
    PAGES,
    job_pages,
)
from tests.factories import (
    AlertFactory,
    ArtifactFactory,
    AuditFactory,
    DeliveryFactory,
    EventFactory,
    GroupFactory,
    JobFactory,
    LogFactory,
    OperationFactory,
    PauseFactory,
    RemoteTypeFactory,
    WorkerFactory,
    everything,
)

pytestmark = pytest.mark.django_db

_COLUMNS = """
SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
   AND a.atttypid = ANY (%s::regtype[]::oid[]) AND NOT c.relname ~ '^(django|auth|account|socialaccount|mfa|usersessions|huey)'
"""


def rows_everywhere() -> list[str]:
    """A row in every table that a page shows. Returns the addresses that are about one of them."""
    jobs = [*everything(), JobFactory(dead=True, fingerprint="v1:odd")]
    for job in jobs[:3]:
        LogFactory(job_id=job.id)
    WorkerFactory()
    PauseFactory()
    AuditFactory()
    RemoteTypeFactory()
    group, event, artifact, alert = GroupFactory(), EventFactory(status="failed"), ArtifactFactory(), AlertFactory()
    delivery = DeliveryFactory()
    SystemConfig.objects.create(key="queue.paused", value="true")
    running = OperationFactory(kind="retry", state="RUNNING")
    done = OperationFactory(kind="purge", state="DONE")
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO tenant_setting (tenant_id, cap, updated_by, ends_at) VALUES ('acme', 1, 'x', now())"
        )
        cursor.execute("INSERT INTO type_setting (type, cap, updated_by, ends_at) VALUES ('CRAWL', 1, 'x', now())")
        cursor.execute(
            """INSERT INTO job_trash (job_id, tenant_id, row, operation_id, purged_by)
                          SELECT 'gone', 'acme', '{"type": "CRAWL", "status": "DONE"}', %s, 'x'""",
            [done.pk],
        )
        for operation in (running, done):
            cursor.execute(
                """INSERT INTO operation_item (operation_id, position, job_id, tenant_id, type, state, outcome, at)
                              VALUES (%s, 1, %s, 'acme', 'CRAWL', 'DEAD_LETTERED', 'done', now())""",
                [operation.pk, jobs[0].id],
            )
    about = [(OPERATION_PAGES, running.pk), (OPERATION_PAGES, done.pk), (GROUP_PAGES, group.pk), (LEDGER_PAGES, event.pk),
             (ARTIFACT_PAGES, artifact.pk), (ALERT_PAGES, alert.pk), (DELIVERY_PAGES, delivery.pk)]  # fmt: skip
    return [page.format(quote(str(one), safe="")) for pages, one in about for page in pages] + [
        page for job in jobs for page in job_pages(job.id)
    ]


def put_in_every_column(types: list[str], value: str) -> int:
    """Past every trigger; where a constraint refuses it, the rows stay as they are. How many columns have it."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(_COLUMNS, [types])
        count = 0
        for table, column in cursor.fetchall():
            try:
                with transaction.atomic():
                    cursor.execute(f'ALTER TABLE "{table}" DISABLE TRIGGER USER')
                    cursor.execute(f'UPDATE "{table}" SET "{column}" = %s', [value])
                    count += cursor.rowcount > 0
            except Error:
                continue
    return count


def addresses() -> Iterator[str]:
    yield from (page for page in PAGES if page != "/pauses/effect/")
    yield from CAP_PAGES
    yield from BULK_PAGES
    yield from ("/jobs/export/?format=json", "/metrics", "/readyz")


@pytest.mark.parametrize(("moment", "value"), [("infinity", 3), ("0001-01-01 00:00:00+00 BC", ["x"])])
def test_no_row_keeps_a_page_from_answering(admin: Client, moment: str, value: object) -> None:
    about = rows_everywhere()
    assert put_in_every_column(["timestamptz", "timestamp"], moment) > 25
    assert put_in_every_column(["jsonb", "json"], json.dumps(value)) > 10
    assert outbox.failed_for_company(EventFactory.company_id) and not outbox.exhausted(99)
    for words in (["operation", "list"], ["ledger", "status"], ["queue", "status"], ["alerts", "list"]):
        call_command(*words, "--json", stdout=io.StringIO())
    failed = []
    for path in [*addresses(), *about]:
        try:
            status: object = admin.get(path).status_code
        except Exception as error:  # noqa: BLE001 - all of them are told together
            status = repr(error)[:300]
        if status not in {200, 302, 404, 409}:
            failed.append((path, status))
    assert not failed
