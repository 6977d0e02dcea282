"""What this side and a remote executor say to each other: the signature, and the bodies of callbacks.

The protocol is described in docs/remote-executor.md, whose examples are computed by these functions.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from jobs.domain.errors import InvalidInput
from jobs.domain.failures import FailureType

REQUEST, CALLBACK = "request", "callback"
CALLBACKS = ("progress", "checkpoint", "log", "end")
# A signature older or newer than this is not accepted; nonces are remembered for longer.
WINDOW_SECONDS = 300
MOST_BODY_BYTES = {"progress": 64 * 1024, "log": 1024 * 1024, "checkpoint": 16 * 1024 * 1024, "end": 16 * 1024 * 1024}
MOST_LINES_OF_A_CALL = 500
LONGEST_CLASS = 200
LONGEST_MESSAGE = 32_000
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_NONCE = re.compile(r"[A-Za-z0-9_-]{16,128}")
_SIGNATURE = re.compile(r"v1=([0-9a-f]{64})")


@dataclass(frozen=True)
class Message:
    """What is signed. `direction` says who speaks, so that nothing said by one side can be played back to it."""

    direction: str
    event: str
    run: str
    timestamp: int
    nonce: str
    body: bytes = field(repr=False)

    def canonical(self) -> bytes:
        """Seven lines, joined by a line feed, without one at the end."""
        digest = hashlib.sha256(self.body).hexdigest()
        lines = ["detiq-v1", self.direction, self.event, self.run, str(self.timestamp), self.nonce, digest]
        return "\n".join(lines).encode()


def sign(message: Message, secrets: Iterable[str]) -> str:
    """The header `Detiq-Signature`: one signature a secret, since while secrets change the other side may know either."""
    return ",".join(f"v1={_digest(message, secret)}" for secret in secrets)


def verified(message: Message, header: str, secrets: Sequence[str]) -> bool:
    """Does one of the header's signatures come from one of the secrets? Takes as long whichever it is."""
    given = _SIGNATURE.findall(header[:1000])[:4]
    wanted = [_digest(message, secret) for secret in secrets]
    matches = [hmac.compare_digest(one, other) for one in given for other in wanted]
    return any(matches)


def _digest(message: Message, secret: str) -> str:
    return hmac.new(secret.encode(), message.canonical(), hashlib.sha256).hexdigest()


def headers(message: Message, secrets: Iterable[str]) -> dict[str, str]:
    """Every header of a message of ours."""
    return {
        "Content-Type": "application/json",
        "Detiq-Event": message.event,
        "Detiq-Run": message.run,
        "Detiq-Timestamp": str(message.timestamp),
        "Detiq-Nonce": message.nonce,
        "Detiq-Signature": sign(message, secrets),
    }


def is_nonce(text: str) -> bool:
    return _NONCE.fullmatch(text) is not None


# --- The bodies of callbacks ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RemoteProgress:
    """How far it is. Neither: a sign of life alone."""

    percent: int | None
    step: str | None


@dataclass(frozen=True)
class RemoteLine:
    level: str
    message: str


@dataclass(frozen=True)
class RemoteError:
    """Why the work failed, in the service's words. `failure_type` None: judged by the rules, as every error is."""

    message: str
    kind: str
    status: int | None
    code: str | None
    failure_type: FailureType | None
    retry_after: float | None


@dataclass(frozen=True)
class RemoteEnd:
    """`outcome`: done, failed (with `error`) or cancelled."""

    outcome: str
    result: Any = None
    error: RemoteError | None = None


def read_json(body: bytes) -> dict[str, Any]:
    """The object in a body. An empty body is an empty object. Raises `InvalidInput`."""
    if not body.strip():
        return {}
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("body", f"it is no JSON in UTF-8 ({type(error).__name__})") from None
    if not isinstance(value, dict):
        raise InvalidInput("body", f"it must be a JSON object, not {type(value).__name__}")
    return value


def read_progress(body: dict[str, Any]) -> RemoteProgress:
    """Raises `InvalidInput` that names the field."""
    percent, step = body.get("percent"), body.get("step")
    if percent is not None and (not _is_number(percent) or not 0 <= percent <= 100):
        raise InvalidInput("percent", "it must be a number from 0 to 100")
    if step is not None and not isinstance(step, str):
        raise InvalidInput("step", "it must be text")
    return RemoteProgress(None if percent is None else int(percent), step)


def read_lines(body: dict[str, Any]) -> list[RemoteLine]:
    """Raises `InvalidInput` that names the field."""
    lines = body.get("lines")
    if not isinstance(lines, list) or len(lines) > MOST_LINES_OF_A_CALL:
        raise InvalidInput("lines", f"it must be a list of at most {MOST_LINES_OF_A_CALL}")
    return [_line(number, one) for number, one in enumerate(lines)]


def read_checkpoint(body: dict[str, Any]) -> Any:
    """Raises `InvalidInput` that names the field."""
    if "checkpoint" not in body:
        raise InvalidInput("checkpoint", "it is missing")
    return body["checkpoint"]


def read_end(body: dict[str, Any]) -> RemoteEnd:
    """Raises `InvalidInput` that names the field."""
    match body.get("outcome"):
        case "done":
            return RemoteEnd("done", result=body.get("result"))
        case "cancelled":
            return RemoteEnd("cancelled")
        case "failed":
            return RemoteEnd("failed", error=_error(body.get("error")))
    raise InvalidInput("outcome", "it must be done, failed or cancelled")


def _line(number: int, line: Any) -> RemoteLine:
    name = f"lines[{number}]"
    if not isinstance(line, dict) or not isinstance(line.get("message"), str):
        raise InvalidInput(name, "it must be an object with a text `message`")
    level = str(line.get("level", "INFO")).upper()
    if level not in LEVELS:
        raise InvalidInput(f"{name}.level", f"it must be one of {', '.join(LEVELS)}")
    return RemoteLine(level, line["message"])


def _error(error: Any) -> RemoteError:
    if not isinstance(error, dict):
        raise InvalidInput("error", "it must be an object with a text `message`")
    message, kind, status, code = (error.get(name) for name in ("message", "class", "status", "code"))
    if not isinstance(message, str) or not message.strip():
        raise InvalidInput("error.message", "it must be text that says what went wrong")
    if kind is not None and (not isinstance(kind, str) or len(kind) > LONGEST_CLASS):
        raise InvalidInput("error.class", f"it must be text of at most {LONGEST_CLASS} characters")
    if status is not None and (not isinstance(status, int) or isinstance(status, bool) or not 100 <= status <= 599):
        raise InvalidInput("error.status", "it must be an HTTP status from 100 to 599")
    if code is not None and (not isinstance(code, str) or len(code) > LONGEST_CLASS):
        raise InvalidInput("error.code", f"it must be text of at most {LONGEST_CLASS} characters")
    wait = error.get("retryAfter")
    if wait is not None and (not _is_number(wait) or wait < 0):
        raise InvalidInput("error.retryAfter", "it must be a number of seconds, 0 or more")
    return RemoteError(message, kind or "RemoteError", status, code, _failure_type(error.get("type")), wait)


def _failure_type(value: Any) -> FailureType | None:
    if value is None:
        return None
    if not isinstance(value, str) or value not in set(FailureType):
        raise InvalidInput("error.type", f"it must be one of {', '.join(FailureType)}, or be left out")
    return FailureType(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value and abs(value) < 1e12
