"""The demo's jobs. Nothing is faked: those that fail do so because what they ask for is not there."""

from typing import Any

from jobs.queue.transitions import enqueue

ACTOR = "demo"
_QUIET = {"delayMs": 100}


def submit_all(site: str) -> list[str]:
    """Enqueues all of them for the site at that address. Returns their ids."""
    return [enqueue(actor=ACTOR, submitted_by=by, **job) for by, job in _jobs(site)]


def _jobs(site: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        (
            "operator",
            _job("CRAWL", "harbor-bank", f"{site}/", "Handbook, whole site", project="handbook", maxPages=200),
        ),
        ("operator", _job("DISCOVER", "harbor-bank", f"{site}/", "Handbook, find pages", project="handbook")),
        (
            "operator",
            _job("CRAWL", "lumen-health", f"{site}/guide/", "Guide only", project="guide", include=["*/guide/*"]),
        ),
        (
            "operator",
            _job("CRAWL", "lumen-health", f"{site}/releases/", "Releases", priority=5, include=["*/releases/*"]),
        ),
        ("support", _job("DISCOVER", "pinecrest-retail", f"{site}/recipes/", "Recipes", maxPages=50)),
        ("support", _job("CRAWL", "pinecrest-retail", f"{site}/shop/", "Old shop, moved away")),
        ("support", _job("CRAWL", "quarry-logistics", f"{site}/tracking/portal/", "Tracking portal")),
        ("operator", _job("CRAWL", "quarry-logistics", f"{site}/maintenance/", "Depot pages")),
        ("operator", _job("DISCOVER", "quarry-logistics", "http://10.20.30.40/", "Intranet, not reachable from here")),
        # No worker of the demo does these types; their pages say so.
        ("operator", {"type": "GENERATE_TESTS", "tenant_id": "harbor-bank", "project_id": "handbook", "config": {}}),
        ("support", {"type": "VISUAL_REGRESSION", "tenant_id": "lumen-health", "project_id": "guide", "config": {}}),
        ("support", {"type": "RUN_TEST_SUITE", "tenant_id": "pinecrest-retail", "config": {"suite": "smoke"}}),
    ]


def _job(
    job_type: str, tenant: str, url: str, name: str, project: str | None = None, priority: int = 0, **config: Any
) -> dict[str, Any]:
    return {
        "type": job_type,
        "tenant_id": tenant,
        "project_id": project,
        "name": name,
        "priority": priority,
        "config": {"url": url, **_QUIET, **config},
    }
