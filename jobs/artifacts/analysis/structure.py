"""Types that a document's form tells: a format of its own, or code that uses a library for nothing else."""

import re
from collections.abc import Callable
from typing import Any

from jobs.artifacts.analysis.env import env_names
from jobs.artifacts.doctypes import DocType
from jobs.artifacts.reading.document import Document

_SELENIUM = re.compile(
    r"\b(?:from\s+selenium(?:\.|\s)|import\s+selenium\b|org\.openqa\.selenium|OpenQA\.Selenium|selenium-webdriver|seleniumbase"
    r"|require\s+['\"]selenium|io\.appium\.java_client|Library\s+Selenium\w*Library|Facebook\\WebDriver|com\.codeborne\.selenide)"
    r"|\bSelenium2?Library\b|\bwebdriver\.(?:Chrome|Firefox|Edge|Safari|Remote|Ie)\(|\bnew\s+(?:Chrome|Firefox|Edge|Safari|Remote)Driver\("
)
_AUTOMATION = re.compile(
    r"@playwright/test|playwright\.(?:sync|async)_api|microsoft\.playwright|require\(['\"](?:playwright|puppeteer|cypress|mocha|jest|chai|tape|ava|jasmine|qunit)"
    r"|from\s+['\"](?:playwright|puppeteer|cypress|webdriverio|testcafe|k6(?:/\w+)?|detox|nightwatch|supertest|vitest|mocha|chai|ava|(?:ember-)?qunit|@jest/globals|@wdio/globals)['\"]"
    r"|\bcy\.(?:visit|get|contains|intercept)\(|\bbrowser\.url\(|\bpage\.(?:goto|click|fill|locator|getBy\w+|get_by_\w+)\("
    r"|\bfixture\s*[`(]['\"`]|\bfrom\s+locust\b|\bimport\s+(?:pytest|unittest|locust)\b|\bimport\s+org\.(?:junit|testng)\b|\busing\s+(?:NUnit|Xunit|Microsoft\.VisualStudio\.TestTools)"
    r"|\bfrom\s+(?:pytest|unittest|behave|appium|robot)\b|io\.restassured|io\.gatling|\bkarate\b.*\bFeature\b|\bimport\s+.*cucumber|\bdescribe\s+['\"].*\bdo\b"
    r"|^[ \t]*(?:describe|it|test)\(\s*['\"`]|^[ \t]*(?:async )?def test_\w+\(|^[ \t]*@(?:Test|ParameterizedTest)\b|^[ \t]*\[(?:Fact|Theory|Test|TestMethod)\b",
    re.M,
)  # fmt: skip
_SCRIPT_LANGUAGES = frozenset({"Shell", "PowerShell", "Batch", "Robot Framework", "VBScript"})
_API_LANGUAGES = frozenset({"GraphQL", "Protocol Buffers", "RAML", "API Blueprint"})
_DIAGRAMS = frozenset({"PlantUML", "Mermaid", "Structurizr", "Terraform"})
_ACTION_ID = re.compile(r"\b1[5-9]\d{11}_[A-Z0-9]{10}\b")
_FUNCTIONIZE = re.compile(
    r"functionize(?:app)?(?:\.com|\b)|\bfze\.(?:local|project|team|step|action|attributes)\b", re.I
)


def by_structure(document: Document) -> DocType | None:
    """The type of a document whose form leaves no doubt; None for all others."""
    return next((found for ask in _QUESTIONS if (found := ask(document)) is not None), None)


def _functionize(document: Document) -> DocType | None:
    """An export of the recorder: JSON, XML or a table of actions that name it, its variables or its kind of ids."""
    if document.kind.endswith("code") or document.kind in ("Markdown", "PDF", "Word document", "text", "HTML page"):
        return None
    head = document.text[:200_000]
    keys = _keys(document.data)
    named = _FUNCTIONIZE.search(head) is not None or "functionize" in document.base or any("fze" in key for key in keys)
    ids = len(_ACTION_ID.findall(head))
    steps = keys & {"actions", "steps", "testcase", "testcases", "test_cases", "tests", "previoussteps", "step"}
    own = keys & {"orchestrationid", "orchestrationrunid", "tdmdatasetid", "deploymentid", "fzetestid", "testid", "actionid",
                  "action_id"}  # fmt: skip
    if document.data is not None:
        return DocType.FUNCTIONIZE_TC if (named and steps) or (ids >= 2 and steps) or len(own) >= 2 and steps else None
    heads = {cell.lower() for table in document.tables for cell in table.head}
    tabled = any(re.search(r"action|step", cell) for cell in heads)
    return DocType.FUNCTIONIZE_TC if (named or ids >= 2) and (tabled or document.root) else None


