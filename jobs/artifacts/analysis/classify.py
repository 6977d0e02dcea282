"""The type of a document: by its form where that is certain, else by points for what it says."""

import re
from collections import Counter
from typing import Any

from jobs.artifacts.analysis.columns import scores as column_scores
from jobs.artifacts.analysis.signals import NAMES, SIGNALS
from jobs.artifacts.analysis.structure import by_structure
from jobs.artifacts.doctypes import BY_CONTENT, DocType
from jobs.artifacts.reading.document import Document

ENOUGH = 5.0
_TITLE, _HEADING, _NAME = 4.0, 1.5, 3.0
_TEXT_CHARS = 60_000
_DATA_NAME = re.compile(r"\bdata\b|\bdaten\b")
_MOST_KEYS = 20
_GRIDS = ("Excel workbook", "OpenDocument spreadsheet")


def classify(document: Document) -> tuple[DocType, DocType | None]:
    """The type, and the same if the content alone says so and wins over what a model says."""
    if not document.readable or not (document.text.strip() or document.data or document.root or document.title):
        return DocType.OTHER, None
    certain = by_structure(document)
    if certain is not None:
        return certain, certain if certain in BY_CONTENT else None
    return _by_points(document), None


def _by_points(document: Document) -> DocType:
    if document.facts.get("language") and not document.tables:
        return DocType.OTHER  # code of no tests: it says nothing of itself in prose
    points = prose(document)
    grid = document.kind in _GRIDS
    for doc_type, value in column_scores(document.tables, grid).items():
        # In prose a table is one part of many; a table by itself is all there is.
        points[doc_type] += value if grid or document.kind.endswith("table") else value * 0.6  # type: ignore[assignment]
    records = _records(document.data)
    if records:
        points[DocType.TEST_DATA] += records  # type: ignore[assignment]
    best, most = max(points.items(), key=lambda item: item[1], default=(DocType.OTHER, 0.0))
    if most >= ENOUGH:
        return best
    return DocType.SPREADSHEET if grid or document.kind.endswith("table") else DocType.OTHER


def prose(document: Document) -> Counter[DocType]:
    """Points for what the text, its headings, its title and its name say."""
    text = document.text[:_TEXT_CHARS]
    headings = "\n".join(document.headings[:60])
    # A table's cells are judged by their columns, and keys of data are no sentences.
    held = (
        document.kind.endswith("table")
        or document.kind == "Excel workbook"
        or document.data is not None
        or document.root
    )
    worth = 0.4 if held else 1.0
    points: Counter[DocType] = Counter()
    titled: set[DocType] = set()
    for signal in SIGNALS:
        n = min(signal.most, sum(1 for _ in zip(range(signal.most), signal.pattern.finditer(text), strict=False)))
        points[signal.doc_type] += signal.weight * n * worth  # type: ignore[assignment]
        if signal.title:
            if signal.pattern.search(document.title):
                titled.add(signal.doc_type)
                points[signal.doc_type] += signal.weight * _TITLE * 0.6  # type: ignore[assignment]
            in_headings = len(signal.pattern.findall(headings))
            points[signal.doc_type] += signal.weight * _HEADING * 0.4 * min(in_headings, 3)  # type: ignore[assignment]
    name = re.sub(
        r"[\W_\d]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", document.name.rpartition(".")[0] or document.name)
    ).lower()
    for doc_type, pattern in NAMES:
        if pattern.search(name):
            points[doc_type] += _NAME * (2 if doc_type in titled else 1)  # type: ignore[assignment]
    if held and _DATA_NAME.search(name):
        points[DocType.TEST_DATA] += _NAME if "test" not in name else ENOUGH  # type: ignore[assignment]
    return points


def _records(data: Any) -> float:
    """Points for being records: a list of objects with the same keys, or such lists under a few names."""
    lists = [data] if isinstance(data, list) else list(data.values())[:20] if isinstance(data, dict) else []
    if isinstance(data, dict) and all(isinstance(value, dict) for value in data.values()):
        lists = [list(data.values())]  # records by name
    best = 0.0
    for rows in lists:
        if not (isinstance(rows, list) and len(rows) >= 2 and all(isinstance(row, dict) for row in rows[:50])):
            continue
        keys = Counter(key for row in rows[:50] for key in row)
        shared = sum(count >= 0.6 * min(len(rows), 50) for count in keys.values())
        if 2 <= shared <= _MOST_KEYS:  # more is what a program says of itself
            best = max(best, 5.5)
    return best
