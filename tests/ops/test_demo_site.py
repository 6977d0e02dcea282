"""The demo's site is one that a crawl has something to do with."""

import httpx2
import pytest

from detiq_admin import demo_site


@pytest.fixture
def site():
    server = demo_site.serve(0)
    with httpx2.Client(base_url=demo_site.address(server)) as client:
        yield client
    server.shutdown()
    server.server_close()


def test_its_sitemap_names_a_few_dozen_pages_that_are_there(site):
    named = [part.split("</loc>")[0] for part in site.get("/sitemap.xml").text.split("<loc>")[1:]]
    assert len(named) > 30
    assert {site.get(url).status_code for url in named} == {200}


def test_it_has_what_real_sites_have(site):
    assert "Sitemap:" in site.get("/robots.txt").text
    assert site.get("/docs/").headers["location"] == "/guide/"
    assert site.get("/gone/").status_code == 404
    assert site.get("/maintenance/").status_code == 503


def test_a_taken_port_is_replaced_by_a_free_one(site):
    other = demo_site.serve(int(str(site.base_url).rstrip("/").rsplit(":", 1)[1]))
    assert httpx2.get(demo_site.address(other)).status_code == 200
    other.shutdown()
    other.server_close()
