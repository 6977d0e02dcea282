"""Databases of their own, as another program left them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import sql

from tests.adopted.other_program import make_tables


@pytest.fixture
def other_database(db_clean: None) -> Iterator[Callable[..., BaseDatabaseWrapper]]:
    """`other_database("enum", "ALTER …")`: Django's connection, for the test on a new database with that schema, not
    migrated yet. Processes that the test starts work on it, too."""
    served = settings.DATABASES["default"]["NAME"]
    with ExitStack() as stack:

        def make(schema: str, *statements: str) -> BaseDatabaseWrapper:
            name = f"{served}_{schema}"
            _recreate(name)
            stack.callback(_drop, name)
            stack.callback(_use, served)
            _use(name)
            make_tables(schema, connection)
            for statement in statements:
                rows(connection, statement)
            return connection

        yield make


def _use(name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = settings.DATABASES["default"]["NAME"] = name


def _drop(name: str) -> None:
    _admin(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def _recreate(name: str) -> None:
    _drop(name)
    _admin(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


def _admin(statement: Any) -> None:
    with connection._nodb_cursor() as cursor:
        cursor.execute(statement)


def rows(connection: BaseDatabaseWrapper, statement: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall()) if cursor.description else []
