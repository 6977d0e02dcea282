"""Sample data for a page that shows every part of the console at once: long names, markup as text, unknown states."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.http import HttpRequest
from django.template import RequestContext, Template

NOW = datetime(2026, 11, 30, 3, 19, 42, 412000, tzinfo=UTC)
SCRIPT = "<script>window.pwn=1</script><svg/onload=window.pwn=1>"
LONG = "quarterly-regression-of-" + "a-tenant-with-a-very-long-name-" * 6
STATUSES = [
    *("QUEUED", "RUNNING", "RETRY_WAIT", "CANCEL_REQUESTED", "CANCELLED", "DONE", "FAILED", "DEAD_LETTERED"),
    "ON_HOLD",
]
NAV = [
    ("overview", "Overview", "layout-dashboard", None, "", "o"),
    ("jobs", "Jobs", "list-details", 18_204, "", "j"),
    ("failures", "Failures", "alert-triangle", "2 new", "attention", "f"),
    ("dlq", "DLQ", "grave-2", "2,087", "dead", "d"),
    ("tenants", "Tenants", "building", "1 starved", "attention", "t"),
    ("workers", "Workers", "server", "7 of 8", "attention", "w"),
    ("ledger", "Ledger", "file-text", None, "", "l"),
    ("operations", "Operations", "stack-2", "1 braked", "attention", "p"),
    ("pauses", "Pauses", "player-pause", 2, "attention hatched", ""),
    ("audit", "Audit", "history", None, "", "a"),
    ("settings", "Settings", "settings", None, "", ""),
]


def nav() -> list[dict[str, object]]:
    keys = ("key", "label", "icon", "count", "tone", "go")
    return [dict(zip(keys, row, strict=True)) | {"url": "/", "rule": row[0] == "operations"} for row in NAV]


def jobs() -> list[dict[str, object]]:
    rows = []
    for index, status in enumerate([*STATUSES, "RUNNING", "QUEUED", SCRIPT]):
        rows.append(
            {
                "id": f"e07{index:x}",
                "status": "FAILED" if status == "DEAD_LETTERED" else status,
                "state_key": status,
                "dlq": status == "DEAD_LETTERED",
                "type": "VISUAL_REGRESSION" if index % 3 else "CRAWL",
                "name": LONG if index == 3 else SCRIPT if index == 4 else "www.halden-bank.example",
                "tenant": LONG if index == 5 else "piraeus-shipping",
                "why": SCRIPT if index == 6 else LONG if index == 8 else "CRAWL is paused until 04:00",
                "held": status == "QUEUED",
                "progress": 62 if status == "RUNNING" else 0,
                "priority": 5 if index < 2 else 0,
                "queued_at": NOW - timedelta(minutes=7 * index + 1, seconds=8),
            }
        )
    return rows


def tenants() -> list[dict[str, object]]:
    hours = [index * index % 17 for index in range(24)]
    keys = ("name", "used", "cap", "silent", "tone", "share", "queued")
    rows = [
        ("halden-bank", 4, 4, 1, "failed", 0.03, 5102),
        (LONG, 12, 12, 0, "faint", 0.41, 7880),
        ("fjordline", 40, 64, 0, "dead", 0.36, 1044),
        (SCRIPT, 0, 4, 0, "ink", 0, 0),
    ]
    return [dict(zip(keys, row, strict=True)) | {"hours": hours} for row in rows]


CONFIG = {
    "url": "https://www.halden-bank.example/",
    "maxPages": 2400,
    "include": ["/kredit/**", "/konto/**"],
    "auth": {"kind": "form", "markup": SCRIPT},
    "deep": {"a": {"b": {"c": [1, None, True]}}},
    "long": "x" * 5000,
    "empty": {},
    LONG: 1.5,
}
PAUSE_LINE = {
    "title": "2 pauses hold 12,620 jobs.",
    "text": "CRAWL, all tenants, ends 04:00 (in 40 min) · GENERATE_TESTS for quanta-pay, no end",
    "url": "/",
}
PAGER = {
    "text": "Rows 1–50 of 18,204, exact as of 03:19:42",
    "newer_url": "#n",
    "older_url": "#o",
    "note": "50 rows",
}


def context(request: HttpRequest, **extra: object) -> dict[str, object]:
    return {
        "request": request,
        "csrf_token": "x" * 64,
        "environment": {"name": "prod", "is_production": True},
        "role": "admin",
        "search_url": "/jobs/",
        "nav": nav(),
        "nav_current": "jobs",
        "server_now": NOW,
        "now": NOW,
        "before": NOW - timedelta(minutes=46),
        "after": NOW + timedelta(seconds=90),
        "pause_line": PAUSE_LINE,
        "statuses": STATUSES,
        "jobs": jobs(),
        "tenants": tenants(),
        "long_name": LONG,
        "script": SCRIPT,
        "config": CONFIG,
        "parts": [("done", 371), ("cancelled", 63), ("failed", 68), ("track", 358)],
        "act_stay": [("act", 1131), ("stay", 73)],
        "pager": PAGER,
    } | extra


def render(request: HttpRequest, **extra: object) -> str:
    source = Path(__file__).with_name("gallery.html").read_text(encoding="utf-8")
    return Template(source).render(RequestContext(request, context(request, **extra)))
