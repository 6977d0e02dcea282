"""Limits of time and choices of the planner hold within each other."""

import pytest

from jobs.console.queries.db import TooSlow, fetch_one, limited, planned

pytestmark = pytest.mark.django_db


def setting(name: str) -> str:
    row = fetch_one("SELECT current_setting(%(name)s) AS value", {"name": name})
    return str(row["value"]) if row else ""


def test_a_limit_around_another_holds_again_after_it() -> None:
    with limited(2):
        with limited(1):
            assert setting("statement_timeout") == "1s"
        assert setting("statement_timeout") == "2s"
        with pytest.raises(TooSlow), limited(0.05):
            fetch_one("SELECT pg_sleep(1)")
        assert setting("statement_timeout") == "2s"
    assert setting("statement_timeout") == "0"


def test_what_the_planner_was_told_around_holds_again_after_it() -> None:
    with planned(seqscan=False):
        with planned(seqscan=False, bitmapscan=False):
            assert (setting("enable_seqscan"), setting("enable_bitmapscan")) == ("off", "off")
        assert (setting("enable_seqscan"), setting("enable_bitmapscan")) == ("off", "on")
    assert setting("enable_seqscan") == "on"
