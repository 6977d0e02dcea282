"""What kind of failure an error is: from its signs, by rules that are data.

The signs go from the surest to the weakest: a known reason (by phrase or code), the exception's class, its status, a
status that stands alone in the text, and last the words. Within one kind the first rule that matches wins. A rule that
only weighs (a status, a phrase that errors of several types share) is overruled by what all the words together say.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from jobs.domain.addresses import mark_addresses
from jobs.domain.evidence import Weighed, weigh
from jobs.domain.failures import FailureType
from jobs.domain.messages import EMAIL, PATH, bounded, message_text, without_quotes
from jobs.domain.rules import BUILT_IN, Rule, Sign
from jobs.domain.rules.base import alternatives, compiled, contains_phrase, matches_name, matches_status, phrases
from jobs.domain.rules.exceptions import GENERIC
from jobs.domain.signs import FailureSign, sign_of
from jobs.domain.statuses import find_status, is_mail_reply

__all__ = ["UNCLASSIFIED", "Classification", "FailureSign", "classify", "sign_of"]

_HEAD_CHARS, _TAIL_CHARS = 2_500, 1_500
_LEAST_SHARE = 0.4  # of four types: less says nothing
_LEAST_VAGUE_SHARE = 0.75
_LEAST_KNOWN = 3  # features with a weight: a word such as "of" alone says nothing
_LEAST_SAID = 5  # words: fewer overrule no other sign

_ERROR_NAME = re.compile(
    r"^\W{0,4}(?:(?:uncaught|unhandled|caused by:?|exception has occurred:|in promise\)?)\s{1,3}){0,2}"
    r"((?:[A-Za-z_][\w$]{0,60}\.){0,10}[A-Za-z_]\w{0,60}(?:Error|Exception|"
    r"Fault|Failure|Timeout|Violation|Exit))\b(?=\s*[:(\[]|\s*$)",
    re.MULTILINE,
)
_INNER_ERROR_NAME = re.compile(r"\b((?:[a-z_]\w{0,60}\.){0,10}[A-Z]\w{0,60}(?:Error|Exception))(?=[:(])")
_CODE = re.compile(
    r"\b(?:E[A-Z]{2,}[A-Z0-9]{0,10}|UND_ERR_[A-Z_]{1,40}|ERR_[A-Z0-9_]{2,60}|[A-Z]{3,20}(?:_[A-Z0-9]{1,30}){1,8})\b"
    r"|(?<=\d )(?:INTERNAL|UNAVAILABLE|ABORTED|UNAUTHENTICATED|UNIMPLEMENTED|CANCELLED)(?=:)"
    r"|\b(?:StatusCode\.|SQLSTATE\W{0,3}|sqlstate\W{0,3}|code[\"']?\s{0,2}[:=]?\s{0,2}[\"'(]?|"
    r"Error: |error )\b([0-9A-Z]{5}|P[1-6]\d{3}|[A-Za-z]{3,40}(?:[_-][a-z]{1,30}){0,6})\b"
)
_COMPOUND = re.compile(r"(?<![A-Za-z0-9$])[A-Za-z][a-z]{1,30}(?:[A-Z]{1,6}[a-z0-9]{1,30}){1,8}\b")
_COMPOUND_CODE = re.compile(
    r"(?:^|[\s(>:])([A-Z][a-z]{1,30}(?:[A-Z]{1,6}[a-z0-9]{1,30}){1,8})(?=:\s|</|\)|$)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Classification:
    """The failure type, the rule that says so, and why in a few words. `rule_id` is None if no rule matched."""

    failure_type: FailureType
    rule_id: str | None
    why: str

    @property
    def unclassified(self) -> bool:
        """Whether no rule matched: counted on the failures page, so that gaps are seen."""
        return self.rule_id is None


UNCLASSIFIED = Classification(FailureType.TRANSIENT, None, "no rule matches; tried again as if it could pass")


def classify(sign: FailureSign, rules: Sequence[Rule] = BUILT_IN) -> Classification:
    """The failure type of an error, by the first rule of the surest kind of sign that matches. Never raises."""
    evidence = read(sign)
    ordered = by_sureness(tuple(rules))
    first = next((rule for rule in ordered if rule.sign is not Sign.EVIDENCE and matches(rule, evidence)), None)
    if first is None or (first.weighs is not None and not evidence.is_ours):
        first = _outweighed(first, evidence, ordered)
    return UNCLASSIFIED if first is None else Classification(first.failure_type, first.id, _why(first, evidence))


def _outweighed(first: Rule | None, evidence: "Evidence", rules: Sequence[Rule]) -> Rule | None:
    """The rule that only weighs, or the one that says what all the words together speak for, if that is more."""
    of_words = {rule.failure_type: rule for rule in rules if rule.sign is Sign.EVIDENCE}
    weighed = evidence.weighed
    if not of_words or weighed.known < _LEAST_KNOWN or (first is not None and weighed.said < _LEAST_SAID):
        return first
    scores = {kind: math.log(max(share, 1e-9)) for kind, share in weighed.probability.items()}
    if first is not None:
        scores[first.failure_type] += first.weighs or 0.0
    best = max(scores, key=lambda kind: scores[kind])
    if first is not None and best == first.failure_type:
        return first
    # What would end the job at once, and nobody says what happened, has to be quite plain.
    vague = best is FailureType.FATAL and not weighed.tells
    least = _LEAST_VAGUE_SHARE if vague else _LEAST_SHARE
    return of_words.get(best) if first is not None or weighed.probability[best] >= least else None


def _why(rule: Rule, evidence: "Evidence") -> str:
    if rule.sign is not Sign.EVIDENCE:
        return rule.why
    return f"{rule.why}: {', '.join(evidence.weighed.words[rule.failure_type])}"


@dataclass(frozen=True)
class Evidence:
    """A sign, read once for all rules, bounded. All but `whole` is in lower case."""

    said: str
    whole: str
    clues: str
    exceptions: tuple[str, ...]
    codes: frozenset[str]
    status: int | None
    named: str
    """The names that stand for several words, in the text and as codes, in their own case: `InvalidClientTokenId`."""
    class_name: str
    """The error's own class, in its own case."""

    @property
    def is_ours(self) -> bool:
        """Is it an error of this program? Its words were chosen for the rules: nothing else is read from them."""
        return bool(self.exceptions) and self.exceptions[0].startswith("jobs.")

    @cached_property
    def weighed(self) -> Weighed:
        """What all the words together speak for; asked only where no rule decides."""
        return weigh(self.said, self.named, self.class_name, self.exceptions, self.codes, self.status)


