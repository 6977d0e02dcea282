"""Evidence: which type the words of an error speak for, where no rule knows a reason.

Single words mislead; what is said of what does so less: "lock … timed out" is ours, "page … timed out" a target's. So
words are read as subjects and as what is said of them (`rules/vocabulary.txt`), and every word, class name, status and
pair of a subject and a saying near it has a weight for each type (`rules/weights.json`). The weights were learnt from
labelled messages by `tests/domain/learn.py`. Linear in the text, of which a bounded part is read.
"""

import json
import math
import re
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from jobs.domain.failures import FailureType

_DATA = Path(__file__).parent / "rules"
_HEAD_WORDS, _TAIL_WORDS = 220, 60
_NEAR = 7  # words between a subject and what is said of it
_TYPES = tuple(FailureType)

_TOKEN = re.compile(r"<\w{1,10}>|[a-z][a-z']{0,40}[a-z]\d?|[a-z]|[.;!?](?=\s|$)|\n")
_ACCENTS = re.compile("[\u0300-\u036f]")
_MOST_FOLDED = 8_000
_FOREIGN = re.compile(r"[a-z']{0,40}(?![a-z])[^\W\d_][^\W\d_']{0,40}")
_NAME_PART = re.compile(r"[A-Z]{1,20}(?=[A-Z][a-z])|[A-Z]?[a-z]{1,40}|[A-Z]{1,20}")
_BREAKS = frozenset(".;!?\n")
_TELLING = frozenset(f"class:@{name}" for name in ("database", "broker", "process", "browser", "cluster", "key"))
# Packages of this program and of whoever wrote the handler.
_ANYBODYS = frozenset(
    {"jobs", "__main__", "app", "apps", "src", "main", "core", "common", "lib", "utils", "handlers", "tasks", "tests"}
)
_NO_CLASS = frozenset({"error", "exception", "runtimeerror", "baseexception", "systemerror", "systemexit",
                       "keyboardinterrupt"})  # fmt: skip
