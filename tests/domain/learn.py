"""Learns the weights of `jobs.domain.evidence` anew: `python -m tests.domain.learn`, a minute or two.

From the labelled messages, from what errors of each type typically say (`data/typical.txt`, `data/written.txt`), and from the
built-in rules' own phrases, which count less. A plain multinomial logistic regression by AdaGrad; the order of the examples is
fixed, so the same data give the same weights.
"""

import hashlib
import json
import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jobs.domain import evidence
from jobs.domain.classification import read
from jobs.domain.failures import FailureType
from jobs.domain.rules import BUILT_IN, Sign
from jobs.domain.signs import FailureSign
from tests.domain.labelled import DATA, labelled_errors, sign_of_labelled

WEIGHTS = Path(evidence.__file__).parent / "rules" / "weights.json"
TYPES = [kind.value for kind in FailureType]
EPOCHS, STEP, SHRINK = 30, 1.0, 1e-5
TYPICAL_COUNTS, PHRASE_COUNTS = 0.6, 0.3
LEAST_WEIGHT = 1.2

Example = tuple[tuple[str, ...], int, float]


@dataclass(frozen=True)
class Learnt:
    """Weights by feature, and in how many of how many examples each is."""

    weights: dict[str, list[float]]
    often: Counter[str]
    examples: int


def main() -> None:
    """Writes `weights.json` from everything that is labelled."""
    rows = examples(lambda error: True)
    weights = learn(rows)
    found = {"of": print_of(rows)} | as_file(weights)
    WEIGHTS.write_text(json.dumps(found, ensure_ascii=False, separators=(",", ":")).replace("],", "],\n"))
    sys.stdout.write(f"{len(weights.weights)} features, {WEIGHTS.stat().st_size:,} bytes\n")


def examples(wanted: Callable[[dict[str, Any]], bool]) -> list[Example]:
    """What is learnt from: features, type, how much it counts."""
    labelled = [(sign_of_labelled(error), error["label"], 1.0) for error in labelled_errors() if wanted(error)]
    rows = [*labelled, *typical(), *phrases()]
    return [(_features(sign), TYPES.index(label), counts) for sign, label, counts in rows]


def print_of(rows: list[Example]) -> str:
    """Tells what weights were learnt from: the same examples have the same print."""
    plain = [(sorted(features), label, counts) for features, label, counts in rows]
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()[:16]


def typical() -> Iterator[tuple[FailureSign, str, float]]:
    """The lines of `typical.txt` and `written.txt`: `F: a | b` are short ones, `F | class | status | text` is a whole one."""
    for line in [line for name in ("typical.txt", "written.txt") for line in (DATA / name).read_text().splitlines()]:
        kind = next((kind for kind in TYPES if line[:1] == kind[0]), None)
        if kind and line[1:2] == ":":
            yield from ((FailureSign(part.strip()), kind, TYPICAL_COUNTS) for part in line[2:].split(" | "))
        elif kind and line[1:3] == " |":
            name, status, text = (part.strip() for part in line[3:].split("|", 2))
            yield FailureSign(text, (name,) if name else (), (int(status),) if status else ()), kind, 1.0


def phrases() -> Iterator[tuple[FailureSign, str, float]]:
    """The built-in rules' own phrases, codes and class names."""
    for rule in BUILT_IN:
        if rule.sign in (Sign.PHRASE, Sign.CODE, Sign.EXCEPTION):
            for part in rule.pattern.split(" | "):
                text = part.replace(" * ", " x ").replace("*", "").replace("?", "").strip()
                named = rule.sign is Sign.EXCEPTION
                sign = FailureSign("" if named else text, (text,) if named else ())
                yield sign, rule.failure_type.value, PHRASE_COUNTS


def _features(sign: FailureSign) -> tuple[str, ...]:
    seen = read(sign)
    found = evidence.read_features(seen.said, seen.named, seen.class_name, seen.exceptions, seen.codes, seen.status)
    return tuple(dict.fromkeys(found))


def learn(rows: list[Example]) -> Learnt:
    """The weights of each feature, `` being the start, and in how many examples each is.

    A feature counts by how rare it is, and an example's features add up to the length of one: else a long message would be
    judged by its most common words, and be sure of it.
    """
    often = Counter(feature for features, _, _ in rows for feature in features)
    rarity = {feature: evidence.rarity(n, len(rows)) for feature, n in often.items()}
    weights = {feature: [0.0] * len(TYPES) for feature in ("", *often)}
    squares = {feature: [1e-3] * len(TYPES) for feature in weights}
    order, rng = list(rows), random.Random(1)
    for _ in range(EPOCHS):
        rng.shuffle(order)
        for features, label, counts in order:
            length = math.sqrt(sum(rarity[feature] ** 2 for feature in features)) or 1.0
            values = [("", 1.0), *((feature, rarity[feature] / length) for feature in features)]
            _step(weights, squares, values, label, counts)
    return Learnt(weights, often, len(rows))


def _step(
    weights: dict[str, list[float]],
    squares: dict[str, list[float]],
    values: list[tuple[str, float]],
    label: int,
    counts: float,
) -> None:
    mine = [weights[feature] for feature, _ in values]
    scores = [
        sum(weight[i] * value for weight, (_, value) in zip(mine, values, strict=True)) for i in range(len(TYPES))
    ]
    top = max(scores)
    shares = [math.exp(score - top) for score in scores]
    total = sum(shares)
    pulls = [counts * (share / total - (i == label)) for i, share in enumerate(shares)]
    for (feature, value), weight in zip(values, mine, strict=True):
        square = squares[feature]
        for i, pull in enumerate(pulls):
            slope = pull * value + SHRINK * counts * weight[i]
            square[i] += slope * slope
            weight[i] -= STEP * slope / math.sqrt(square[i])


def as_file(found: Learnt) -> dict[str, Any]:
    """As it is kept: hundredths and in how many examples it is, without the features that hardly matter."""
    kept = {
        name: [*_hundredths(values), found.often[name]]
        for name, values in sorted(found.weights.items())
        if name and _matters(values)
    }
    return {"types": TYPES, "start": _hundredths(found.weights[""]), "examples": found.examples, "weights": kept}


def _matters(values: Iterable[float]) -> bool:
    return max(map(abs, values)) >= LEAST_WEIGHT


def _hundredths(values: Iterable[float]) -> list[int]:
    return [round(value * 100) for value in values]


if __name__ == "__main__":
    main()
