"""Reading an error's text: what the message says, without the stack trace, addresses, paths and quoted values.

Both classification and fingerprints read errors through here. Every pattern is linear on the bounded text, whatever the
text is: an error may be 50 MB of anything.
"""

import re

HEAD_CHARS = 8_000
TAIL_CHARS = 8_000

_ANSI = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_FRAME = re.compile(
    r"""^(?:
        \s*at\s .{0,400}                      # JavaScript, Java, C#
      | \s*File\s".{1,400}",\sline\s\d+.{0,200}  # Python
      | \s*\.{3}\s\d+\s(?:more|lines).{0,100}
      | \s*[~^]{2,}[~^\s]*                    # Python's markers
      | \s*(?:\#\d+|\d+:)\s{1,4}0x.{0,300}    # native
      | \s*from\s/\S{1,300}:\d+:in\s.{1,200}  # Ruby
      | Traceback\s\(most\srecent\scall\slast\):.{0,20}
      | (?:The\sabove\sexception\swas|During\shandling\sof\sthe\sabove\sexception).{0,100}
    )$""",
    re.VERBOSE,
)
_APPENDIX = re.compile(
    r"^(?:=*\s*call log:?|=+ logs =+|stacktrace:?|backtrace:?|troubleshooting:|"
    r"call stack:?|note: use debug=).{0,200}$",
    re.IGNORECASE,
)
URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s\"'<>)\]},;]{1,2000}(?<![.:!?])", re.IGNORECASE)
EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
PATH = re.compile(
    r"(?<![\w/.<])(?:[A-Za-z]:\\[^\s\"'<>|:*?,;]{1,1000}|(?:~|\.{1,2}|"
    r"@[\w.-]{1,60})?/(?!/)[^\s\"'<>|:,;()\[\]{}`]{1,1000})"
)
# A quote opens after a non-letter and closes before one, so that the apostrophe of "can't" opens nothing.
_QUOTED = re.compile(r"""(?<![\w\\])(\\?["'`])(?=\S)([^\n"'`]{1,300}?)\1(?!\w)|[«»„“‘‚]([^\n«»„“”‘’‚]{1,300})[«»“”’]""")
# What comes before a quote that holds what was *said* (a JSON message, an exception's repr), not a name or a value.
_ADDRESS_MARK = re.compile(r"<(?:own|public)>")
_SAYING = re.compile(
    r"""(?:(?:message|msg|error|errors|reason|detail|details|description|cause|causes|code|type|status|exception|title_error)
        \W{0,4}[:=]\s{0,3}\\?[\[{]?\s{0,3}
      | (?:error|exception|warning|failure|fault|timeout)[:\s]{0,3}\(\s{0,2}(?:-?\d{1,6},\s)?
      | \b(?:said|says|because|reason|with\serror|with\sreason|with\smessage|failed\swith)[:\s]{1,3}
      | ^\s*[\[({]?\s*)$""",
    re.VERBOSE | re.IGNORECASE,
)  # fmt: skip


def bounded(text: str) -> str:
    """The start and the end of a text: where JavaScript and where Python put the message."""
    if len(text) <= HEAD_CHARS + TAIL_CHARS:
        return text
    return text[:HEAD_CHARS] + "\n" + text[-TAIL_CHARS:]


def message_lines(text: str) -> list[str]:
    """The lines that say what happened, without stack frames, source lines in traces and attached logs."""
    lines = _ANSI.sub("", bounded(text)).splitlines()
    kept: list[str] = []
    in_python_trace = False
    for line in lines:
        if _APPENDIX.match(line.lstrip()):
            break
        if _FRAME.match(line[:1200]):
            in_python_trace = 'File "' in line or line.startswith("Traceback") or in_python_trace
        elif in_python_trace and line[:1].isspace():
            continue
        elif line.strip():
            in_python_trace = False
            kept.append(line.strip())
    return kept or [line.strip() for line in lines if line.strip()][:3]


def message_text(text: str) -> str:
    """The message lines, joined."""
    return "\n".join(message_lines(text))


def without_quotes(text: str, placeholder: str = " <quoted> ") -> str:
    """Without quoted names and values. A quoted message (JSON, the repr of an exception) stays."""

    def replace(match: re.Match[str]) -> str:
        before = text[max(match.start() - 40, 0) : match.start()]
        if _ADDRESS_MARK.search(match[0]):
            return match[0]
        return match[0] if _SAYING.search(before) and _is_prose(match[0]) else placeholder

    return _QUOTED.sub(replace, text)


def _is_prose(quoted: str) -> bool:
    """Whether a quote holds words or a code rather than one value such as an id."""
    return " " in quoted.strip("\"'`\\ ") or "_" in quoted or not any(character.isdigit() for character in quoted)
