"""What a file is, by its content: labelled files, and the forms that must never be mistaken."""

import io
import json
from pathlib import Path

import pytest

from jobs.artifacts.analysis.analyse import analyse
from jobs.artifacts.analysis.redact import MASK, redacted
from jobs.artifacts.doctypes import DocType, final, normalised
from tests.artifacts.further import FURTHER
from tests.artifacts.making import docx, pdf, xlsx
from tests.artifacts.score import content, wrong

LABELS: dict[str, str] = json.loads((Path(__file__).parent / "labels.json").read_text())


def test_the_types_of_labelled_files_are_right_for_nine_in_ten() -> None:
    assert len(LABELS) >= 40 and set(LABELS.values()) == set(DocType)
    assert {path.name for path in (Path(__file__).parent / "files").iterdir()} == {
        one for one in LABELS if "/" not in one
    }
    missed = wrong(LABELS)
    assert len(missed) <= len(LABELS) // 10, missed


def test_the_types_of_further_files_are_right_for_nine_in_ten() -> None:
    found = {name: analyse(io.BytesIO(data), name, []).doc_type for name, (_label, data) in FURTHER.items()}
    missed = {name: (label, found[name]) for name, (label, _data) in FURTHER.items() if found[name] != label}
    assert len(FURTHER) >= 70 and len(missed) <= len(FURTHER) // 10, missed


@pytest.mark.parametrize(
    "name", [one for one, label in LABELS.items() if label in ("SELENIUM_SCRIPT", "FUNCTIONIZE_TC", "ENV_CONFIG")]
)
@pytest.mark.parametrize("called", ["requirements.md", "data.csv", "noname", "report.html"])
def test_what_the_content_proves_holds_whatever_the_file_is_called(name: str, called: str) -> None:
    if Path(name).suffix in (".java", ".py") and called != "noname":
        return  # a script that is called a table is read as one; its imports stand in its first line all the same
    assert analyse(io.BytesIO(content(name)), called, []).doc_type == LABELS[name]


def test_every_description_is_short_and_says_something() -> None:
    for name in LABELS:
        found = analyse(io.BytesIO(content(name)), name, [])
        assert 10 <= len(found.summary) <= 600, (name, found.summary)
        assert len(found.keywords) <= 10 and all(0 < len(word) <= 60 for word in found.keywords), (name, found.keywords)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.docx", docx("# Badges\nReception prints a badge for each visitor who arrives."), ["Word document “Badges”", "Reception prints"]),
        ("a.xlsx", xlsx(("One", [["Name", "Hours"], ["Ada", 3], ["Bo", 4]])), ["2 rows", "Name, Hours"]),
        ("a.pdf", pdf("Pumps\nA pump moves water from here to there.", "Second page"), ["2 pages", "A pump moves water"]),
        ("a.json", b'{"openapi": "3.1.0", "info": {"title": "Depot"}, "paths": {"/a": {"get": {}, "put": {}}}}', ["OpenAPI 3.1.0 of “Depot”", "2 operations"]),
        ("a.txt", "Grüße aus Köln, wo die Sonne immer scheint und alle froh sind.".encode("cp1252"), ["Grüße aus Köln"]),
        ("a.txt", "Grüße aus Köln, wo die Sonne immer scheint und alle froh sind.".encode("utf-16"), ["Grüße aus Köln"]),
        ("a.pdf", b"\x89PNG\r\n\x1a\n" + bytes(100), ["PNG image, although it is named .pdf"]),
        ("a.txt", b"", ["An empty file."]),
        ("a.csv", b"\n\n  \n", ["An empty file."]),
        ("a.txt", b"\x7fELF" + bytes(range(256)), ["ELF program"]),
        ("a.docx", b"Plain text that somebody gave the wrong end to its name, as it happens.", ["Plain text that somebody"]),
    ],
)  # fmt: skip
def test_the_summary_says_what_it_is_and_how_it_begins(name: str, data: bytes, words: list[str]) -> None:
    summary = analyse(io.BytesIO(data), name, []).summary
    assert all(word in summary for word in words), summary


