"""Find an HTTP status in an error's words. A number is a status only where it stands as one.

`HTTP 403`, `status: 422` and `400 Bad Request` are; `timeout after 4000 ms`, `job 84003`, `host-403a`, `line 503` and
`500 pages` are not.
"""

import re
from collections.abc import Iterator

_STATUS = r"(?P<status>[1-5]\d\d)"
_REASONS = (
    "bad request|unauthori[sz]ed|payment required|forbidden|not found|page not found|method not allowed|not acceptable|"
    "proxy authentication required|request time-?out|conflict|gone|length required|precondition failed|"
    "(?:payload|content|request entity) too large|uri too long|unsupported media type|range not satisfiable|"
    "misdirected request|unprocessable|locked|failed dependency|too early|upgrade required|too many requests|"
    "unavailable for legal|internal server error|not implemented|bad gateway|service (?:temporarily )?unavailable|"
    "gateway time-?out|insufficient storage|bandwidth limit|client error|server error|site is overloaded"
)
_UNITS = (
    r"(?:ms|s|sec|secs|seconds?|milli\w{0,8}|m|min|mins|minutes?|h|hours?|"
    r"days?|times?|attempts?|retries|bytes?|[kmgt]i?b|"
    r"rows?|items?|records?|pages?|urls?|links?|tokens?|chars?|characters?|"
    r"words?|lines?|files?|jobs?|requests|results?|"
    r"messages?|users?|pixels?|px|px|degrees?|percent|dpi|of|more|other|others|entries|elements|connections?|workers?)"
)
_NOT_A_COUNT = rf"(?!\d)(?!\.\d)(?!\s?{_UNITS}\b)(?!\s?%)"
_AFTER = (
    r"(?=\s*(?:$|[.,;:)!'\"\-{}\[\]<>|]|from|for|on|while|when|with|"
    r"after|at|to|reason|response|error|status|in|and|\(|[a-z]{2,20}ing\b))"
)

_PATTERNS = [
    re.compile(rf"<(?:response \[)?{_STATUS}(?:\]| https?:)", re.I),
    re.compile(
        rf"\bhttp(?:/\d(?:\.\d)?)?[\s:_/-]{{0,3}}(?:(?:error|status|code|"
        rf"response|exception)[\s:_-]{{0,3}}){{0,3}}\(?{_STATUS}\b{_NOT_A_COUNT}",
        re.I,
    ),
    re.compile(
        rf"(?<!exit )(?<!exit_)\b(?:http[ _]?)?status(?:[ _-]?(?:code|line))?[\"']?\s{{0,2}}(?:is|"
        rf"was|of|:|=|=>)?\s{{0,2}}[\"'(]?{_STATUS}\b{_NOT_A_COUNT}",
        re.I,
    ),
    re.compile(
        rf"\b(?:response|error|reply)[ _-]?(?:status|code)[ _-]?(?:code)?[\"']?\s{{0,2}}(?:is|"
        rf"was|of|:|=)?\s{{0,2}}[\"'(]?{_STATUS}\b{_NOT_A_COUNT}",
        re.I,
    ),
    re.compile(rf"(?<![\w-])[\"']?code[\"']?\s{{0,2}}[:=]\s{{0,2}}[\"']?{_STATUS}\b{_NOT_A_COUNT}", re.I),
    re.compile(rf"(?<![\w.:/#-])\(?\[?{_STATUS}[)\]]?[:,\s-]{{1,3}}\(?[\"']?(?:{_REASONS})\b", re.I),
    re.compile(rf"\b(?:{_REASONS})[\s:,]{{0,2}}[(\[]\s?(?:http\s?|status\s?|code\s?|:){{0,2}}{_STATUS}\s?[)\],]", re.I),
    re.compile(
        rf"\b(?:error|failed|failure|failing|occurred|response|responded|"
        rf"request|rejected|denied|exception|status)[^.\n(]{{0,40}}\(\s?(?:http|"
        rf"status|code|error)?[\s:]{{0,2}}{_STATUS}\b{_NOT_A_COUNT}{_AFTER}",
        re.I,
    ),
    re.compile(rf"\b(?:error|err)[\s:]{{1,2}}{_STATUS}\b{_NOT_A_COUNT}{_AFTER}", re.I),
    re.compile(
        rf"\b(?:failed|failure|error|rejected|request|response)\s?(?::|=|"
        rf"-)\s{{0,2}}{_STATUS}\b{_NOT_A_COUNT}{_AFTER}",
        re.I,
    ),
    re.compile(
        rf"\b(?:got|gave|gives|returned|returns|returning|responded with|"
        rf"answered(?: with)?|replied(?: with)?|failed with|received|with|"
        rf"threw)\s+(?:(?:an?|the|http|status|code|error|of)\s+){{0,3}}[\"'(]?{_STATUS}\b{_NOT_A_COUNT}"
        rf"{_AFTER}",
        re.I,
    ),
    re.compile(
        rf"\b(?:unable|failed|failure|could not|cannot|can't|couldn't|error|"
        rf"refused|rejected)\b[^\n:]{{0,80}}:\s{{0,2}}{_STATUS}\s*$",
        re.I | re.M,
    ),
    re.compile(
        rf"^\W{{0,3}}(?:[\w.$]{{1,80}}(?:error|exception|failure):\s{{1,2}})?\(?\[?{_STATUS}\b[)\]]?{_NOT_A_COUNT}"
        rf"(?=\s*[-:,{{\[(<=\"]|\s+[a-z]|\s*$)",
        re.I | re.M,
    ),
]


def is_mail_reply(number: int) -> bool:
    """Whether a number is a reply of mail or file servers (`550 No such user`), which HTTP has no use for."""
    return 550 <= number <= 559 or number in (450, 452, 453, 454)


def find_status(text: str) -> int | None:
    """The first HTTP error status (400–599) that the text names, or None. The text should be bounded."""
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            status = int(match["status"])
            if status >= 400 and not is_mail_reply(status):
                return status
    return None


def status_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the text names a status, any from 100 to 599."""
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            yield match.span("status")
