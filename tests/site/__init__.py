"""A web site on loopback with everything that makes a crawl hard. `with Site(pages=300) as site: site.url, site.hits`."""

from tests.site.server import SPECIALS, Hit, Site

__all__ = ["SPECIALS", "Hit", "Site"]
