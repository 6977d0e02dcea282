"""Limits of time and choices of the planner hold within each other, in a transaction and without one."""

from collections.abc import Iterator
from contextlib import nullcontext, suppress

import pytest
from django.db import connection, transaction

from jobs.console.queries.db import TooSlow, fetch_one, limited, one_snapshot, planned

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(params=["each statement alone", "in a transaction", "in one snapshot"])
def around(request: pytest.FixtureRequest) -> Iterator[None]:
    """What the statements are in."""
    kinds = {"in a transaction": transaction.atomic, "in one snapshot": one_snapshot}
    with kinds.get(request.param, nullcontext)():
        yield


def setting(name: str) -> str:
    row = fetch_one("SELECT current_setting(%(name)s) AS value", {"name": name})
    return str(row["value"]) if row else ""


@pytest.mark.usefixtures("around")
def test_a_limit_around_another_holds_again_after_it() -> None:
    with limited(2):
        with limited(1):
            assert setting("statement_timeout") == "1s"
        assert setting("statement_timeout") == "2s"
        with pytest.raises(TooSlow), limited(0.05):
            fetch_one("SELECT pg_sleep(1)")
        assert setting("statement_timeout") == "2s"
    assert setting("statement_timeout") == "0"


@pytest.mark.usefixtures("around")
def test_what_the_planner_was_told_around_holds_again_after_it() -> None:
    with planned(seqscan=False):
        with planned(seqscan=False, bitmapscan=False):
            assert (setting("enable_seqscan"), setting("enable_bitmapscan")) == ("off", "off")
        assert (setting("enable_seqscan"), setting("enable_bitmapscan")) == ("off", "on")
    assert setting("enable_seqscan") == "on"
    with suppress(KeyError), planned(seqscan=False):
        assert setting("enable_seqscan") == "off"
        raise KeyError
    assert setting("enable_seqscan") == "on"


def test_a_limit_costs_no_journey_of_its_own() -> None:
    """Each is one more wait on a busy server, and a page has a dozen limited reads."""
    said = []

    def listen(execute, sql, params, many, context):  # type: ignore[no-untyped-def]
        said.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(listen), limited(), planned(seqscan=False):
        assert setting("statement_timeout") == "2s"
    assert len(said) == 1


def test_a_statement_in_parts_is_limited_too() -> None:
    with pytest.raises(TooSlow), limited(0.05), transaction.atomic(), connection.chunked_cursor() as cursor:
        cursor.execute("SELECT pg_sleep(1)")
        cursor.fetchall()
