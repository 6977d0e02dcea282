"""All of it: read, classified, described. What a process of its own answers with."""

from dataclasses import dataclass, field
from typing import IO

from jobs.artifacts.analysis.classify import classify
from jobs.artifacts.analysis.env import env_names
from jobs.artifacts.analysis.keywords import keywords
from jobs.artifacts.analysis.redact import redacted, redactor
from jobs.artifacts.analysis.summary import summarise
from jobs.artifacts.doctypes import DocType
from jobs.artifacts.limits import LIMITS, Limits
from jobs.artifacts.reading.document import Unreadable
from jobs.artifacts.reading.read import read

LONGEST_SAMPLE = 24_000
_MOST_CHARS = 100_000


@dataclass(frozen=True)
class Findings:
    """What was found in a file. `sample`: the beginning of its text, without secrets, for a model; empty where there is
    nothing to ask about."""

    doc_type: str
    by_content: str | None
    kind: str
    summary: str
    keywords: list[str] = field(default_factory=list)
    note: str = ""
    sample: str = ""


def analyse(file: IO[bytes], name: str, masked_keys: list[str], limits: Limits = LIMITS) -> Findings:
    """Never raises for what is in the file: what cannot be read is OTHER, with the reason."""
    try:
        document = read(file, name, limits)
    except Unreadable as error:
        text = redacted(f"The file could not be read: {error}.", masked_keys)[:500]
        return Findings(DocType.OTHER, None, "unreadable file", text, note=text)
    doc_type, by_content = classify(document)
    hidden = redactor(document, masked_keys)
    secret = doc_type is DocType.ENV_CONFIG
    if secret:  # of such a file the names alone, nothing of what is written beside them
        title, headings, text = "", [], " ".join(env_names(document) or [])
    else:
        title, headings = hidden(document.title), [hidden(one) for one in document.headings]
        text = hidden(document.text[:_MOST_CHARS])
    words = keywords(title, headings, text) if document.readable else []
    return Findings(
        doc_type=doc_type,
        by_content=by_content,
        kind="environment file" if secret else document.kind,
        summary=hidden(summarise(document, doc_type)),
        keywords=[hidden(word) for word in words],
        note=hidden("; ".join(document.notes))[:500],
        sample="" if secret or not document.readable else text[:LONGEST_SAMPLE],
    )
