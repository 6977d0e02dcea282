"""What PostgreSQL refuses or no page can show is cleaned, or refused with its place."""

import json
import math
import time
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.domain.errors import InvalidInput
from jobs.domain.values import (
    check_json,
    clean_json,
    clean_text,
    depth_of,
    human_size,
    json_text,
    parse_json,
    utf8_size,
)

any_text = st.text(st.characters(exclude_categories=()), max_size=50)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    any_text,
    st.decimals(),
    st.binary(max_size=20),
    st.datetimes(),
    st.uuids(),
)
anything = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.dictionaries(st.one_of(any_text, st.integers(), st.none()), inner, max_size=5),
        st.tuples(inner, inner),
        st.sets(st.integers(), max_size=3),
    ),
    max_leaves=20,
)
storable = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(st.characters(exclude_categories=["Cs"]), max_size=20)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text("abcé", max_size=5), inner, max_size=4)
    ),
    max_leaves=15,
)


class Hostile:
    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __str__


@dataclass
class Page:
    url: str
    status: int


def deep_list(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


# Text


def test_nul_and_lone_surrogates_are_replaced_and_pairs_joined() -> None:
    assert clean_text("a\x00b\ud800c\ud83d\ude00") == "a\ufffdb\ufffdc😀"


def test_a_cut_text_says_how_much_was_cut() -> None:
    cut = clean_text("x" * 1_200_000, 64_000)
    assert cut.endswith("… [cut: 64 kB of 1.2 MB]")
    assert utf8_size(cut) <= 64_000


@given(any_text, st.integers(0, 200))
def test_a_cleaned_text_can_be_stored_and_keeps_its_limit(text: str, limit: int) -> None:
    cleaned = clean_text(text * 10, limit)
    assert len(cleaned.encode()) <= limit
    assert "\x00" not in cleaned


def test_a_text_within_its_limit_is_untouched() -> None:
    assert clean_text("as it is — 100 %", 100) == "as it is — 100 %"


def test_what_cannot_be_read_is_named() -> None:
    assert clean_text(Hostile(), 100) == "<Hostile that cannot be shown: RuntimeError>"


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (1_250_000, "1.2 MB"), (64_000, "64 kB"), (10**9, "1 GB")],
)
def test_sizes_are_readable(size: int, text: str) -> None:
    assert human_size(size) == text


# JSON of our own


@given(anything)
def test_anything_becomes_json_that_can_be_stored(value: Any) -> None:
    cleaned = clean_json(value, max_bytes=2_000)
    assert utf8_size(cleaned.text) <= 2_000
    read = json.loads(cleaned.text, parse_constant=pytest.fail)
    assert check_json(cleaned.text) is not None or read is None
    assert "\x00" not in cleaned.text


@given(storable)
def test_what_can_be_stored_is_unchanged(value: Any) -> None:
    cleaned = clean_json(value, max_bytes=100_000)
    if "\x00" not in json.dumps(value, ensure_ascii=False).replace("\\u0000", "\x00"):
        assert json.loads(cleaned.text) == value
        assert cleaned.notes == ()


def test_every_change_is_noted_with_its_place() -> None:
    cleaned = clean_json({"text": "ab\x00cd", "k\x00ey": 1, "list": [1, ["x\x00"]], "n": math.nan, "i": -math.inf})
    assert cleaned.value == {
        "text": "ab\ufffdcd",
        "k\ufffdey": 1,
        "list": [1, ["x\ufffd"]],
        "n": "NaN",
        "i": "-Infinity",
    }
    assert [note.partition(":")[0] for note in cleaned.notes] == ["$.text", "$", "$.list[1][0]", "$.n", "$.i"]


def test_six_literal_characters_are_no_nul() -> None:
    cleaned = clean_json({"text": "\\u0000"})
    assert json.loads(cleaned.text) == {"text": "\\u0000"} and cleaned.notes == ()


def test_what_json_has_no_type_for_becomes_text() -> None:
    moment, identifier = datetime(2026, 1, 2, tzinfo=UTC), uuid.UUID(int=1)
    cleaned = clean_json({"t": moment, "u": identifier, "p": Path("/a"), "b": b"ab", "s": {1}, "d": Page("u", 1)})
    assert cleaned.value == {
        "t": "2026-01-02T00:00:00+00:00",
        "u": str(identifier),
        "p": "/a",
        "b": "ab",
        "s": [1],
        "d": {"url": "u", "status": 1},
    }


