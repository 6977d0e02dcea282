"""How much of a file is read, and how long. Whatever a file claims of itself, its reader ends here."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Sizes in bytes, texts in characters, times in seconds."""

    seconds: float = 60.0
    memory_bytes: int = 1_500_000_000
    text_bytes: int = 4_000_000
    """Of a plain text, JSON or YAML file."""
    yaml_chars: int = 400_000
    """Of a YAML document: its reader is slow."""
    text_chars: int = 1_000_000
    """Of what a person reads in it, all formats."""
    unpacked_bytes: int = 60_000_000
    """Of all parts of an archive that are read, together, counted while they are unpacked."""
    part_bytes: int = 30_000_000
    entries: int = 5_000
    """Parts of an archive."""
    pages: int = 200
    sheets: int = 20
    rows: int = 2_000
    columns: int = 200
    cell_chars: int = 300
    depth: int = 100
    """Levels of JSON and YAML."""
    unclosed: int = 10_000
    """Elements of an HTML page that are opened and never closed: its reader takes the square of them."""
    nodes: int = 300_000
    """Values of a YAML document, aliases counted where they stand."""


LIMITS = Limits()
