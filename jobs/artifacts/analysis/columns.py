"""What a table's columns say of its type."""

import re
from collections import Counter

from jobs.artifacts.doctypes import DocType
from jobs.artifacts.reading.document import Table

_D = DocType
# (type, weight, pattern of a column's name). A column counts once for each type.
_COLUMNS: tuple[tuple[DocType, float, re.Pattern[str]], ...] = tuple(
    (doc_type, weight, re.compile(pattern, re.I))
    for doc_type, weight, pattern in (
        (_D.TEST_CASES, 3.0, r"^expected\b|\bexpected (?:results?|outcome|behaviou?r)|^erwartetes (?:ergebnis|verhalten)"),
        (_D.TEST_CASES, 2.5, r"\btest ?case|\btest ?id\b|^tc ?(?:id|no|#)?$|\btest (?:scenario|title|name|steps?|summary)|^testfall"),
        (_D.TEST_CASES, 2.0, r"^scenario$|^steps?(?: to execute)?$|^(?:step|test) (?:action|description|no|#)|^action$|^pre-?conditions?|^actual (?:results?)?|^schritte?"),
        (_D.TEST_CASES, 0.5, r"^priority$|^module$|^status$|^severity$|pass ?/ ?fail"),
        (_D.REQUIREMENTS, 3.0, r"\breq(?:uirement)?s?\b|^anforderung|\bfeature description"),
        (_D.REQUIREMENTS, 1.0, r"^acceptance|^rationale|^moscow|^source$|^stakeholder|^verification|^category$|^priority$|^description$"),
        (_D.USER_STORY, 3.0, r"\b(?:user )?stor(?:y|ies)\b|^as an?\b|^i want|^so that|\bstory points?"),
        (_D.USER_STORY, 1.0, r"^epic|^acceptance criteria|^sprint$|^points$|^persona|^assignee$|^issue type$"),
        (_D.REPORT, 2.0, r"^(?:passed|failed|skipped|blocked|pass rate|pass ?%|failures|total tests|executed|not run|errors)\b|\bpassed\b.*\bfailed\b"),
        (_D.REPORT, 2.5, r"^steps? to reproduce|^(?:bug|defect|issue) ?(?:id|no|#|title|summary)?$"),
        (_D.REPORT, 1.3, r"^(?:result|outcome|duration|elapsed|build|run (?:id|date)|executed (?:by|on|at)|test run|coverage|response time|p9[05]|throughput|findings?|severity|defects?)\b|^cvss|^% ?covered"),
        (_D.DATASHEET, 3.0, r"^(?:min|typ|max|typical|minimum|maximum)\.?$|^units?$|^symbol$|^parameter$|^characteristic|^test conditions?$|^specification$|^pin$"),
        (_D.API_SPEC, 2.0, r"^(?:endpoint|path|http method|method|verb|route|request|response|status code)s?$"),
        (_D.TEST_DATA, 1.6, r"^(?:user ?names?|login|e-?mail(?: address)?|pass(?:word|wd)|first ?name|last ?name|full ?name|phone(?: number)?|birth ?date|dob|date of birth|gender|address|street|city|zip(?: ?code)?|postal ?code|country|state|card ?number|cvv|expiry|iban|sku|product(?: id| name)?|customer(?: id| name)?|user ?id|order ?id|account(?: number| id)?|is_?active|role|created_?at|updated_?at|uuid|currency|company|age|quantity|price|vat number|ssn|benutzername|passwort|vorname|nachname|stra(?:ss|\u00df)e|plz|ort|stadt|telefon|geburtsdatum|kundennummer|pr\u00e9nom|nom|ville|mot de passe|nombre|apellidos?|ciudad|contrase\u00f1a)$"),
        (_D.TEST_DATA, 1.0, r"^id$|_id$|_at$|^name$|^amount$|^status$|^type$"),
        (_D.TEST_DATA, 3.0, r"^(?:valid|is ?valid|erwartete?\w* (?:meldung|ergebnis|status)|expected ?(?:valid|error|message|status|login)|should_?(?:pass|fail|succeed)|input(?: ?value)?|test ?data|data ?set|scenario|case)$"),
        (_D.SPREADSHEET, 1.5, r"^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\.?(?: \d{2,4})?$|^q[1-4]\b|^(?:20\d\d)$|^fy ?\d|^week ?\d+|^(?:kw|cw) ?\d+"),
        (_D.SPREADSHEET, 2.0, r"\b(?:total|budget|actual|forecast|variance|cost|revenue|margin|profit|spend|spent|remaining|balance|headcount|hours|rate|subtotal|net|gross|tax|plan(?:ned)?|department|owner|start(?: date)?|end(?: date)?|due(?: date)?|milestone|quantity on hand|reorder|supplier|unit (?:cost|price)|line total)\b"),
    )
)  # fmt: skip