def _keys(value: Any, depth: int = 4, left: int = 40) -> set[str]:
    """The keys near the top, in lower case."""
    if depth == 0:
        return set()
    if isinstance(value, dict):
        found = {str(key).lower()[:60] for key in list(value)[:200]}
        for one in list(value.values())[:left]:
            found |= _keys(one, depth - 1, left)
        return found
    return (
        set().union(*(_keys(one, depth - 1, left) for one in value[:5])) if isinstance(value, list) and value else set()
    )


def _env(document: Document) -> DocType | None:
    return DocType.ENV_CONFIG if env_names(document) else None


def _selenium(document: Document) -> DocType | None:
    if document.kind.endswith("code") and document.facts.get("language") != "SQL":
        return DocType.SELENIUM_SCRIPT if _SELENIUM.search(document.text[:100_000]) else None
    data = document.data
    if isinstance(data, dict) and isinstance(data.get("tests"), list) and ("suites" in data or "urls" in data):
        commands = [one.get("commands") for one in data["tests"] if isinstance(one, dict)]
        if commands and any(isinstance(one, list) for one in commands):  # the recorder's .side
            return DocType.SELENIUM_SCRIPT
    if document.kind == "HTML page" and re.search(
        r"\b(?:clickAndWait|verifyTextPresent|waitForPageToLoad|selenium\.base)\b", document.text
    ):
        return DocType.SELENIUM_SCRIPT
    return None


def _gherkin(document: Document) -> DocType | None:
    return DocType.TEST_CASES if document.facts.get("language") == "Gherkin" else None


def _api(document: Document) -> DocType | None:
    if document.facts.get("language") in _API_LANGUAGES:
        return DocType.API_SPEC
    if document.root in ("definitions", "description") and "wsdl" in str(document.facts.get("namespace", "")):
        return DocType.API_SPEC
    if document.root == "application" and "wadl" in str(document.facts.get("namespace", "")):
        return DocType.API_SPEC
    data = document.data
    if isinstance(data, dict):
        if any(key in data for key in ("openapi", "swagger", "asyncapi", "swaggerVersion")):
            return DocType.API_SPEC
        info = data.get("info")
        if isinstance(info, dict) and (isinstance(data.get("item"), list) or isinstance(data.get("paths"), dict)):
            return DocType.API_SPEC  # a collection of requests, or a description without its version
        schema = data.get("data", data)
        if isinstance(schema, dict) and isinstance(schema.get("__schema"), dict):
            return DocType.API_SPEC
        if "$schema" in data and "json-schema.org" in str(data["$schema"]):
            return DocType.API_SPEC
        return None
    return DocType.API_SPEC if re.search(r"\A\s*[\"']?(?:openapi|swagger|asyncapi)[\"']?\s*:", document.text[:3_000]) or (
        document.kind in ("JSON", "YAML") and re.search(r"^[ \t]*[\"']?(?:openapi|swagger)[\"']?\s*:\s*[\"']?[123]\.", document.text[:3_000], re.M)
    ) else None  # fmt: skip


_RESULT_ROOTS = frozenset({
    "testsuite", "testsuites", "testng-results", "coverage", "test-run", "assemblies", "TestRun", "checkstyle", "pmd", "bugcollection",
    "OWASPZAPReport", "nmaprun", "testExecutions", "report", "cucumber",
})  # fmt: skip
# The pages of those that draw their results by script hold no text of their own.
_REPORTERS = re.compile(
    r"\b(?:mochawesome|extent(?: ?reports?)?|allure(?: ?reports?)?|serenity|gatling|karate|testng|surefire|jacoco|lcov|robot \d[\d.]*)\b"
    r"|\b(?:test|tests|coverage|cucumber|playwright|lighthouse|newman|k6|jmeter|pytest|cypress|nunit|junit|accessibility|unit test)"
    r" (?:\w+ )?(?:report|results|summary)\b",
    re.I,
)


def _results(document: Document) -> DocType | None:
    """What a runner or a scanner wrote about its run."""
    if document.kind == "HTML page" and _REPORTERS.search(f"{document.title} {document.facts.get('generator', '')}"):
        return DocType.REPORT
    tags = document.facts.get("tags", {})
    if document.root in _RESULT_ROOTS and not ({"steps", "custom"} & set(tags) and document.root != "testng-results"):
        return DocType.REPORT
    data = document.data
    keys = _keys(data, depth=3)
    if isinstance(data, list) and {"elements", "keyword", "uri"} <= keys:
        return DocType.REPORT
    if isinstance(data, dict):
        known = ({"stats", "suites"}, {"stats", "results"}, {"numtotaltests", "testresults"}, {"lighthouseversion", "audits"},
                 {"runs", "version", "$schema"}, {"summary", "tests", "duration"}, {"violations", "passes"}, {"run", "collection"},
                 {"metrics", "root_group"}, {"total", "covered", "pct"}, {"totals", "percent_covered"})  # fmt: skip
        if any(one <= keys for one in known) and not {"openapi", "swagger"} & keys:
            return DocType.REPORT
        counts = keys & {
            "passed",
            "failed",
            "skipped",
            "total",
            "failures",
            "errors",
            "pass",
            "fail",
            "pending",
            "broken",
        }
        if len(counts) >= 3:
            return DocType.REPORT
    return None


