"""`migrate` on a database where another program already made its tables."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from jobs.queue.adoption import contract, steps
from tests.adopted.conftest import rows

Other = Callable[..., Any]
# The columns, as they are: name, type, default, NOT NULL.
SHAPE = """
SELECT a.attname, format_type(a.atttypid, a.atttypmod), pg_get_expr(d.adbin, d.adrelid), a.attnotnull
  FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
 WHERE a.attrelid = '"PlatformJob"'::regclass AND a.attnum > 0 ORDER BY a.attnum
"""
EVERYTHING = """
SELECT md5(string_agg(x, E'\\n' ORDER BY x)) FROM (
    SELECT pg_get_indexdef(indexrelid) || indexrelid AS x FROM pg_index WHERE indrelid > 16000
    UNION ALL SELECT tgrelid || tgname || oid FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT attrelid || attname || atttypid || attnotnull FROM pg_attribute WHERE attrelid > 16000
    UNION ALL SELECT adrelid || pg_get_expr(adbin, adrelid) FROM pg_attrdef
    UNION ALL SELECT enumlabel FROM pg_enum
    UNION ALL SELECT relname || relfilenode || coalesce(reloptions::text, '') FROM pg_class WHERE oid > 16000 AND relkind <> 'S'
) everything
"""
INSERT = """INSERT INTO "PlatformJob" (id, "tenantId", type, name, config, "updatedAt", status)
            VALUES ('%s', 'acme', 'CRAWL', 'x', '{}', now(), '%s')"""


def migrate() -> list[str]:
    out = StringIO()
    call_command("migrate", stdout=out, verbosity=1)
    return out.getvalue().splitlines()


@pytest.mark.parametrize("schema", ["text", "enum"])
def test_it_adds_what_is_missing_and_leaves_what_is_there(other_database: Other, schema: str) -> None:
    other = other_database(schema, INSERT % ("old", "DONE"), INSERT % ("new", "QUEUED"))
    before = {name: shape for name, *shape in rows(other, SHAPE)}
    node = rows(other, """SELECT relfilenode FROM pg_class WHERE relname = 'PlatformJob'""")
    told = migrate()
    after = {name: shape for name, *shape in rows(other, SHAPE)}
    assert {column.name for column in contract.JOBS.columns} <= set(after)
    for name, (type_, default, not_null) in before.items():
        assert after[name][0] == type_ and after[name][2] == not_null, name
        assert default is None or after[name][1] == default, name
    assert rows(other, """SELECT relfilenode FROM pg_class WHERE relname = 'PlatformJob'""") == node, "not rewritten"
    assert any("added" in line and "PlatformJob" in line for line in told)
    assert any("have no time zone and are read as UTC" in line for line in told)
    # A plain INSERT of four columns is a valid job, in any session.
    rows(
        other,
        """SET TimeZone = 'Asia/Tokyo';
                   INSERT INTO "PlatformJob" (id, "tenantId", type, config) VALUES ('j', 'acme', 'CRAWL', '{}')""",
    )
    assert rows(other, """SELECT status::text, name, inline FROM "PlatformJob" WHERE id = 'j'""") == [
        ("QUEUED", "", False)
    ]


@pytest.mark.parametrize("schema", ["text", "enum"])
def test_a_second_time_changes_nothing(other_database: Other, schema: str) -> None:
    other = other_database(schema)
    migrate()
    before = rows(other, EVERYTHING)
    assert not [line for line in migrate() if line.startswith("added")]
    assert rows(other, EVERYTHING) == before


def test_what_the_other_program_drops_comes_back(other_database: Other) -> None:
    other = other_database("text")
    migrate()
    rows(other, 'ALTER TABLE "PlatformJob" DROP COLUMN "uniqueKey"')
    rows(other, "DROP INDEX job_claim")
    rows(other, 'DROP TRIGGER detiq_record_update ON "PlatformJob"')
    told = [line for line in migrate() if line.startswith("added")]
    for word in ("uniqueKey", "index job_claim ", "index job_unique_key", "trigger detiq_record_update"):
        assert any(word in line for line in told), word


def test_jobs_that_were_there_are_counted_whatever_is_written_meanwhile(
    other_database: Other, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = other_database(
        "enum",
        """INSERT INTO "PlatformJob" (id, "tenantId", type, name, config, "updatedAt")
           SELECT 'j' || n, 't' || n % 3, 'CRAWL', '', '{}', now() FROM generate_series(1, 5000) n""",
    )
    from jobs.queue.connections import connector

    count, stop = steps.count_jobs, threading.Event()

    def write() -> None:
        with connector(other.settings_dict)() as mine:
            for n in range(1, 5001):
                if stop.is_set():
                    return
                mine.execute("""UPDATE "PlatformJob" SET status = 'DONE' WHERE id = %s""", [f"j{n}"])

    writer = threading.Thread(target=write)

    def count_while_written(connection: Any) -> None:
        writer.start()
        for _ in range(20):
            count(connection)
        stop.set()

    monkeypatch.setattr(steps, "count_jobs", count_while_written)
    migrate()
    writer.join()
    counted = """SELECT state, sum(n)::bigint FROM (
                     SELECT tenant_id, state, n FROM tally_state
                     UNION ALL SELECT tenant_id, from_state, -n FROM tally_delta WHERE from_state IS NOT NULL
                     UNION ALL SELECT tenant_id, to_state, n FROM tally_delta WHERE to_state IS NOT NULL) c
                  GROUP BY 1 HAVING sum(n) <> 0 ORDER BY 1"""
    truth = """SELECT status::text, count(*) FROM "PlatformJob" GROUP BY 1 ORDER BY 1"""
    assert rows(other, counted) == rows(other, truth)
    assert rows(other, "SELECT count(*) > 0 FROM job_history") == [(True,)], "something was written meanwhile"


def test_an_index_of_a_large_table_keeps_no_writer_out(other_database: Other, monkeypatch: pytest.MonkeyPatch) -> None:
    other = other_database("text", INSERT % ("j", "QUEUED"))
    seen: list[str] = []
    concurrently = steps._concurrently
    monkeypatch.setattr(steps, "LARGE_BYTES", 0)
    monkeypatch.setattr(
        steps, "_concurrently", lambda connection, text: (seen.append(text), concurrently(connection, text))[1]
    )
    migrate()
    assert any("job_claim" in text for text in seen) and any("job_unique_key" in text for text in seen)
    invalid = rows(other, "SELECT count(*) FROM pg_index WHERE NOT indisvalid")
    assert invalid == [(0,)]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("""ALTER TABLE "PlatformJob" ALTER status DROP DEFAULT, ALTER status TYPE integer USING 1""",
         '"status" is of type integer; it must be text or an enum'),
        ("""CREATE TYPE "JobType" AS ENUM ('CRAWL'); ALTER TABLE "PlatformJob" ALTER type TYPE "JobType" USING 'CRAWL'""",
         '"type" is of type "JobType"; it must be text'),
        ("""ALTER TABLE "PlatformJob" ALTER config TYPE json""", '"config" is of type json; it must be jsonb'),
        ("""ALTER TABLE "PlatformJob" ALTER "tenantId" TYPE text COLLATE "C" """,
         '"tenantId" has the collation "C"; it must have the database\'s own'),
        ("""ALTER TABLE "PlatformJob" ALTER "startedAt" SET NOT NULL""", '"startedAt" is NOT NULL'),
        ("""ALTER TABLE "PlatformJob" ALTER error TYPE varchar(100)""", '"error" is of type character varying(100), too short'),
        ("""ALTER TABLE "PlatformJob" ALTER "requeuedAt" TYPE timestamptz""", '"queuedAt" and "requeuedAt" differ'),
        ("""ALTER TABLE "PlatformJob" DROP COLUMN "tenantId" """, 'it has no column "tenantId"'),
        ("""ALTER TABLE "PlatformJob" DROP CONSTRAINT "PlatformJob_pkey" """, '"id" is not unique'),
        ("""ALTER TABLE "SystemConfig" ALTER value TYPE jsonb USING '{}'""", '"value" is of type jsonb'),
        ("""CREATE TABLE worker (id int)""", '"worker": a table of this name is there, and it is not ours'),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named_and_nothing_is_changed(other_database: Other, change: str, reason: str) -> None:
    other = other_database("text", change)
    before = rows(other, SHAPE)
    with pytest.raises(CommandError) as refused:
        migrate()
    assert reason in str(refused.value)
    assert rows(other, SHAPE) == before
    assert rows(other, "SELECT to_regclass('job_history')") == [(None,)]


def test_what_works_less_well_is_named(other_database: Other) -> None:
    other_database(
        "enum",
        """ALTER TABLE "PlatformJob" ADD "organizationId" text NOT NULL, ALTER "projectId" SET NOT NULL""",
        """ALTER TABLE "PlatformJob" ADD CHECK (progress <= 100)""",
        """ALTER TABLE "PlatformJob" ENABLE ROW LEVEL SECURITY""",
    )
    told = "\n".join(migrate())
    for words in (
        '"organizationId" is NOT NULL without a default',
        '"projectId" is NOT NULL: jobs without it are refused',
        '"CrawlPage" refers to it and deletes its rows with a purged job',
        "may refuse what is written",
        "row security is on",
    ):
        assert words in told, words


def test_the_contract_is_what_the_first_migration_makes(db: None) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        for table in contract.TABLES:
            existing = steps.look(cursor, table.name)
            assert existing is not None
            ours = {column.name: column for column in table.columns}
            assert set(existing.columns) == set(ours), table.name
            for name, found in existing.columns.items():
                assert found.full == ours[name].kind.made and found.not_null == ours[name].filled, (table.name, name)
                assert (found.default is None) == (ours[name].default is None), (table.name, name)


def test_times_without_zone_are_read_as_utc(other_database: Other) -> None:
    other = other_database("text", INSERT % ("j", "DONE"))
    rows(other, """UPDATE "PlatformJob" SET "finishedAt" = '2026-01-02 03:04:05.678'""")
    assert rows(other, 'SELECT "finishedAt" FROM "PlatformJob"') == [
        (datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC),)
    ]
