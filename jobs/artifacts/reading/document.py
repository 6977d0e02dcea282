"""What was read of a file."""

from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any


@dataclass
class Table:
    """Rows of text, the first of them with names if it has any. `count`: how many rows there are below the head; `width`:
    how many columns, where more than these rows have.
    """

    name: str
    head: list[str]
    rows: list[list[str]]
    count: int
    formulas: int = 0
    width: int = 0


@dataclass
class Document:
    """`kind`: the format in a word people know. `text` is what a person reads; `data` is parsed JSON or YAML."""

    name: str
    kind: str
    text: str = ""
    title: str = ""
    headings: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    data: Any = None
    root: str = ""
    """The name of an XML document's first element."""
    named: list[tuple[str, str]] = field(default_factory=list)
    """Values of an XML document's elements and attributes with their names, as many as may tell."""
    facts: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    readable: bool = True
    """False for what holds no text that is read here: an image, a program, an archive."""

    @property
    def suffix(self) -> str:
        """The end of the name, in lower case, without its dot."""
        return PurePosixPath(self.name.replace("\\", "/")).suffix.lower().lstrip(".")

    @property
    def base(self) -> str:
        """The name without folders, in lower case."""
        return self.name.replace("\\", "/").rpartition("/")[2].lower()


class Unreadable(Exception):
    """The file is broken, encrypted, or larger inside than anybody would read; the text says which."""
