"""Rows of cells: which row names the columns, and CSV in its dialects."""

import csv
import io
import re

from jobs.artifacts.limits import Limits
from jobs.artifacts.reading.document import Table

_NUMBER = re.compile(r"[-+(]?[$€£]?\s?\d[\d.,' ]*\s?(?:%|[$€£])?\)?$")
_DELIMITERS = ",;\t|"


def as_table(name: str, rows: list[list[str]]) -> Table:
    """Takes the first of the top rows that reads like names of columns for the head; titles above it are left out."""
    width = max((sum(1 for cell in row if cell) for row in rows[:50]), default=0)
    for number, row in enumerate(rows[:10]):
        filled = [cell for cell in row if cell.strip()]
        enough = len(filled) >= max(2, 0.6 * width)
        if enough and not any(_NUMBER.match(cell.strip()) or len(cell) > 80 for cell in filled):
            return Table(name, [cell.strip() for cell in row], rows[number + 1 :], len(rows) - number - 1)
    return Table(name, [], rows, len(rows))


def table_text(table: Table) -> str:
    """The table as lines, for what reads text."""
    lines = [table.head, *table.rows[:500]] if table.head else table.rows[:500]
    return "\n".join(" | ".join(cell for cell in row if cell and not cell.startswith("=")) for row in lines)


def read_csv(text: str, limits: Limits) -> Table | None:
    """The table that a text is; None when its lines have no columns in common."""
    lines = [line for line in text.split("\n")[:60] if line.strip()]
    if len(lines) < 2:
        return None
    delimiter = max(_DELIMITERS, key=lambda mark: _evenness(lines, mark))
    if _evenness(lines, delimiter) < 0.8:
        return None
    csv.field_size_limit(1_000_000)
    rows, count, width = list[list[str]](), 0, 0
    try:
        for row in csv.reader(io.StringIO(text), delimiter=delimiter):
            if not any(cell.strip() for cell in row):
                continue
            count += 1
            width = max(width, len(row))
            if len(rows) < limits.rows:
                rows.append([cell.strip()[: limits.cell_chars] for cell in row[: limits.columns]])
    except csv.Error:
        if len(rows) < 2:
            return None
    if not rows:
        return None
    table = as_table("", rows)
    table.width = width if width > limits.columns else 0
    table.count = max(count - (len(rows) - len(table.rows)), 0)
    return table


def _evenness(lines: list[str], mark: str) -> float:
    """The share of rows with as many columns as most of them have; 0 where that is one column."""
    try:
        widths = [len(row) for row in csv.reader(lines, delimiter=mark) if row]
    except csv.Error:
        return 0.0
    usual = max(set(widths), key=widths.count) if widths else 1
    return widths.count(usual) / len(widths) if usual > 1 else 0.0
