"""A lab on the test run's server."""

import fcntl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings

from jobs.bench.server import PREFIX, Lab, open_lab


def bench_databases() -> list[str]:
    with psycopg.connect(settings.DATABASE_URL, autocommit=True) as connection:
        rows = connection.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [PREFIX]).fetchall()
    return [name for (name,) in rows]


@pytest.fixture(scope="module", autouse=True)
def alone() -> Iterator[None]:
    """These tests count the server's databases: one file of them at a time, whatever process of the run has it."""
    with (Path(settings.VAR_DIR) / "bench.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def lab(django_db_setup: None) -> Iterator[Lab]:
    """One template for all files, which takes seconds to migrate; each test works on copies of it."""
    with open_lab() as opened:
        yield opened


def sane(row: dict[str, Any]) -> bool:
    """No figure is missing its value or absurd."""
    numbers = [value for value in row.values() if isinstance(value, int | float) and not isinstance(value, bool)]
    return all(0 <= number < 1e9 for number in numbers) and bool(numbers)
