"""Caps as people set them: exact, versioned, with an end that comes once."""

from datetime import timedelta
from typing import Any

import pytest

from jobs.domain.errors import CapChanged, InvalidInput
from jobs.queue import caps
from jobs.queue.caps import Cap, Wanted
from jobs.queue.gate import read
from tests.queue.helpers import claim, insert

FIVE = Wanted(Cap(5))


def change(conn: Any, wanted: Wanted, seen: int | None = None, kind: str = "tenant", name: str = "acme") -> Any:
    return caps.change(kind, name, wanted, seen=seen, actor="kim", using=conn)


def end_now(conn: Any, table: str = "tenant_setting") -> None:
    conn.execute(f"UPDATE {table} SET ends_at = clock_timestamp() - interval '1 ms'")


def in_force(conn: Any) -> int | None:
    return conn.execute("SELECT detiq_tenant_cap('acme', 4)").fetchone()[0]


@pytest.mark.parametrize(
    ("text", "means"), [("", Cap()), ("default", Cap()), ("0", Cap(0)), (" 3 ", Cap(3)), ("unlimited", Cap(None, True))]
)
def test_zero_is_no_unlimited_and_empty_is_the_default(text: str, means: Cap) -> None:
    assert Cap.parse(text) == means


@pytest.mark.parametrize("text", ["-1", "abc", "99999999999", "100001", "1.5", "1e3", "٣", "+5", "0x10", "none", "∞"])
def test_what_is_no_cap_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidInput) as error:
        Cap.parse(text)
    assert error.value.field == "cap"


def test_a_cap_holds_from_its_commit_and_lowering_it_stops_nothing(conn: Any) -> None:
    for n in range(20):
        insert(conn, f"j{n}")
    assert len(claim(conn, 10).jobs) == 4
    change(conn, FIVE)
    assert len(claim(conn, 10).jobs) == 1
    change(conn, Wanted(Cap(2)))
    assert not claim(conn, 10).jobs
    assert conn.execute("""SELECT count(*) FROM "PlatformJob" WHERE status = 'RUNNING'""").fetchone()[0] == 5
    change(conn, Wanted(Cap(unlimited=True)))
    assert len(claim(conn, 50).jobs) == 15


def test_zero_suspends_and_the_default_comes_back(conn: Any) -> None:
    insert(conn, "j")
    change(conn, Wanted(Cap(0)))
    assert not claim(conn, 10).jobs
    change(conn, Wanted(Cap()))
    assert in_force(conn) == 4 and len(claim(conn, 10).jobs) == 1


def test_who_saw_an_older_version_changes_nothing(conn: Any) -> None:
    _, first = change(conn, Wanted(Cap(5), weight=3), seen=0)
    for seen in (0, 7):
        with pytest.raises(CapChanged, match="kim"):
            change(conn, Wanted(Cap(9)), seen=seen)
    now = caps.of("tenant", "acme", conn)
    assert (now.cap, now.weight, now.version) == (Cap(5), 3, first.version)
    change(conn, Wanted(Cap(6), weight=3), seen=first.version)
    assert caps.of("tenant", "acme", conn).version == first.version + 1


def test_two_at_once_make_one_change(conn: Any, make_conn: Any) -> None:
    other = make_conn()
    with other.transaction():
        change(other, FIVE, seen=0)
        conn.execute("SET lock_timeout = '100ms'")
        with pytest.raises(Exception, match="lock timeout"):  # it waits for the other's commit
            change(conn, Wanted(Cap(9)), seen=0)
    with pytest.raises(CapChanged):
        change(conn, Wanted(Cap(9)), seen=0)
    assert in_force(conn) == 5


def test_an_end_leads_back_to_what_was_before_it_and_a_second_end_too(conn: Any) -> None:
    change(conn, FIVE)
    change(conn, Wanted(Cap(0), ends_in_seconds=3600))
    _, now = change(conn, Wanted(Cap(9), ends_in_seconds=60))
    assert (now.in_force, now.previous, now.temporary) == (Cap(9), Cap(5), True)
    kept, _ = change(conn, Wanted(Cap(8), keeps_end=True))
    assert caps.of("tenant", "acme", conn).ends_at == kept.ends_at
    end_now(conn)
    assert in_force(conn) == 5  # by the database's clock, before any sweep


def test_its_end_comes_once_with_two_sweeps_is_audited_and_kept(conn: Any, make_conn: Any) -> None:
    change(conn, FIVE)
    change(conn, Wanted(Cap(0), weight=2, note="month end", ends_in_seconds=3600))
    change(conn, Wanted(Cap(unlimited=True), max_run_seconds=60, ends_in_seconds=60), kind="type", name="CRAWL")
    end_now(conn)
    end_now(conn, "type_setting")
    assert sorted(caps.expire(100, actor="sweep", using=make_conn())) == ["tenant acme", "type CRAWL"]
    assert caps.expire(100, actor="sweep", using=conn) == []
    now = caps.of("tenant", "acme", conn)
    assert (now.cap, now.ends_at, now.previous, now.weight, now.note) == (Cap(5), None, Cap(), 2, "month end")
    assert caps.of("type", "CRAWL", conn).max_run_seconds == 60
    entries = conn.execute(
        "SELECT actor, action, target, before ->> 'cap', after -> 'cap' FROM audit_entry ORDER BY action"
    ).fetchall()
    assert entries == [
        ("sweep", "cap", "tenant acme", "0", 5),
        ("sweep", "type_cap", "type CRAWL", "unlimited", "default"),
    ]
    history = read(conn)
    moment = conn.execute("SELECT clock_timestamp()").fetchone()[0]
    assert history.tenant_cap("acme", 4, moment) == 5


def test_a_form_from_before_the_end_is_told(conn: Any) -> None:
    _, seen = change(conn, Wanted(Cap(0), ends_in_seconds=60))
    end_now(conn)
    with pytest.raises(CapChanged):
        change(conn, Wanted(Cap(0), keeps_end=True), seen=seen.version)
    caps.expire(100, actor="sweep", using=conn)
    with pytest.raises(CapChanged, match="sweep"):
        change(conn, FIVE, seen=seen.version)


@pytest.mark.parametrize(
    ("wanted", "field"),
    [(Wanted(Cap(), weight=0), "weight"), (Wanted(Cap(), weight=1001), "weight"), (Wanted(Cap(), note="x" * 2001), "note"),
     (Wanted(Cap(), max_run_seconds=0), "max_run_seconds"), (Wanted(Cap(), ends_in_seconds=-1), "until")],
)  # fmt: skip
def test_what_is_out_of_range_is_named_and_changes_nothing(conn: Any, wanted: Wanted, field: str) -> None:
    with pytest.raises(InvalidInput) as error:
        change(conn, wanted)
    assert error.value.field == field and caps.of("tenant", "acme", conn).version == 0


def test_what_lasts_and_what_ends_by_itself(conn: Any) -> None:
    _, now = change(conn, FIVE)
    hour = timedelta(hours=1).total_seconds()
    assert Wanted(Cap(9)).is_lasting(now) and Wanted(Cap(5), weight=2).is_lasting(now)
    assert not Wanted(Cap(9), ends_in_seconds=hour).is_lasting(now) and not Wanted(Cap(5), note="hello").is_lasting(now)
