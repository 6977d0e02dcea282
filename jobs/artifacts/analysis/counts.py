"""What there is to count in a document, in words: scenarios, requests, tests and how they ended, stories, tables."""

import re
from typing import Any

from jobs.artifacts.doctypes import DocType
from jobs.artifacts.reading.document import Document
from jobs.domain.text import plural

_D = DocType
_SCENARIO = re.compile(
    r"^[ \t]*(?:Scenario(?: Outline| Template)?|Example|Szenario(?:grundriss)?|Sc\u00e9nario|Plan du sc\u00e9nario|Escenario|Esquema del escenario"
    r"|Cen\u00e1rio|Esquema do Cen\u00e1rio|Scenariusz|Senaryo|Сценарий|场景|場景|シナリオ|시나리오|T\u00ecnh hu\u1ed1ng)[ \t]*:",
    re.M,
)
_STORY = re.compile(
    r"\bas (?:an?|the|someone|somebody|one of) [^.;:\n]{2,90}?[,\s]\s*i(?:'d| would)?\s+(?:want|need|like|can|should be able|wish)\b"
    r"|^[ \t#*-]*(?:como (?:una? |uma? )?|als |en tant qu)[^\n]{2,80}(?:\n\s*)?[^\n]{0,40}?\b(?:quiero|quero|ich|je)\b",
    re.M | re.I,
)
_TEST = re.compile(
    r"^[ \t]*(?:(?:async )?def test_\w+\(|(?:test|it)(?:\.\w+)?\(\s*['\"`]|@(?:Test|ParameterizedTest)\b|\[(?:Fact|Theory|Test|TestMethod|TestCase)\b)",
    re.M,
)
_CASES = ("failures", "failed", "errors", "broken", "skipped", "ignored")
_ENDS = {"failures": "failure", "errors": "error"}
_TOTALS = ("tests", "total", "totaltests", "numtotaltests", "testcount")


def counted(document: Document, doc_type: DocType) -> str:
    """`26 scenarios`, `12 tests, 1 failed`; empty for what has nothing to count."""
    text = document.text[:1_000_000]
    if document.facts.get("language") == "Gherkin":
        return plural(len(_SCENARIO.findall(text)), "scenario")
    if doc_type is _D.REPORT:
        return _results(document)
    if document.facts.get("language") == "SQL":
        return _sql(text)
    found = {
        _D.USER_STORY: (len(_STORY.findall(text)), "story", "stories"),
        _D.AUTOMATION_SCRIPT: (len(_TEST.findall(text)), "test", ""),
        _D.SELENIUM_SCRIPT: (_recorded(document.data) or len(_TEST.findall(text)), "test", ""),
        _D.API_SPEC: (_requests(document.data), "request", ""),
    }.get(doc_type, (0, "", ""))
    return plural(*found) if found[0] else ""


def _recorded(data: Any) -> int:
    tests = data.get("tests") if isinstance(data, dict) else None
    return len(tests) if isinstance(tests, list) else 0


def _requests(data: Any) -> int:
    """Of a collection, folders included."""
    waiting, found = [data], 0
    while waiting:
        one = waiting.pop()
        items = one.get("item") if isinstance(one, dict) else None
        waiting += items if isinstance(items, list) else []
        found += isinstance(one, dict) and "request" in one
    return found


def _sql(text: str) -> str:
    tables = re.findall(r"^[ \t]*CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?[`\"\[]?([\w.]{1,60})", text, re.M | re.I)
    rows = len(re.findall(r"\bINSERT\s+INTO\b", text, re.I))
    shown = f": {', '.join(tables[:6])}" if tables else ""
    parts = [plural(len(tables), "table") + shown] if tables else []
    return "; ".join([*parts, *([plural(rows, "insert")] if rows else [])])


def _results(document: Document) -> str:
    """How many tests, and how they ended, as a runner writes it: attributes of the root, elements, or keys of JSON."""
    numbers = {key.lower(): value for key, value in document.facts.get("attributes", {}).items()}
    data = document.data if isinstance(document.data, dict) else {}
    for part in (data, *(data[key] for key in ("summary", "stats", "totals") if isinstance(data.get(key), dict))):
        numbers |= {str(key).lower(): value for key, value in part.items() if isinstance(value, int | float)}
    tags = document.facts.get("tags", {})
    total = next((numbers[key] for key in _TOTALS if str(numbers.get(key, "")).isdigit()), None)
    if total is None:
        total = next((tags[tag] for tag in ("testcase", "test-case", "UnitTestResult") if tag in tags), None)
        numbers |= {
            "failures": tags.get("failure", 0),
            "errors": tags.get("error", 0),
            "skipped": tags.get("skipped", 0),
        }
    if total is None:
        return ""
    ends = [
        f"{numbers[key]} {key}" for key in _CASES if str(numbers.get(key, "0")).isdigit() and int(numbers.get(key, 0))
    ]
    return ", ".join([plural(int(total), "test"), *ends])
