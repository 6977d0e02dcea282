"""The rules are right for errors as people reported them, plain and misleading ones."""

import json

import pytest

from tests.domain import learn
from tests.domain.labelled import accuracy, classified, labelled_errors

ERRORS = labelled_errors()
PARTS = sorted({error["part"] for error in ERRORS})


def test_there_are_enough_labelled_errors_and_many_mislead() -> None:
    assert len(ERRORS) >= 1000
    assert sum(error["hard"] for error in ERRORS) >= 400
    assert len({error["msg"] for error in ERRORS}) == len(ERRORS)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(("hard", "least"), [(False, 0.95), (True, 0.85)])
def test_the_rules_are_right_for_most_of_every_part(part: str, hard: bool, least: float) -> None:
    errors = [error for error in ERRORS if error["part"] == part and error["hard"] == hard]
    assert accuracy(errors) >= least


def test_few_errors_are_left_to_the_default() -> None:
    assert sum(classified(error).unclassified for error in ERRORS) <= len(ERRORS) * 0.02


def test_the_weights_were_learnt_from_what_is_there() -> None:
    learnt = json.loads(learn.WEIGHTS.read_text())["of"]
    assert learnt == learn.print_of(learn.examples(lambda error: True)), "run: python -m tests.domain.learn"