def read(sign: FailureSign) -> Evidence:
    """Prepare a sign for the rules: see `FailureSign` for what it may hold."""
    message = _ends(message_text(sign.message))
    head = message[:_HEAD_CHARS]
    named = (match[1] for pattern in (_ERROR_NAME, _INNER_ERROR_NAME) for match in pattern.finditer(head))
    names = (*sign.exceptions, *named)
    exceptions = tuple(dict.fromkeys(_dotted(name) for name in names[:60]))
    simple = (name.rpartition(".")[2] for name in exceptions)  # some libraries name their classes by the code
    codes = frozenset(code[:80].lower() for code in (*sign.codes[:20], *_codes(message), *simple))
    status = next((status for status in sign.statuses if 400 <= status <= 599 and not is_mail_reply(status)), None)
    status = status if status is not None else find_status(_status_text(message))
    said = what_is_said(message)
    header = f"exceptions:{' '.join(exceptions)} status:{status} codes:{' '.join(sorted(codes))[:500]}\n"
    first = exceptions[0].rpartition(".")[2] if exceptions else ""
    return Evidence(
        said=said,
        whole=f"{header}{first}: {message}",
        clues=header + said,
        exceptions=exceptions,
        codes=codes,
        status=status,
        named=" ".join((*_COMPOUND.findall(_status_text(message))[:20], *(code[:80] for code in sign.codes[:5]))),
        class_name=names[0][:200] if names else "",
    )


def what_is_said(message: str) -> str:
    """The message in lower case without quoted values and paths; addresses are `<own>` or `<public>`."""
    text = without_quotes(mark_addresses(EMAIL.sub(" ", message.lower())))
    said = PATH.sub(" <path> ", text)
    return said if said.strip(" <>\n.:") else message.lower()


def matches(rule: Rule, evidence: Evidence) -> bool:
    """Whether one rule matches: what trying out a new rule asks of past failures."""
    match rule.sign:
        case Sign.PHRASE | Sign.WORD:
            return any(contains_phrase(evidence.said, phrase) for phrase in phrases(rule.pattern))
        case Sign.PATTERN:
            return compiled(rule.pattern).search(evidence.whole) is not None
        case Sign.CLUES:
            return compiled(rule.pattern).search(evidence.clues) is not None
        case Sign.CODE:
            return any(_code_matches(pattern, evidence.codes) for pattern in alternatives(rule.pattern))
        case Sign.EXCEPTION:
            patterns = alternatives(rule.pattern)
            return any(matches_name(pattern, name) for name in evidence.exceptions for pattern in patterns)
        case Sign.STATUS:
            status = evidence.status
            return status is not None and any(matches_status(p, status) for p in alternatives(rule.pattern))
        case Sign.EVIDENCE:
            share = evidence.weighed.probability
            return evidence.weighed.known > 0 and share[rule.failure_type] == max(share.values())


_GENERIC = frozenset(rule.id for rule in GENERIC)
_SURENESS = {
    Sign.PHRASE: 0,
    Sign.PATTERN: 0,
    Sign.CLUES: 0,
    Sign.CODE: 1,
    Sign.EXCEPTION: 2,
    Sign.STATUS: 3,
    Sign.WORD: 5,
    Sign.EVIDENCE: 6,
}


@lru_cache(maxsize=32)
def by_sureness(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """The rules in the order in which they are asked; their own order is kept within a kind of sign."""
    return tuple(sorted(rules, key=lambda rule: 4 if rule.id in _GENERIC else _SURENESS[rule.sign]))


def _ends(message: str) -> str:
    """The start and the end of a long message: what it holds between is data, and every rule would read it."""
    if len(message) <= _HEAD_CHARS + _TAIL_CHARS:
        return message
    return f"{message[:_HEAD_CHARS]}\n{message[-_TAIL_CHARS:]}"


def _dotted(name: str) -> str:
    """A class name of any language as Python writes it: `PG::Error`, `Guzzle\\Exception`, `*net.OpError`."""
    return name[:200].replace("::", ".").replace("\\", ".").replace("/", ".").strip("*. ").lower()


def _status_text(message: str) -> str:
    """The text in which a status may stand: without paths and the paths of URLs."""
    return PATH.sub(" <path> ", EMAIL.sub(" ", message))


def _codes(message: str) -> Iterator[str]:
    for match in _CODE.finditer(bounded(message)[:8_000]):
        yield match[1] or match[0]
    yield from _COMPOUND_CODE.findall(message[:_HEAD_CHARS])


def _code_matches(pattern: str, codes: frozenset[str]) -> bool:
    if "?" not in pattern and "*" not in pattern:
        return pattern in codes
    return any(matches_name(pattern, code) for code in codes)
