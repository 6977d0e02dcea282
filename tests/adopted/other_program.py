"""Makes the other program's tables in a test database before it is migrated: `DETIQ_TEST_SCHEMA=text` or `enum`."""

import os
from pathlib import Path
from typing import Any

from django.db import connections
from django.db.models.signals import pre_migrate

VARIABLE = "DETIQ_TEST_SCHEMA"
SCHEMAS = Path(__file__).parent


def make_tables(schema: str, connection: Any) -> None:
    """The tables of `schema_<schema>.sql`, if they are not there."""
    with connection.cursor() as cursor:
        cursor.execute("""SELECT to_regclass('"PlatformJob"')""")
        if cursor.fetchone() == (None,):
            cursor.execute((SCHEMAS / f"schema_{schema}.sql").read_text())


def listen() -> None:
    """From now on, whatever migrates in this process finds those tables."""
    if os.environ.get(VARIABLE):
        pre_migrate.connect(_before, weak=False, dispatch_uid=VARIABLE)


def _before(using: str, **_: Any) -> None:
    make_tables(os.environ[VARIABLE], connections[using])
