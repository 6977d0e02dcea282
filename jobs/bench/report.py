"""What was found: a table for people, JSON for machines."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

type Cell = str | int | float | bool | None


@dataclass
class Section:
    """One scenario's rows. A column's name ends in its unit: `_ms`, `_s`, `_per_s`, `_ratio`; else it is a text or a count.

    `target` says in words what a row should reach; `ok` of a row, where it is there, says whether it did.
    """

    name: str
    title: str
    rows: list[dict[str, Cell]] = field(default_factory=list)
    target: str = ""
    notes: list[str] = field(default_factory=list)


@dataclass
class Report:
    machine: dict[str, str | int]
    sections: list[Section] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=2) + "\n")


def show_machine(console: Console, machine: dict[str, str | int], notes: Sequence[str] = ()) -> None:
    console.print("  ".join(f"{name} {value}" for name, value in machine.items()), style="dim", markup=False)
    for note in notes:
        console.print(note, markup=False)


def show(console: Console, section: Section) -> None:
    columns = _columns(section.rows)
    table = Table(title=section.title, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        texts = all(isinstance(row.get(column), (str, type(None))) for row in section.rows)
        table.add_column(_heading(column), justify="left" if texts else "right")
    for row in section.rows:
        table.add_row(*[_text(column, row.get(column)) for column in columns])
    console.print(table)
    if section.target:
        console.print(f"target: {section.target}", style="dim", markup=False)
    for note in section.notes:
        console.print(note, style="dim", markup=False)
    console.print()


def percentile(values: Sequence[float], share: float) -> float:
    """By the nearest rank; NaN is never returned: an empty sample is an error of the caller."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def ratio(ours: float | None, theirs: float | None) -> float | None:
    return round(ours / theirs, 2) if ours is not None and theirs else None


def _columns(rows: Iterable[dict[str, Cell]]) -> list[str]:
    return list(dict.fromkeys(column for row in rows for column in row))


def _heading(column: str) -> str:
    return column.replace("_per_s", " /s").replace("_ratio", " ×").replace("_", " ")


def _text(column: str, value: Cell) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if column.endswith("_per_s") or isinstance(value, int):
        return f"{value:,.0f}"
    return f"{value:,.2f}" if isinstance(value, float) else value
