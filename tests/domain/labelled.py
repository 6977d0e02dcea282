"""The labelled errors, and how right the rules are for them."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jobs.domain.classification import Classification, FailureSign, classify

DATA = Path(__file__).parent / "data"


def labelled_errors() -> list[dict[str, Any]]:
    """Messages as people reported them; `part` says when they were collected.

    `tuning` is from before the rules. `held-out` and each of `fresh-1`, `fresh-2` … was frozen before the rules were asked,
    measured once (docs/failures.md has these figures) and only then learnt from.
    """
    return [json.loads(line) for line in (DATA / "errors_labelled.jsonl").read_text().splitlines()]


def sign_of_labelled(error: dict[str, Any]) -> FailureSign:
    exceptions = (error["exc"],) if error["exc"] else ()
    statuses = (error["status"],) if error["status"] else ()
    return FailureSign(error["msg"], exceptions, statuses)


def classified(error: dict[str, Any]) -> Classification:
    return classify(sign_of_labelled(error))


def is_right(error: dict[str, Any]) -> bool:
    """Whether the rules say what the label says; a few messages may be read in two ways."""
    return classified(error).failure_type in (error["label"], error.get("also"))


def accuracy(errors: Iterable[dict[str, Any]]) -> float:
    answers = [is_right(error) for error in errors]
    return sum(answers) / len(answers)
