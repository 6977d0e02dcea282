"""Environment files: names of settings with their values, which are never repeated."""

import re

from jobs.artifacts.reading.document import Document

_LINE = re.compile(r"^(?:export\s+)?([A-Za-z_][A-Za-z0-9_.]*)\s*=(.*)$")
_NAMED = re.compile(r"(?:^|[./_-])env(?:[._-][\w-]+)*(?:\.txt)?$|^\.?env\b|\.env$|^(?:dotenv|\.flaskenv)")

# Files of settings are of an environment if they say where it is and who signs in there.
_SETTINGS = frozenset({"ini", "properties", "cfg", "conf"})
_PLACE = re.compile(
    r"(?:ur[il]|host(?:name)?|port|user(?:name)?|login|passw(?:or)?d|browser|endpoint|environment|secret|token|key|database)s?$",
    re.I,
)


def env_names(document: Document) -> list[str] | None:
    """The names that an environment file sets; None when it is none."""
    if document.kind not in ("text", "Markdown", "Shell code", "YAML", "CSV table") or not document.text:
        return None
    lines = [line.strip() for line in document.text.split("\n")]
    lines = [line for line in lines if line and not line.startswith("#")]
    found = [match for line in lines if (match := _LINE.match(line))]
    upper = sum(match[1].isupper() for match in found)
    named = _NAMED.search(document.base) is not None
    if document.suffix in _SETTINGS:
        lines = [line for line in lines if not line.startswith(("[", ";"))]
        names = [match[1] for line in lines if (match := _LINE.match(line.replace(": ", "=", 1)))]
        telling = sum(_PLACE.search(name) is not None for name in names)
        return names if telling >= 2 and telling >= 0.4 * len(names) else None
    if not found or len(found) < (0.6 if named else 0.9) * len(lines):
        return None
    # Without a telling name: several, in capitals, and none of them an assignment of a program's.
    if not named and (len(found) < 3 or upper < 0.8 * len(found) or any("(" in match[2] for match in found)):
        return None
    return [match[1] for match in found]