_SHORT = {
    "can't": ("cannot",), "couldn't": ("could", "not"), "doesn't": ("does", "not"), "didn't": ("did", "not"),
    "isn't": ("is", "not"), "wasn't": ("was", "not"), "won't": ("will", "not"), "don't": ("do", "not"),
    "aren't": ("are", "not"), "hasn't": ("has", "not"), "haven't": ("have", "not"), "wouldn't": ("would", "not"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Weighed:
    """How probable each type is by the words alone (0–1), and the words that speak most for each."""

    probability: dict[FailureType, float]
    words: dict[FailureType, tuple[str, ...]]
    known: int
    """How many of the features have a weight; none: nothing is known."""
    said: int
    """How many words the text has; a class that names a thing counts as some."""
    tells: bool
    """Is there a word for what happened (`!down`), besides words for what it may have happened to?"""


def weigh(
    said: str, named: str, class_name: str, names: Iterable[str], codes: Iterable[str], status: int | None
) -> Weighed:
    """Weighs a message as `classification.read` gives it; `named` and `class_name` are in their own case."""
    start, weights = _weights()
    features = set(read_features(said, named, class_name, names, codes, status))
    known = [feature for feature in features if feature in weights]
    length = math.sqrt(sum(weights[feature].rarity ** 2 for feature in known)) or 1.0
    scores = [bias + sum(weights[feature].speaks[i] for feature in known) / length for i, bias in enumerate(start)]
    top = max(scores)
    parts = [math.exp(score - top) for score in scores]
    said_words = sum(token not in _BREAKS for token in _tokens(_plain(said))) + max(map(_tells, known), default=0)
    words = {
        kind: tuple(f for speaks, f in sorted((-weights[f].speaks[i], f) for f in known)[:3] if speaks < 0)
        for i, kind in enumerate(_TYPES)
    }
    return Weighed(
        {kind: part / sum(parts) for kind, part in zip(_TYPES, parts, strict=True)},
        words,
        len(known),
        said_words,
        any("!" in feature for feature in known),
    )


def read_features(
    said: str, named: str, class_name: str, names: Iterable[str], codes: Iterable[str], status: int | None
) -> Iterator[str]:
    """What of a message has a weight: words, pairs of words, concepts, a subject with what is said of it, names."""
    if class_name.rpartition(".")[2].lower() in _NO_CLASS:
        class_name = ""
    if class_name.partition(".")[0] in _ANYBODYS:  # where it lies says nothing of what happened
        class_name = class_name.rpartition(".")[2]
    tokens = [*_tokens(_plain(said)), *_words_of(named), *_words_of(class_name)]
    words = [stem(token) for token in tokens if token not in _BREAKS]
    yield from (word for word in words if len(word) > 2)
    yield from (f"{first} {second}" for first, second in zip(words, words[1:], strict=False))
    yield from _concept_features(tokens)
    parts = _words_of(class_name)[1:]
    yield from (f"class:{stem(part)}" for part in parts)
    yield from (f"class:{concept}" for _, concept in _concepts(parts))
    yield from (f"name:{name}" for name in (name.rpartition(".")[2] for name in names) if name not in _NO_CLASS)
    yield from (f"code:{code}" for code in codes if code not in _NO_CLASS)
    if status is not None:
        yield from (f"status:{status}", f"status:{status // 100}xx")


def _tells(feature: str) -> int:
    """A class that names a thing of ours (`RedisClient`) says as much as a few words."""
    return 5 if feature in _TELLING else 0


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A word without its ending, so that `refused`, `refuses` and `refusing` are one."""
    if len(word) < 4 or word[0] == "<":
        return word
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("ied", "y")):
        if word.endswith(ending):
            return word[: -len(ending)] + instead
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sl":
                word = word[:-1]
            break
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


def _plain(said: str) -> str:
    """Letters without their accents; a word of others is left out: its pieces would be taken for other words."""
    if said.isascii():
        return said
    folded = _ACCENTS.sub("", unicodedata.normalize("NFKD", said[:_MOST_FOLDED].replace("’", "'")))
    return _FOREIGN.sub(" ", folded)


def _tokens(said: str) -> list[str]:
    plain = said.replace("_", " ").replace("-", " ").replace("’", "'")
    found = [part for token in _TOKEN.findall(plain) for part in _SHORT.get(token, (token,))]
    return found if len(found) <= _HEAD_WORDS + _TAIL_WORDS else [*found[:_HEAD_WORDS], "\n", *found[-_TAIL_WORDS:]]


def _words_of(names: str) -> list[str]:
    """Names taken apart, each a sentence of its own."""
    return [word for name in names.split() for word in ("\n", *map(str.lower, _NAME_PART.findall(name)))]


def _concepts(tokens: list[str]) -> Iterator[tuple[int, str]]:
    """The concepts of the words, longest phrase first: `@database` is a subject, `!down` is said of one."""
    vocabulary, longest = _vocabulary()
    stems = [token if token in _BREAKS else stem(token) for token in tokens]
    at = 0
    while at < len(stems):
        for length in range(min(longest, len(stems) - at), 0, -1):
            concepts = vocabulary.get(tuple(stems[at : at + length]))
            if concepts:
                yield from ((at, concept) for concept in concepts)
                at += length - 1
                break
        at += 1


def _concept_features(tokens: list[str]) -> Iterator[str]:
    """Each concept, which comes first, and every subject with a saying near it in the same sentence."""
    found = sorted([*_concepts(tokens), *((i, f"@{t}") for i, t in enumerate(tokens) if t[0] == "<")])
    ends = [at for at, token in enumerate(tokens) if token in _BREAKS]
    near, sentence, first = deque[tuple[int, str]](), 0, True
    for at, concept in found:
        if concept[1] != "<":
            yield concept
            if first:
                yield f"first{concept}"
            first = False
        while sentence < len(ends) and ends[sentence] < at:
            sentence += 1
            near.clear()
        while near and at - near[0][0] > _NEAR:
            near.popleft()
        for _, other in near:
            if other[0] != concept[0]:
                yield other + concept if other[0] == "@" else concept + other
        near.append((at, concept))


@lru_cache(maxsize=1)
def _vocabulary() -> tuple[dict[tuple[str, ...], tuple[str, ...]], int]:
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    concept = ""
    for line in (_DATA / "vocabulary.txt").read_text().splitlines():
        if line.endswith(":") and not line.startswith(" "):
            kind, _, name = line[:-1].partition(" ")
            concept = f"{'@' if kind == 'subject' else '!'}{name}"
        elif line.startswith(" "):
            for phrase in filter(None, (part.strip() for part in line.split("|"))):
                key = tuple(stem(part) for word in phrase.split() for part in _SHORT.get(word, (word,)))
                found[key] = tuple(dict.fromkeys((*found.get(key, ()), concept)))
    return found, max(len(key) for key in found)


def rarity(often: int, examples: int) -> float:
    """How much a feature counts that is in so many of the examples: the rarer the more."""
    return math.log((1 + examples) / (1 + often)) + 1


class Weight(NamedTuple):
    """How much a feature speaks for each type, its rarity counted in, and that rarity."""

    speaks: tuple[float, ...]
    rarity: float


@lru_cache(maxsize=1)
def _weights() -> tuple[list[float], dict[str, Weight]]:
    """The start of each type, and the features; in the file in hundredths, with in how many examples each is."""
    return as_weights(json.loads((_DATA / "weights.json").read_text()))


def as_weights(data: dict[str, Any]) -> tuple[list[float], dict[str, Weight]]:
    order = [data["types"].index(kind.value) for kind in _TYPES]
    weights = {}
    for name, (*values, often) in data["weights"].items():
        rare = rarity(often, data["examples"])
        weights[name] = Weight(tuple(values[i] / 100 * rare for i in order), rare)
    return [data["start"][i] / 100 for i in order], weights