def _test_management(document: Document) -> DocType | None:
    """Exports of tools that manage test cases."""
    tags = {tag.lower() for tag in document.facts.get("tags", {})}
    if (
        document.root
        and tags & {"testcase", "case", "test_case", "testcases"}
        and tags & {"expected", "expectedresults", "expectedresult", "steps", "step", "actions"}
    ):
        return DocType.TEST_CASES
    keys = _keys(document.data)
    expected = any(re.fullmatch(r"expected[_ -]?(?:results?|outcome|behaviou?r)?", key) for key in keys)
    if (
        document.data is not None
        and expected
        and keys
        & {
            "steps",
            "test_steps",
            "teststeps",
            "step",
            "testcase",
            "test_case",
            "testcases",
            "test_cases",
            "preconditions",
        }
    ):
        return DocType.TEST_CASES
    return None


def _scripts(document: Document) -> DocType | None:
    language = document.facts.get("language")
    if document.root in ("jmeterTestPlan",) or (
        document.root == "project"
        and "target" in document.facts.get("tags", {})
        and "modelVersion" not in document.facts["tags"]
    ):
        return DocType.AUTOMATION_SCRIPT
    data = document.data
    if isinstance(data, dict):
        keys = {str(key) for key in data}
        pipeline = ({"on", "jobs"} <= keys or (True in data and "jobs" in keys) or "stages" in keys or {"trigger", "steps"} <= keys
                    or {"pool", "steps"} <= keys or ("pipelines" in keys) or {"version", "jobs", "workflows"} <= keys
                    or {"name", "runs"} <= keys or {"build_script", "test_script", "script", "before_script", "before_build", "before_install"} & keys)  # fmt: skip
        if pipeline and document.kind == "YAML":
            return DocType.AUTOMATION_SCRIPT
    if (
        isinstance(data, list)
        and document.kind == "YAML"
        and data
        and isinstance(data[0], dict)
        and {"hosts", "tasks"} <= set(map(str, data[0]))
    ):
        return DocType.AUTOMATION_SCRIPT
    if not language:
        return (
            DocType.AUTOMATION_SCRIPT
            if document.base.startswith("jenkinsfile")
            or re.search(r"^[ \t]*pipeline\s*\{[\s\S]{0,3000}?\bstages\s*\{", document.text[:5_000], re.M)
            else None
        )
    if language in _SCRIPT_LANGUAGES or _AUTOMATION.search(document.text[:100_000]):
        return DocType.AUTOMATION_SCRIPT
    return None


def _drawings(document: Document) -> DocType | None:
    if document.facts.get("language") in _DIAGRAMS or document.root in (
        "mxfile",
        "mxGraphModel",
        "archimate:model",
        "xmi:XMI",
        "XMI",
    ):
        return DocType.ARCHITECTURE
    data = document.data
    if isinstance(data, dict) and document.kind == "YAML":
        keys = {str(key) for key in data}
        if "services" in keys and isinstance(data["services"], dict) or {"apiVersion", "kind"} <= keys:
            return DocType.ARCHITECTURE
    return None


def _statements(document: Document) -> DocType | None:
    """SQL: rows that are put in are data, tables that are made are a design."""
    if document.facts.get("language") != "SQL":
        return None
    made = len(re.findall(r"^[ \t]*CREATE\s+(?:TABLE|VIEW|INDEX|TYPE)", document.text, re.M | re.I))
    filled = len(re.findall(r"\bINSERT\s+INTO\b|\bCOPY\s+\w", document.text, re.I))
    rows = len(re.findall(r"^[ \t]*\(.*\)\s*[,;]\s*$", document.text, re.M))
    return DocType.TEST_DATA if filled + rows > made * 2 else DocType.ARCHITECTURE if made else None


_QUESTIONS: tuple[Callable[[Document], DocType | None], ...] = (
    _functionize, _env, _selenium, _gherkin, _api, _results, _test_management, _drawings, _statements, _scripts,
)  # fmt: skip
