"""What a document may be. The words are shared with other programs."""

import re
from enum import StrEnum


class DocType(StrEnum):
    """The first three are recognised by content alone, whatever a model says of it."""

    FUNCTIONIZE_TC = "FUNCTIONIZE_TC"
    SELENIUM_SCRIPT = "SELENIUM_SCRIPT"
    ENV_CONFIG = "ENV_CONFIG"
    REQUIREMENTS = "REQUIREMENTS"
    USER_STORY = "USER_STORY"
    TEST_CASES = "TEST_CASES"
    TEST_DATA = "TEST_DATA"
    AUTOMATION_SCRIPT = "AUTOMATION_SCRIPT"
    API_SPEC = "API_SPEC"
    ARCHITECTURE = "ARCHITECTURE"
    REPORT = "REPORT"
    SPREADSHEET = "SPREADSHEET"
    DATASHEET = "DATASHEET"
    OTHER = "OTHER"


BY_CONTENT = frozenset({DocType.FUNCTIONIZE_TC, DocType.SELENIUM_SCRIPT, DocType.ENV_CONFIG})
# What a model may answer.
SAID = frozenset(DocType) - BY_CONTENT
ALIASES = {
    "REQUIREMENT": DocType.REQUIREMENTS,
    "SPEC": DocType.REQUIREMENTS,
    "SPECIFICATION": DocType.REQUIREMENTS,
    "USER_STORIES": DocType.USER_STORY,
    "STORY": DocType.USER_STORY,
    "TEST_CASE": DocType.TEST_CASES,
    "TESTCASES": DocType.TEST_CASES,
    "TESTDATA": DocType.TEST_DATA,
    "SCRIPT": DocType.AUTOMATION_SCRIPT,
    "AUTOMATION": DocType.AUTOMATION_SCRIPT,
}


def normalised(said: object) -> DocType:
    """The type that a model means: `User stories`, `test-case`, `SPEC`; OTHER for what is none."""
    key = re.sub(r"[\s-]+", "_", str("" if said is None else said).strip().upper()[:100])
    found = ALIASES.get(key, key)
    return DocType(found) if found in SAID else DocType.OTHER


def final(by_content: DocType | None, said: object) -> DocType:
    """The content's own type where it has one that wins, else what was said."""
    return by_content if by_content in BY_CONTENT and by_content is not None else normalised(said)
