"""Databases of their own, as another program left them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import sql

from jobs.bench.server import drop_database
from tests.adopted.other_program import make_tables


@pytest.fixture
def other_database(db_clean: None) -> Iterator[Callable[..., BaseDatabaseWrapper]]:
    """`other_database("enum", "ALTER …")`: Django's connection, for the test on a new database with that schema, not
    migrated yet. Processes that the test starts work on it, too."""
    served = settings.DATABASES["default"]["NAME"]
    with ExitStack() as stack:

        def make(schema: str, *statements: str, template: str = "template1") -> BaseDatabaseWrapper:
            name = f"{served}_{schema}"
            _drop(name)
            _admin(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*map(sql.Identifier, (name, template))))
            stack.callback(_drop, name)
            stack.callback(_use, served)
            _use(name)
            make_tables(schema, connection)
            for statement in statements:
                rows(connection, statement)
            return connection

        yield make


@pytest.fixture
def adopted_database(other_database: Callable[..., BaseDatabaseWrapper]) -> Callable[[str], None]:
    """`adopted_database("enum")`: the same, migrated. Made once in this process of the run, then copied."""

    def make(schema: str) -> None:
        template = f"{settings.DATABASES['default']['NAME']}_{schema}_template"
        if template not in _TEMPLATES:
            other_database(schema)
            call_command("migrate", verbosity=0)
            made = settings.DATABASES["default"]["NAME"]
            connection.close()
            _drop(template)
            _admin(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*map(sql.Identifier, (template, made))))
            _TEMPLATES.add(template)
        else:
            other_database(schema, template=template)

    return make


@pytest.fixture(scope="session", autouse=True)
def _no_templates_left(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    yield
    with django_db_blocker.unblock():
        while _TEMPLATES:
            _drop(_TEMPLATES.pop())


_TEMPLATES: set[str] = set()


def _use(name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = settings.DATABASES["default"]["NAME"] = name


def _drop(name: str) -> None:
    with connection._nodb_cursor() as cursor:
        drop_database(cursor, name)


def _admin(statement: Any) -> None:
    with connection._nodb_cursor() as cursor:
        cursor.execute(statement)


def rows(connection: BaseDatabaseWrapper, statement: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall()) if cursor.description else []
