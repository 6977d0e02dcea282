"""Rows as CSV or JSON, a few at a time. CSV is safe to open in a spreadsheet: no text in it begins like a formula."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

type Value = str | int | bool | None

# What a spreadsheet takes for the beginning of a formula, also in full width and after blanks and what cannot be seen.
_FORMULA = re.compile("[\\s\u200b-\u200f\u2060\ufeff]*[=+\\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
_STAMP = re.compile(r"(\d{4,6}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)\+00")


def guarded(value: Value) -> Value:
    """A text with an apostrophe before what would run as a formula. Numbers stay numbers, whatever their sign."""
    return "'" + value if isinstance(value, str) and _FORMULA.match(value) else value


def moment(text: str | None) -> str | None:
    """A time as PostgreSQL writes it in UTC, as ISO 8601 with offset."""
    if text is None:
        return None
    found = _STAMP.fullmatch(text)
    return f"{found[1]}T{found[2]}+00:00" if found else text


class Csv:
    """Text columns are guarded; no value is an empty cell."""

    kind, ending = "text/csv", "csv"

    def head(self, names: Sequence[str]) -> bytes:
        return self._lines([names], csv.QUOTE_MINIMAL)

    def rows(self, names: Sequence[str], rows: Iterable[Sequence[Value]], first: bool) -> bytes:
        return self._lines([["" if one is None else _plain(guarded(one)) for one in row] for row in rows])

    def foot(self) -> bytes:
        return b""

    def _lines(self, rows: Iterable[Sequence[Any]], quoting: Literal[0, 4] = csv.QUOTE_STRINGS) -> bytes:
        """Texts in quotes: where semicolons or tabs are separators too, no cell begins inside one."""
        out = io.StringIO(newline="")
        csv.writer(out, quoting=quoting).writerows(rows)
        return out.getvalue().encode()


class Json:
    """One array of objects, one a line. What is stored, unchanged."""

    kind, ending = "application/json", "json"

    def head(self, names: Sequence[str]) -> bytes:
        return b"["

    def rows(self, names: Sequence[str], rows: Iterable[Sequence[Value]], first: bool) -> bytes:
        text = ",\n".join(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) for row in rows)
        return (("\n" if first else ",\n") + text).encode()

    def foot(self) -> bytes:
        return b"\n]\n"


FORMS: dict[str, Callable[[], Csv | Json]] = {"csv": Csv, "json": Json}


def _plain(value: Value) -> str | int | None:
    return str(value).lower() if isinstance(value, bool) else value
