"""Secrets in stored JSON: known by the name of their key, and not shown.

Works on the text of the JSON, so that numbers keep every digit and a text that was cut in its middle is masked, too.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

MASK = "•••••• (masked)"
# Compared with a key in lower case without anything between its words: `apiKey`, `x-api-key` and `API_KEY` are one.
NAMES = (
    "password", "passwd", "passphrase", "passcode", "secret", "token", "authorization", "apikey", "cookie", "credential",
    "privatekey", "accesskey", "signingkey", "encryptionkey", "sessionid", "pincode",
)  # fmt: skip
# Whole words only: they are parts of many harmless ones.
WHOLE = ("pwd", "otp", "bearer", "pin", "jwt")

_BETWEEN = re.compile(r"[^a-z0-9]+")
# A whole string (or one without its end, where the text was cut) with the colon that makes it a key, or a bracket.
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"(?P<key>\s*+:\s*+)?|\\?$)|[{}\[\]]', re.DOTALL)
_SCALAR = re.compile(r"[^,}\]\s]*")
# In prose: `key=value`, `key: value`, `'key': 'value'`; after a scheme such as Bearer the next word belongs to the value.
_KEY = re.compile(r"""(?<![\w.-])(?P<key>[A-Za-z_][\w.-]{0,80}+)["']?\s{0,3}[=:]\s{0,3}""")
_VALUE = re.compile(
    r"""'[^'\n]{0,2000}'?|"[^"\n]{0,2000}"?|(?:(?:Bearer|Basic|Digest|Token)\s{1,3})?[^\s,;&'"(){}\[\]]{1,2000}""",
    re.IGNORECASE,
)
_PASSWORD_IN_URL = re.compile(r"(?P<before>[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/:@]{0,200}:)[^\s/@]{1,500}(?=@)")


def is_secret(key: str, more: Sequence[str] = ()) -> bool:
    """Does this key name a secret? `more` are names besides the known ones."""
    return _names(tuple(more)).search(_BETWEEN.sub("", key.lower())) is not None


@cache
def _names(more: tuple[str, ...]) -> re.Pattern[str]:
    parts = [re.escape(plain) for one in (*NAMES, *more) if (plain := _BETWEEN.sub("", one.lower()))]
    return re.compile("|".join([*parts, f"^(?:{'|'.join(WHOLE)})$"]))


def mask_json(text: str, more: Sequence[str] = ()) -> tuple[str, int]:
    """The JSON text with the values of secrets masked, and how many there were. Nothing but null, true and false stays."""
    parts: list[str] = []
    done = masked = 0
    for start, end in _secrets(text, more):
        parts += [text[done:start], json.dumps(MASK, ensure_ascii=False)]
        done, masked = end, masked + 1
    return "".join([*parts, text[done:]]), masked


def mask_text(text: str, more: Sequence[str] = ()) -> str:
    """Prose such as an error with the values of secrets masked: in JSON that it quotes, in pairs, in addresses."""
    masked = _PASSWORD_IN_URL.sub(lambda found: found["before"] + MASK, mask_json(text, more)[0])
    parts: list[str] = []
    done = 0
    for found in _KEY.finditer(masked):
        value = _VALUE.match(masked, found.end())
        if found.start() >= done and value and is_secret(found["key"], more) and _tells(value[0]):
            parts += [masked[done : found.end()], MASK]
            done = value.end()
    return "".join([*parts, masked[done:]])


def _tells(value: str) -> bool:
    bare = value.strip("'\"")
    return not MASK.startswith(bare[:6] or MASK) and bare.lower() not in ("null", "none", "true", "false")


def mask(value: Any, more: Sequence[str] = ()) -> Any:
    """The same for a value that is not text: a copy in which secrets are masked."""
    if isinstance(value, dict):
        return {
            key: MASK if is_secret(str(key), more) and _hides(one) else mask(one, more) for key, one in value.items()
        }
    return [mask(one, more) for one in value] if isinstance(value, list | tuple) else value


def _hides(value: Any) -> bool:
    return value is not None and not isinstance(value, bool) and value not in ("", [], {})


def _secrets(text: str, more: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where the values of secrets stand: from, to."""
    known: dict[str, bool] = {}
    place = 0
    while found := _TOKEN.search(text, place):
        place = found.end()
        if found["key"] is None:
            continue
        key = text[found.start() : found.start("key")]
        if key not in known:
            known[key] = is_secret(_plain(key), more)
        if known[key]:
            end = _end_of_value(text, place)
            if text[place:end] not in ("null", "true", "false", '""', "{}", "[]", ""):
                yield place, end
            place = end


def _plain(key: str) -> str:
    try:
        return str(json.loads(key))
    except ValueError:
        return key


def _end_of_value(text: str, start: int) -> int:
    """Where the value ends that begins at `start`; the text's end if it was cut."""
    depth, place = 0, start
    first = text[start : start + 1]
    if first not in ('"', "{", "["):
        scalar = _SCALAR.match(text, start)
        return scalar.end() if scalar else start
    while found := _TOKEN.search(text, place):
        place = found.end()
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(found[0], 0)
        if depth == 0:
            return place
    return len(text)