def scores(tables: list[Table], spreadsheet: bool) -> Counter[DocType]:
    """Points by type. A workbook is a spreadsheet unless its columns speak of something else."""
    found: Counter[DocType] = Counter()
    for table in tables[:5]:
        one: Counter[DocType] = Counter()
        for cell in dict.fromkeys(one for one in table.head[:60] if len(one) <= 80):
            for doc_type, weight in _of_column(_plain(cell), cell):
                one[doc_type] += weight  # type: ignore[assignment]
        fitting = sum(
            any(found is _D.TEST_DATA for found, _ in _of_column(_plain(cell), cell)) for cell in table.head[:60]
        )
        if fitting >= 3 and fitting >= 0.6 * len(table.head) and not table.formulas:
            one[_D.TEST_DATA] += 2.0  # type: ignore[assignment]
        if table.formulas:
            one[_D.SPREADSHEET] += min(4.0, 1.0 + table.formulas / 5)  # type: ignore[assignment]
        _of_cells(table, one)
        for doc_type, points in one.items():
            found[doc_type] = max(found[doc_type], points)
    if spreadsheet:
        found[_D.SPREADSHEET] += 2.5  # type: ignore[assignment]
    return found


def _plain(cell: str) -> str:
    """`firstName`, `first_name`, `${first_name}` and `First name *` are one."""
    return re.sub(r"[\s_]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", cell)).strip(" *:#${}<>").lower()


def _of_column(name: str, cell: str) -> list[tuple[DocType, float]]:
    best: dict[DocType, float] = {}
    for doc_type, weight, pattern in _COLUMNS:
        if pattern.search(name) or pattern.search(cell):
            best[doc_type] = max(best.get(doc_type, 0.0), weight)
    return list(best.items())


def _of_cells(table: Table, points: Counter[DocType]) -> None:
    """What stands in the cells: stories, ids of test cases, words for what a system shall do."""
    text = "\n".join(" ".join(row) for row in table.rows[:100])
    rows = max(1, min(100, len(table.rows)))
    for doc_type, weight, pattern in (
        (_D.USER_STORY, 5.0, r"\bas an? [^,\n]{2,60},?\s+i (?:want|need|can|would)"),
        (_D.TEST_CASES, 3.0, r"\bTC[-_ ]?\w*\d+\b"),
        (_D.REQUIREMENTS, 4.0, r"\b(?:shall|must)\b"),
        (_D.REQUIREMENTS, 3.0, r"\b(?:N?FR|REQ|BR)[-_ ]?\d+\b"),
        (_D.DATASHEET, 3.0, r"\b\d+(?:\.\d+)?\s?(?:V|mA|A|MHz|mm|°C|W|kg)\b"),
        (_D.REPORT, 3.0, r"\b(?:passed|failed|pass|fail|skipped)\b"),
    ):
        share = len(re.findall(pattern, text, re.I)) / rows
        if share >= 0.3:
            points[doc_type] += weight * min(1.0, share)  # type: ignore[assignment]