def test_decimals_stay_numbers_with_all_their_digits() -> None:
    assert clean_json({"d": Decimal("1.10"), "n": Decimal("NaN")}).text == '{"d": 1.10, "n": "NaN"}'


def test_integers_that_python_cannot_print_are_cut() -> None:
    assert "5,001 digits" in clean_json([10**5000]).value[0]


@pytest.mark.parametrize("levels", [150, 990, 100_000])
def test_a_deep_value_is_cut_without_recursion(levels: int) -> None:
    cleaned = clean_json({"a": deep_list(levels)})
    assert depth_of(cleaned.text) == 64
    assert "deeper than 64 levels" in cleaned.text


def test_a_value_that_holds_itself_ends() -> None:
    value: dict[str, Any] = {}
    value["self"] = [value]
    assert clean_json(value).value == {"self": ["… [refers to itself]"]}


def test_a_value_held_twice_is_written_twice() -> None:
    shared = [1]
    assert clean_json([shared, shared]).value == [[1], [1]]


def test_a_big_value_is_cut_and_marked_in_a_moment() -> None:
    started = time.perf_counter()
    cleaned = clean_json({"pages": ["x" * 1000] * 60_000}, max_bytes=100_000)
    assert 50_000 < utf8_size(cleaned.text) <= 100_000
    assert "more]" in cleaned.text and cleaned.notes
    assert time.perf_counter() - started < 1


def test_a_hostile_mapping_keeps_nothing_from_ending() -> None:
    class Broken(dict[str, int]):
        def items(self) -> Any:
            yield ("a", 1)
            raise OSError("gone")

    assert clean_json({"b": Broken(a=1), "h": Hostile()}).value["b"] == {"a": 1}


# JSON at the door


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (r'{"a": "\u0000"}', "$.a: a NUL"),
        (r'{"k\u0000ey": 1}', "$, key"),
        (r'[1, {"x": "\ud800"}]', "$[1].x: a lone surrogate"),
        ('{"a": NaN}', "$.a: nan"),
        ("[-Infinity]", "$[0]: -inf"),
        ('{"n": 1e400}', "$.n: 1E+400"),
        ("[" * 65 + "]" * 65, "deeper than 64"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "deeper than 64"),
        ('"' + "x" * 2_000_000 + '"', "too big: 2 MB, at most 1 MB"),
        ("1" * 5000, "5,000 digits"),
        ("{bad", "is not JSON"),
        ("", "is not JSON"),
    ],
)
def test_what_cannot_be_stored_is_refused_with_its_place(text: str, place: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_json(text, field="config")
    assert refused.value.field == "config"
    assert place in refused.value.message


def test_a_value_is_checked_like_its_text() -> None:
    for value in ({"a": "\x00"}, [float("nan")], deep_list(65), {1: 2}, [{1}], 10**5000):
        with pytest.raises(InvalidInput):
            check_json(value)
    assert check_json({"a": [1, "b", None, 1.5]}) == {"a": [1, "b", None, 1.5]}


def test_the_largest_allowed_depth_is_taken() -> None:
    assert depth_of("[" * 64 + "]" * 64) == 64
    check_json("[" * 64 + "]" * 64)


def test_brackets_in_strings_are_no_depth() -> None:
    assert depth_of(r'{"a": "[[[[\"[["}') == 1


def test_numbers_are_read_exactly() -> None:
    text = '{"id": 1970670598291982290, "big": 123456789012345678901234567890, "f": 0.1, "e": 1E+400, "z": 0.10}'
    value = parse_json(text)
    assert value["f"] == Decimal("0.1")
    assert json_text(value) == text


@pytest.mark.parametrize("text", ["1" + "0" * 5000, "[1e99999999999999999999]", "[" * 20_000 + "]" * 20_000])
def test_what_cannot_be_read_is_a_clean_error(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_json(text)


@given(storable)
def test_what_is_written_is_read_back(value: Any) -> None:
    assert parse_json(json_text(value)) == value
