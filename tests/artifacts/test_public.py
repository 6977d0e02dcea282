"""What files of public repositories are, as people labelled them before the program saw any: `public.jsonl`.

The files are other people's and are not kept here. `PUBLIC_FILES` names a folder that has them, each named by its git blob id.
"""

import hashlib
import io
import json
import os
from pathlib import Path

import pytest

from jobs.artifacts.analysis.analyse import analyse

LABELLED = [json.loads(line) for line in (Path(__file__).parent / "public.jsonl").read_text().splitlines()]
SETS = sorted({one["set"] for one in LABELLED})
FILES = os.environ.get("PUBLIC_FILES", "")


def test_each_set_is_large_and_its_first_look_is_kept() -> None:
    for name in SETS:
        labels = [one for one in LABELLED if one["set"] == name]
        assert len(labels) >= 40 and len({one["repository"] for one in labels}) >= 10
    right = {name: [one["first"] in one["types"] for one in LABELLED if one["set"] == name] for name in SETS}
    assert {name: f"{sum(ok)} of {len(ok)}" for name, ok in right.items()} == {
        "A": "43 of 56", "B": "48 of 55", "C": "47 of 54", "D": "55 of 61",
    }  # fmt: skip


if FILES:

    @pytest.mark.parametrize("name", SETS)
    def test_the_types_of_public_files_are_right_for_nine_in_ten(name: str) -> None:
        labels, missed = [one for one in LABELLED if one["set"] == name], list[tuple[str, str]]()
        for one in labels:
            data = (Path(FILES) / one["blob"]).read_bytes()
            sha = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
            assert sha == one["blob"], one["path"]
            found = analyse(io.BytesIO(data), one["path"].rpartition("/")[2], []).doc_type
            if found not in one["types"]:
                missed.append((one["path"], found))
        assert len(missed) <= 0.1 * len(labels), missed
