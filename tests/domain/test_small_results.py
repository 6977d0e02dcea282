"""The short way for small, plain results says the same as the thorough one."""

import json

from hypothesis import given
from hypothesis import strategies as st

from jobs.domain import json_output
from jobs.domain.values import clean_json

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(values)
def test_both_ways_store_the_same(value: object) -> None:
    short = clean_json(value)
    cleaner = json_output._Cleaner(1_000_000, 64)
    thorough = cleaner.clean(value)
    if json_output._is_small_and_plain(value, 1_000_000, 64):
        assert not cleaner.notes and thorough == value
        assert json.loads(short.text) == value
    assert short.notes == tuple(cleaner.notes)


def test_the_short_way_is_taken_for_a_usual_result() -> None:
    assert json_output._is_small_and_plain({"ok": True, "urls": ["https://example.org/ä"], "n": 3.5}, 1_000_000, 64)


def test_it_is_not_taken_for_what_must_be_changed() -> None:
    for value in (
        {"a": "\x00"},
        {"a\x00": 1},
        ["\ud800"],
        float("nan"),
        {1: 2},
        2**70,
        (1,),
        {"a": object()},
        "x" * 2000,
    ):
        assert not json_output._is_small_and_plain(value, 1_000_000, 64)
    deep: object = 1
    for _ in range(70):
        deep = [deep]
    assert not json_output._is_small_and_plain(deep, 1_000_000, 64)
