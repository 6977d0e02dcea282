"""How many labels come out right: `python -m tests.artifacts.score`."""

import io
import json
from pathlib import Path

from jobs.artifacts.analysis.analyse import analyse
from tests.artifacts.making import MADE

HERE = Path(__file__).parent


def content(name: str) -> bytes:
    made = name.removeprefix("made/")
    return MADE[made]() if made != name else (HERE / "files" / name).read_bytes()


def wrong(labels: dict[str, str]) -> dict[str, tuple[str, str]]:
    """File → (label, what it was taken for)."""
    found = {name: analyse(io.BytesIO(content(name)), name.rpartition("/")[2], []).doc_type for name in labels}
    return {name: (label, str(found[name])) for name, label in labels.items() if found[name] != label}


if __name__ == "__main__":
    labels = json.loads((HERE / "labels.json").read_text())
    missed = wrong(labels)
    print(f"{len(labels) - len(missed)} of {len(labels)}", *missed.items(), sep="\n")
