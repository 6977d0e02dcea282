"""What a rule is: data that an admin can read, extend and try out."""

import re
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache

from jobs.domain.failures import FailureType


class Sign(StrEnum):
    """What a rule looks at, from the surest sign to the weakest."""

    CODE = "code"
    """An error code: errno name, SQLSTATE, a provider's `code`; exact, `*` at the end allowed."""
    PHRASE = "phrase"
    """Words that name a known reason, in what the message says (without addresses, paths and quoted values)."""
    PATTERN = "pattern"
    """A regular expression over class names, status, codes and the whole message. Built-in rules only."""
    CLUES = "clues"
    """The same over what the message says, where addresses read `<own>` or `<public>`. Built-in rules only."""
    EXCEPTION = "exception"
    """An exception's class name; with a dot the qualified name; `*` allowed."""
    STATUS = "status"
    """An HTTP status, from an attribute or standing alone in the text; `4xx` allowed."""
    WORD = "word"
    """A word in what the message says, asked last."""
    EVIDENCE = "evidence"
    """All words weighed together (`jobs.domain.evidence`): what overrules a sign that only weighs. Built-in only."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One sign and what it means. `pattern` may hold several alternatives, separated by ` | `.

    Phrases and words are lower-case text that must start where a word starts; ` * ` stands for anything in between.
    `weighs`: how much the sign adds to the evidence for its type, as a logarithm; None: it decides.
    """

    id: str
    sign: Sign
    pattern: str
    failure_type: FailureType
    why: str
    weighs: float | None = None


#: Words that errors of several types share; a class that only names the network; the queue's own list; a status; a known
#: reason.
BROAD, NETWORK, SOURCE, STATUS, KNOWN = 0.25, 0.75, 2.0, 2.5, 4.0
#: An exact code that is found by a pattern: no words outweigh it.
DECIDES = float("inf")

Phrase = tuple[str, ...]


@lru_cache(maxsize=4096)
def phrases(pattern: str) -> tuple[Phrase, ...]:
    """The alternatives of a phrase rule, each as the pieces that must follow one another."""
    alternatives = (alternative.split(" * ") for alternative in pattern.lower().split(" | "))
    return tuple(tuple(piece.strip() for piece in pieces if piece.strip()) for pieces in alternatives)


def contains_phrase(text: str, phrase: Phrase) -> bool:
    """Whether the pieces occur in this order, within one line after the first. Linear in the text."""
    start, end = find_piece(text, phrase[0], 0), len(text)
    if start < 0:
        return False
    position = start + len(phrase[0])
    if len(phrase) > 1:
        newline = text.find("\n", position)
        end = len(text) if newline < 0 else newline
    for piece in phrase[1:]:
        found = find_piece(text, piece, position, end)
        if found < 0:
            return False
        position = found + len(piece)
    return True


def find_piece(text: str, piece: str, start: int, end: int | None = None) -> int:
    """Where a piece occurs at the start of a word, or -1."""
    limit = len(text) if end is None else end
    found = text.find(piece, start, limit)
    while found > 0 and piece[0].isalnum() and text[found - 1].isalnum():
        found = text.find(piece, found + 1, limit)
    return found


@lru_cache(maxsize=4096)
def alternatives(pattern: str) -> tuple[str, ...]:
    """The alternatives of a code, exception or status rule, in lower case."""
    return tuple(part.strip().lower() for part in pattern.split(" | "))


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern rule's expression; case counts only inside `(?-i:…)`."""
    return re.compile(pattern, re.MULTILINE | re.IGNORECASE)


def matches_name(pattern: str, qualified_name: str) -> bool:
    """Whether a class name matches: `ZodError` any module's, `openai.*` everything of one, both in lower case."""
    name = qualified_name if "." in pattern else qualified_name.rpartition(".")[2]
    return fnmatchcase(name, pattern)


def matches_status(pattern: str, status: int) -> bool:
    """Whether a status matches `404` or `4xx`."""
    text = str(status)
    return len(pattern) == 3 and all(wanted in ("x", digit) for wanted, digit in zip(pattern, text, strict=False))
