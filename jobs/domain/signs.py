"""What a Python exception carries that tells what kind of failure it is. Foreign attributes may lie or raise."""

import errno
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from jobs.domain.messages import bounded
from jobs.domain.text import clean_text, safe_call

_LONGEST_CHAIN = 6
_KEPT_HEAD, _KEPT_TAIL = 1_500, 500
_STATUS_NAMES = ("status", "status_code", "statusCode", "http_status", "code", "http_status_code")
_CODE_NAMES = ("code", "sqlstate", "pgcode", "error_code", "errorCode", "type", "reason_code", "status")
_WAIT_NAMES = ("retry_after", "retry_after_ms", "retry_after_seconds", "retry_delay")
_WAIT_HEADERS = ("retry-after", "retry-after-ms", "ratelimit-reset", "x-ratelimit-reset")
_NOT_TELLING = frozenset({object, BaseException, Exception})


@dataclass(frozen=True, slots=True)
class FailureSign:
    """What is known of a failure: text and names as they are, of any size; nothing here is trusted or complete."""

    message: str
    exceptions: tuple[str, ...] = ()
    """Qualified class names: the exception's own, its bases', then those of what caused it."""
    statuses: tuple[int, ...] = ()
    """HTTP statuses that the exception carries as attributes."""
    codes: tuple[str, ...] = ()
    """Error codes that it carries: errno name, SQLSTATE, a provider's code."""
    attributes: dict[str, object] = field(default_factory=dict)
    """What else it carries that says when to try again, by lower-case name."""


def sign_of(error: BaseException) -> FailureSign:
    """The signs of an exception and of what caused it (`raise … from …`, members of a group). Never raises."""
    chain = list(_chain(error))
    return FailureSign(
        message=_message(chain),
        exceptions=tuple(name for link in chain for name in _class_names(link)),
        statuses=tuple(status for link in chain for status in _statuses(link)),
        codes=tuple(code for link in chain for code in _codes(link)),
        attributes=_attributes(chain),
    )


def sign_record(sign: FailureSign, rule_id: str | None) -> dict[str, Any]:
    """A sign as it is kept with a failure, small, and the rule that decided (none: unclassified)."""
    message = sign.message
    if len(message) > _KEPT_HEAD + _KEPT_TAIL:
        message = f"{message[:_KEPT_HEAD]}\n{message[-_KEPT_TAIL:]}"
    record = {
        "message": clean_text(message),
        "exceptions": [clean_text(name[:120]) for name in sign.exceptions[:20]],
        "statuses": list(sign.statuses[:5]),
        "codes": [clean_text(code[:80]) for code in sign.codes[:10]],
        "rule": rule_id,
    }
    return {name: value for name, value in record.items() if value or name == "message"}


def sign_from_record(record: Mapping[str, Any]) -> FailureSign:
    """The sign that `sign_record` kept. Anything else in its place is read as nothing."""
    exceptions, statuses, codes = (_list(record.get(name)) for name in ("exceptions", "statuses", "codes"))
    return FailureSign(
        message=str(record.get("message") or ""),
        exceptions=tuple(name for name in exceptions if isinstance(name, str)),
        statuses=tuple(status for status in statuses if isinstance(status, int)),
        codes=tuple(code for code in codes if isinstance(code, str)),
    )


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def exception_class(error: BaseException) -> str:
    """The qualified class name, as the failure is stored and grouped."""
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception, then its causes and the members of groups, each once, nearest first."""
    waiting, seen = [error], set[int]()
    while waiting and len(seen) < _LONGEST_CHAIN:
        link = waiting.pop(0)
        if id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        members = link.exceptions if isinstance(link, BaseExceptionGroup) else ()
        waiting += [*([link.__cause__] if link.__cause__ else []), *members[:3]]


def _message(chain: list[BaseException]) -> str:
    texts = (bounded(safe_call(link.__str__) or "") for link in chain)
    return "\n".join(dict.fromkeys(text for text in texts if text.strip()))


def _class_names(error: BaseException) -> Iterator[str]:
    for kind in type(error).__mro__:
        if kind not in _NOT_TELLING:
            yield f"{kind.__module__}.{kind.__qualname__}"[:200]


def _statuses(error: BaseException) -> Iterator[int]:
    response = _get(error, "response")
    values = [*(_get(error, name) for name in _STATUS_NAMES), _get(response, "status_code"), _get(response, "status")]
    values.append(_get(_get(response, "ResponseMetadata"), "HTTPStatusCode"))
    for value in values:
        number = _integer(value)
        if number is not None and 400 <= number <= 599:
            yield number


def _codes(error: BaseException) -> Iterator[str]:
    if isinstance(error, OSError) and isinstance(error.errno, int) and error.errno in errno.errorcode:
        yield errno.errorcode[error.errno]
    response, body = _get(error, "response"), _get(error, "body")
    values = [_get(error, name) for name in _CODE_NAMES]
    values += [_get(_get(response, "Error"), "Code"), _get(body, "code"), _get(body, "type")]
    values += [_get(_get(body, "error"), "code"), _get(_get(body, "error"), "type")]
    for value in values:
        text = _name_of(value)
        if text and len(text) <= 80 and not text.isspace():
            yield text


def _name_of(value: object) -> str | None:
    """A code as text; an enum (gRPC's status, which is asked by a call) by its name."""
    if callable(value) and not isinstance(value, type):
        try:
            value = value()
        except Exception:  # noqa: BLE001 a foreign method; without its answer there is one sign less
            return None
    name = _get(value, "name")
    text = name if isinstance(name, str) else value
    return text if isinstance(text, str) else None


def _attributes(chain: list[BaseException]) -> dict[str, object]:
    found: dict[str, object] = {}
    for link in chain:
        headers = _get(_get(link, "response"), "headers") or _get(link, "headers")
        for name, value in (
            *((name, _get(link, name)) for name in _WAIT_NAMES),
            *((name, _get(headers, name) or _get(headers, name.title())) for name in _WAIT_HEADERS),
        ):
            if value is not None:
                found.setdefault(name, value)
    return found


def _integer(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return int(value)
    return int(value) if isinstance(value, str) and len(value) == 3 and value.isdecimal() else None


def _get(holder: object, name: str) -> object:
    """An attribute, or an item of a mapping (headers, parsed answers); None if there is none or asking for it fails."""
    if holder is None:
        return None
    try:
        if isinstance(holder, Mapping):
            return holder.get(name)
        value = getattr(holder, name, None)
        if value is None and hasattr(holder, "get") and not isinstance(holder, BaseException):
            value = holder.get(name)
        return value
    except Exception:  # noqa: BLE001 a foreign property or proxy; without its answer there is one sign less
        return None
