"""DISCOVER finds a site's URLs from robots.txt, sitemaps and links, within limits, and fetches no more than that needs."""

from typing import Any

import pytest

from jobs.handlers.discover import discover
from jobs.handlers.web.errors import SiteAnswered
from jobs.handlers.web.limits import Limits
from tests.handlers.running import Run
from tests.site import Site


def run(site: Site, limits: Limits, **config: Any) -> dict[str, Any]:
    return discover(Run({"url": site.url, "delayMs": 0, **config}).job, limits)


def paths(result: dict[str, Any], site: Site) -> set[str]:
    assert all(url.startswith(site.url) for url in result["urls"])
    assert len(set(result["urls"])) == result["count"] == len(result["urls"])
    return {url.removeprefix(site.url) for url in result["urls"]}


def test_urls_come_from_sitemaps_and_links(quick: Limits) -> None:
    with Site(pages=12, special=("chain", "loop", "missing", "error", "image", "private", "off-site")) as site:
        result = run(site, quick)
        found = paths(result, site)
    assert {"/", "/page/11", "/only-in-sitemap", "/from-gz", "/from-broken?a=1&b=2", "/loop/b", "/chain-end"} <= found
    assert "/image.png" in found
    assert not found & {"/missing", "/error", "/private/secret", "/redirect/chain/3", "/redirect/off-site"}
    assert result["sources"]["start"] == 1 and result["sources"]["sitemap"] > 3 and result["sources"]["links"] > 3
    assert any(sitemap["url"].endswith("sitemap.xml.gz") and sitemap["urls"] == 1 for sitemap in result["sitemaps"])
    assert not result["truncated"]


def test_no_bomb_in_a_sitemap_goes_off(quick: Limits) -> None:
    with Site(pages=1) as site:
        result = run(site, quick)
        reports = {sitemap["url"].rpartition("/")[2]: sitemap for sitemap in result["sitemaps"]}
    assert reports["sitemap-bomb.xml.gz"]["cut"]
    assert "/from-bomb" in paths(result, site)
    assert all(len(url) < 200 for url in result["urls"])
    assert site.counts["/sitemap-index.xml"] == 1


def test_without_a_sitemap_links_are_followed(quick: Limits) -> None:
    with Site(pages=40, sitemap=False) as site:
        result = run(site, quick)
        assert {f"/page/{n}" for n in range(40)} <= paths(result, site)
        assert result["sources"]["sitemap"] == 0
        assert "HTTP 404" in result["sitemaps"][0]["reason"]


def test_once_enough_urls_are_known_no_page_is_fetched(quick: Limits) -> None:
    with Site(pages=300) as site:
        result = run(site, quick, maxPages=50)
        assert result["count"] == 50 and result["truncated"]
        assert sum(count for path, count in site.counts.items() if path.startswith("/page/")) == 0


def test_limits_of_depth_and_globs(quick: Limits) -> None:
    with Site(pages=0, special=("calendar",), sitemap=False) as site:
        assert paths(run(site, quick, maxDepth=3), site) == {"/", *(f"/calendar/{n}" for n in range(1, 6))}
    with Site(pages=30) as site:
        found = paths(run(site, quick, include=["/page/*"], exclude=["*/page/2*"]), site)
        assert found == {"/", "/page/0", "/page/1", *(f"/page/{n}" for n in (*range(3, 20),))}


def test_without_a_start_page_it_fails(quick: Limits) -> None:
    with Site(start_status=404) as site, pytest.raises(SiteAnswered):
        run(site, quick)
