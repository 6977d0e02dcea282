"""Text as PostgreSQL takes it and a page can show it."""

import re
from collections.abc import Callable

REPLACEMENT = "\ufffd"
NUL = "\x00"
NUL_OR_SURROGATE = re.compile("[\x00\ud800-\udfff]")


def clean_text(text: object, limit_bytes: int | None = None) -> str:
    """Text without NUL and lone surrogates (they become U+FFFD), at most `limit_bytes` of UTF-8, mark of a cut included.

    Never raises: what is no text is read by `str`, and if that fails its class is named.
    """
    value = replace_refused(text if isinstance(text, str) else safe_str(text))
    return value if limit_bytes is None else cut_text(value, limit_bytes)


def replace_refused(text: str) -> str:
    """U+FFFD for NUL and lone surrogates; a pair of surrogates becomes the character that it stands for."""
    if NUL_OR_SURROGATE.search(text) is None:
        return text
    paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return paired.replace(NUL, REPLACEMENT)


def plural(number: int, one: str, many: str = "") -> str:
    """`1 job`, `2,000 jobs`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def cut_text(text: str, limit_bytes: int) -> str:
    """At most `limit_bytes` of UTF-8; a text that is cut ends in `… [cut: 64 kB of 1.2 MB]`."""
    size = utf8_size(text)
    if size <= limit_bytes:
        return text
    mark = f"… [cut: {human_size(limit_bytes)} of {human_size(size)}]"
    room = max(limit_bytes - utf8_size(mark), 0)
    kept = text[:room].encode()[:room].decode(errors="ignore")
    return kept + mark if room else mark.encode()[:limit_bytes].decode(errors="ignore")


def utf8_size(text: str) -> int:
    """Bytes of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def human_size(size_bytes: int) -> str:
    """A size to be read: `64 kB`, `1.2 MB`."""
    if size_bytes < 1000:
        return f"{size_bytes} B"
    size = float(size_bytes)
    for unit in ("kB", "MB", "GB", "TB"):
        size /= 1000
        if size < 999.5:
            return f"{size:.0f} {unit}" if size >= 9.95 else f"{size:.1f} {unit}".replace(".0 ", " ")
    return f"{size:.0f} TB"


def safe_str(value: object) -> str:
    """`str(value)`, whatever its `__str__` does; a value that cannot be read says what class it has."""
    try:
        return str(value)
    except Exception as error:  # noqa: BLE001 any error of a foreign __str__; it is named in the result
        return f"<{type(value).__name__} that cannot be shown: {type(error).__name__}>"


def safe_call(function: Callable[[], object]) -> str | None:
    """The text that a foreign method returns, or None if it fails or returns none."""
    try:
        text = function()
    except Exception:  # noqa: BLE001 the caller falls back to str()
        return None
    return text if isinstance(text, str) else None
