"""What tests of the ledger share: where hooks write down what they did."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.ledger import kit  # noqa: F401 - registers the hooks


@pytest.fixture
def conn(conn: Any) -> Iterator[Any]:
    conn.execute(
        """CREATE TABLE IF NOT EXISTS ledger_test (id bigint GENERATED ALWAYS AS IDENTITY, event_id text, what text,
                                                   pid integer, at timestamptz DEFAULT clock_timestamp())"""
    )
    yield conn
    conn.execute("DROP TABLE ledger_test")
