"""A bad config is refused before the first request, with the key named; keys of other programs are left alone."""

from typing import Any

import pytest

from jobs.handlers import crawl, discover
from jobs.handlers.web.config import parse
from jobs.handlers.web.errors import InvalidJobInput
from tests.handlers.running import Run

URL = "https://example.com/"


def test_defaults_are_those_of_the_contract() -> None:
    config = parse(
        {"url": URL, "tenantId": "acme", "projectId": None, "submittedBy": "x", "deviceProfiles": ["DESKTOP"]}
    )
    assert (config.max_pages, config.max_depth, config.delay_seconds) == (500, 10, 0.25)
    assert config.wants("https://example.com/anything?x=1")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("url", bad) for bad in (
            None, "", "  ", 7, ["https://example.com"], "example.com", "ftp://example.com/", "file:///etc/passwd",
            "http://", "http:///x", "https://user:pw@example.com/", "https://user@example.com/", "http://[::1/",
            "http://example.com:99999/", "javascript:alert(1)", "http://" + "a" * 3000, "http://exa mple.com/",
        )),
        *(("maxPages", bad) for bad in (0, -1, 20_001, 1.5, "500", True, [], {}, float("nan"))),
        *(("maxDepth", bad) for bad in (-1, 101, "3", True)),
        *(("delayMs", bad) for bad in (-1, 60_001, "250", 0.5, False)),
        *((key, bad) for key in ("include", "exclude") for bad in (
            7, {}, [7], [""], ["  "], "", ["x" * 501], ["/a"] * 101, [None],
        )),
    ],
)  # fmt: skip
@pytest.mark.parametrize("run", [crawl.run, discover.run])
def test_a_bad_value_is_refused_and_its_key_named(run: Any, key: str, value: Any) -> None:
    with pytest.raises(InvalidJobInput) as refused:
        run(Run({"url": URL, key: value}).job)
    assert f"invalid input: {key}: " in str(refused.value)
    assert refused.value.key == key
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    ("include", "exclude", "url", "wanted"),
    [
        (["/docs/*"], None, "https://example.com/docs/a/b.html", True),
        (["/docs/*"], None, "https://example.com/blog", False),
        ("/docs/*", None, "https://example.com/docs/", True),
        (["https://example.com/a*"], None, "https://example.com/abc?x=1", True),
        (None, ["*.pdf"], "https://example.com/a.pdf", False),
        (None, ["*.pdf"], "https://example.com/a.pdf?x=1", False),
        (None, ["*?page=*"], "https://example.com/list?page=2", False),
        (["/docs/*"], ["/docs/old/*"], "https://example.com/docs/old/x", False),
    ],
)
def test_globs(include: Any, exclude: Any, url: str, wanted: bool) -> None:
    assert parse({"url": URL, "include": include, "exclude": exclude}).wants(url) is wanted


@pytest.mark.timeout(5)
def test_no_glob_can_make_matching_explode() -> None:
    config = parse({"url": URL, "exclude": ["*a" * 240 + "b"]})
    assert config.wants("https://example.com/" + "a" * 2000)
