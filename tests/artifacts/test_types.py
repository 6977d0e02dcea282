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
        ("a.json", b'{"info": {"name": "Depot"}, "item": [{"item": [{"request": {}}]}, {"request": {}}]}', ["of \u201cDepot\u201d. 2 requests"]),
        ("a.side", b'{"tests": [{"commands": []}, {"commands": []}], "suites": []}', ["of 2 tests", "tests (2)"]),
        ("a.xml", b'<testsuites tests="9" failures="2" errors="0"><testsuite/></testsuites>', ["9 tests, 2 failures"]),
        ("a.xml", b'<testsuite><testcase/><testcase><failure/></testcase></testsuite>', ["2 tests, 1 failure"]),
        ("a.json", b'{"stats": {"tests": 12, "failures": 1, "passes": 11}, "results": []}', ["of 12 tests, 1 failure"]),
        ("test_a.py", b"def test_one(driver):\n    pass\n\nasync def test_two(page):\n    pass\n", ["2 tests: test_one"]),
        ("a.sql", b"CREATE TABLE IF NOT EXISTS parcel (id int);\nINSERT INTO parcel VALUES (1);\n", ["1 table: parcel; 1 insert"]),
        ("a.md", b"# Stories\n\nComo cliente\nQuero ver pedidos\n\nAs a guest, I want to pay.\n", ["2 stories"]),
        ("a.feature", "Funcionalidade: Caixa\n  Cen\u00e1rio: Vazia\n    Dado que est\u00e1 vazia\n".encode(), ["with 1 scenario"]),
        ("a.md", b"# Guide\n\n- [How it begins](#how-it-begins)\n- [How it all ends one day](#how-it-ends)\n\nThe [parcel](https://host.example/) is weighed before it leaves the depot.\n", ["\u201cGuide\u201d. The parcel is weighed"]),
        ("a.docx", b"Plain text that somebody gave the wrong end to its name, as it happens.", ["Plain text that somebody"]),
    ],
)  # fmt: skip
def test_the_summary_says_what_it_is_and_how_it_begins(name: str, data: bytes, words: list[str]) -> None:
    summary = analyse(io.BytesIO(data), name, []).summary
    assert all(word in summary for word in words), summary


@pytest.mark.parametrize(
    ("name", "text", "doc_type"),
    [
        ("config.ini", "[shop]\nbaseURL = https://shop.example\nlockedUser = kim\npassword = hunter2x\n", "ENV_CONFIG"),
        ("app.properties", "datasource.url=jdbc:x\ndatasource.username=kim\ndatasource.password=hunter2x\n", "ENV_CONFIG"),
        ("pytest.ini", "[pytest]\ntestpaths = tests\naddopts = -v\nbase_url = http://x\nmarkers =\n", "OTHER"),
        ("library.properties", "name=Pump\nversion=1.0\nauthor=Kim\nurl=https://host.example\n", "OTHER"),
        ("action.yml", "name: Covers\ninputs:\n  lines:\n    default: 0\nruns:\n  using: composite\n  steps:\n    - run: |\n        if x\n        then y\n", "AUTOMATION_SCRIPT"),
        ("travis.yml", "language: node_js\nbefore_install:\n  - npm i\n", "AUTOMATION_SCRIPT"),
        ("loginData.csv", "*** Test Cases ***,${username},${password}\nCase 1,kim,a\nCase 2,ann,b\n", "TEST_DATA"),
        ("users.json", '{"valid": {"email": "a@x.example", "password": "p"}, "locked": {"email": "b@x.example", "password": "q"}}', "TEST_DATA"),
        ("pom.xml", "<project><modelVersion>4</modelVersion><build><target>21</target></build><description>backend components, monolith, kafka, redis, cache, latency, cdn, lambda, replicas</description></project>", "OTHER"),
        ("index.html", "<html><head><title>Mochawesome Report</title></head><body></body></html>", "REPORT"),
        ("shop.html", "<html><body><h1>Storage</h1><pre>" + "expect(a)\nexpect(b)\n" * 8 + "</pre></body></html>", "OTHER"),
        ("SECURITY.md", "<!-- first -->\n\n## Security\n\nPlease report a hole by mail, do not report it in public. Report security problems to us.\n", "OTHER"),
        ("BR-7.md", "# Toggle stays pressed\n\n## Severity\nMinor\n\n## Preconditions\nSigned in\n\n## Steps to Reproduce\n1. Press it\n\n## Expected Result\nUp\n\n## Actual Result\nDown\n", "REPORT"),
        ("OFL.txt", "OPEN FONT LICENSE\nThe software must be kept whole, the requirement stands; it must bear the copyright notice and the warranty must not be removed. Permission is hereby granted without limitation. Users must agree.\n", "OTHER"),
        ("tính năng.md", "# Tính năng\n\nYêu cầu: chức năng tìm kiếm.\nYêu cầu: chức năng giỏ hàng.\n", "REQUIREMENTS"),
        ("test_pay.py", "from pages import Cart\n\ndef test_pays(driver):\n    assert Cart(driver).pay()\n", "AUTOMATION_SCRIPT"),
        ("one.sql", "CREATE TABLE parcel (id int);\n", "ARCHITECTURE"),
    ],
)  # fmt: skip
def test_what_real_files_taught(name: str, text: str, doc_type: str) -> None:
    found = analyse(io.BytesIO(text.encode()), name, [])
    assert found.doc_type == doc_type and "hunter2x" not in str(found)


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
