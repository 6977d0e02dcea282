"""The bounds of everything a site could make endless. Bytes and seconds."""

from dataclasses import dataclass

USER_AGENT_TOKEN = "DetiqBot"  # what a robots.txt names  # noqa: S105
USER_AGENT = "Mozilla/5.0 (compatible; DetiqBot/0.1; Detiq Admin site crawler)"

MAX_URL_CHARS = 2_048


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of one site a job takes, whatever its config says."""

    page_bytes: int = 2_000_000
    sitemap_bytes: int = 10_000_000
    robots_bytes: int = 512_000
    total_seconds: float = 20.0
    redirects: int = 10
    links_per_page: int = 5_000
    sitemaps: int = 50
    delay_seconds: float = 30.0
    """The longest wait between two requests that a robots.txt can ask for."""
    retry_after_seconds: float = 60.0
    """The longest wait for one page that answered 429 or 503; a longer one is left to the job's own retry."""
    page_retries: int = 2
    silent_pages: int = 5
    """So many pages in a row that cannot be reached mean that the site is gone, not the pages."""
    listed_pages: int = 1_000
    listed_failures: int = 200
    remembered_bytes: int = 4_000_000
    """All URLs that a checkpoint holds."""


LIMITS = Limits()
