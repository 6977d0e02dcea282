"""Learns the weights of `jobs.domain.evidence` anew: `python -m tests.domain.learn`, a minute or two.

From the labelled messages, from what errors of each type typically say (`data/typical.txt`), and from the built-in
rules' own phrases, which count less. A plain multinomial logistic regression with shrinking, by AdaGrad; the order of
the examples is fixed, so the same data give the same weights.
"""

import hashlib
import json
import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
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
EPOCHS, STEP, SHRINK = 30, 0.3, 1.0
TYPICAL_COUNTS, PHRASE_COUNTS = 0.6, 0.3
LEAST_WEIGHT = 0.06

Example = tuple[tuple[str, ...], int, float]


def main() -> None:
    """Writes `weights.json` from everything that is labelled."""
    rows = examples(lambda error: True)
    weights = learn(rows)
    found = {"of": print_of(rows)} | as_file(weights)
    WEIGHTS.write_text(json.dumps(found, ensure_ascii=False, separators=(",", ":")).replace("],", "],\n"))
    sys.stdout.write(f"{len(weights)} features, {WEIGHTS.stat().st_size:,} bytes\n")


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
    """The lines of `typical.txt`: `F: a | b` are short ones, `F | class | status | text` is a whole one."""
    for line in (DATA / "typical.txt").read_text().splitlines():
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


def learn(rows: list[Example]) -> dict[str, list[float]]:
    """The weights of each feature, `` being the start."""
    often: Counter[str] = Counter()
    for features, _, counts in rows:
        for feature in features:
            often[feature] += counts  # type: ignore[assignment]
    weights = {feature: [0.0] * len(TYPES) for feature in ("", *often)}
    squares = {feature: [1e-3] * len(TYPES) for feature in weights}
    order, rng = list(rows), random.Random(1)
    for _ in range(EPOCHS):
        rng.shuffle(order)
        for features, label, counts in order:
            _step(weights, squares, often, ("", *features), label, counts)
    return weights


def _step(
    weights: dict[str, list[float]],
    squares: dict[str, list[float]],
    often: Counter[str],
    features: tuple[str, ...],
    label: int,
    counts: float,
) -> None:
    mine = [weights[feature] for feature in features]
    scores = [sum(column) for column in zip(*mine, strict=True)]
    top = max(scores)
    shares = [math.exp(score - top) for score in scores]
    total = sum(shares)
    pulls = [counts * (share / total - (i == label)) for i, share in enumerate(shares)]
    for feature, weight in zip(features, mine, strict=True):
        shrink = SHRINK * counts / often[feature] if feature else 0.0
        square = squares[feature]
        for i, pull in enumerate(pulls):
            slope = pull + shrink * weight[i]
            square[i] += slope * slope
            weight[i] -= STEP * slope / math.sqrt(square[i])


def as_file(weights: dict[str, list[float]]) -> dict[str, Any]:
    """As it is kept: hundredths, without the features that hardly matter."""
    kept = {name: _hundredths(values) for name, values in sorted(weights.items()) if name and _matters(values)}
    return {"types": TYPES, "start": _hundredths(weights[""]), "weights": kept}


def _matters(values: Iterable[float]) -> bool:
    return max(map(abs, values)) >= LEAST_WEIGHT


def _hundredths(values: Iterable[float]) -> list[int]:
    return [round(value * 100) for value in values]


if __name__ == "__main__":
    main()