@pytest.mark.parametrize(
    ("said", "means"),
    [("User stories", "USER_STORY"), ("spec", "REQUIREMENTS"), ("test-case", "TEST_CASES"), ("TESTDATA", "TEST_DATA"),
     (" script ", "AUTOMATION_SCRIPT"), ("API spec", "API_SPEC"), ("poem", "OTHER"), ("ENV_CONFIG", "OTHER"), (None, "OTHER"),
     (["REPORT"], "OTHER"), ("x" * 10_000, "OTHER")],
)  # fmt: skip
def test_a_models_word_is_read_through_the_aliases(said: object, means: str) -> None:
    assert normalised(said) == means


def test_the_contents_own_type_wins_over_what_is_said() -> None:
    assert final(DocType.SELENIUM_SCRIPT, "REPORT") == "SELENIUM_SCRIPT"
    assert final(None, "REPORT") == final(DocType.TEST_CASES, "REPORT") == "REPORT"


@pytest.mark.parametrize(
    "secret",
    ["password: hunter2x", "api_key = 'abcdefgh'", '"client_secret": "abcdefgh"', "PASSWORD=hunter2x", "token is abcdefgh",
     "https://kim:hunter2x@host.example/", "Authorization: Bearer abcdefgh.ijkl", "ghp_abcdefghijklmnopqrstuvwxyz", "AKIAABCDEFGHIJKLMNOP",
     "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "-----BEGIN RSA PRIVATE KEY-----\nabcdefgh\n-----END RSA PRIVATE KEY-----"],
)  # fmt: skip
def test_secrets_are_masked_by_their_key_and_by_their_form(secret: str) -> None:
    text = redacted(f"Before {secret} after")
    assert MASK in text and "after" in text
    assert not any(value in text for value in ("hunter2x", "abcdefgh", "AKIA", "eyJ"))


SECRET = "hunter2-x9"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("users.csv", "user,password,role\nbob,{},admin\nann,{},guest\n"),
        ("users.yaml", "users:\n  - name: bob\n    token: |\n      {}\n    ring: &a\n      again: *a\n"),
        ("users.json", '{{"users": [{{"passwords": ["{}", "b"]}}], "note": "bob signs in with {}"}}'),
        ("users.xml", "<users><user name='bob'><password>{}</password></user><p name='api-key' value='{}'/></users>"),
        ("users.html", "<h1>Users</h1><table><tr><th>User</th><th>Password</th></tr><tr><td>bob</td><td>{}</td></tr></table>"),
        ("users.md", "# Sign in\n\n| user | password |\n|---|---|\n| bob | {} |\n\n## Use `{}`\n"),
        ("app.properties", "datasource.password={}\n"),
        ("setup.sh", "#!/bin/sh\ncurl --password {} https://host.example/\ncurl -u bob:{} https://host.example/?token={}\n"),
        ("login.py", 'PASSWORD = "{}"\nclient.login("bob", "{}")\n'),
        ("login.feature", 'Feature: Sign in\n  Scenario: it works\n    Given "bob" with the password "{}"\n    Then he is in\n'),
        (".env", "# the old one was {}\nDB_PASSWORD={}\n"),
    ],
)  # fmt: skip
def test_a_secret_is_masked_wherever_a_file_repeats_it(name: str, content: str) -> None:
    found = analyse(io.BytesIO(content.replace("{}", SECRET).replace("{{", "{").replace("}}", "}").encode()), name, [])
    assert SECRET not in str(found) and "hunter2" not in str(found)
    assert "bob" in found.sample or name in ("app.properties", ".env", "users.xml")


def test_words_of_a_schema_are_no_secrets() -> None:
    text = '{"type": "object", "properties": {"password": {"type": "string"}, "name": {"type": "string"}}, "token": "string"}'
    assert "string" in analyse(io.BytesIO(text.encode()), "schema.json", []).sample


def test_words_that_only_look_like_it_stay() -> None:
    text = "The basket holds 3 items. Name: Ada. See https://host.example/a?b=c and the tokenizer."
    assert redacted(text) == text
