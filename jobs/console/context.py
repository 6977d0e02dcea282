"""What every page's frame needs. Everything that costs a query is read only when a template asks for it."""

from collections.abc import Callable
from functools import cache
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest
from django.urls import reverse
from psycopg_pool import PoolTimeout

from jobs.conf import conf
from jobs.console import permissions, scope
from jobs.console.middleware import viewers_zone
from jobs.console.queries import alerts, counts
from jobs.console.queries.db import TooSlow, limited
from jobs.console.queries.overview import Snapshot, shared
from jobs.console.words import plural

log = structlog.get_logger("jobs.console")

# (key, label, icon, letter after g); the key is the name of the page's route.
ENTRIES = [
    ("overview", "Overview", "layout-dashboard", "o"),
    ("alerts", "Alerts", "bell", ""),
    ("jobs", "Jobs", "list-details", "j"),
    ("failures", "Failures", "alert-triangle", "f"),
    ("dlq", "DLQ", "grave-2", "d"),
    ("tenants", "Tenants", "building", "t"),
    ("workers", "Workers", "server", "w"),
    ("ledger", "Ledger", "file-text", "l"),
    ("artifacts", "Artifacts", "copy", "i"),
    ("operations", "Operations", "stack-2", "p"),
    ("pauses", "Pauses", "player-pause", ""),
    ("audit", "Audit", "history", "a"),
    ("people", "People", "user", ""),
    ("notifications", "Notifications", "inbox", ""),
    ("settings", "Settings", "settings", ""),
]
PARENT = {
    "job": "jobs",
    "job_by_id": "jobs",
    "enqueue": "jobs",
    "why": "jobs",
    "dialog": "jobs",
    "pause_new": "pauses",
    "lift": "pauses",
    "tenant": "tenants",
    "types": "tenants",
    "type": "tenants",
    "cap_dialog": "tenants",
    "audit_entry": "audit",
    "failure_runs": "failures",
    "group": "failures",
    "group_change": "failures",
    "ledger_document": "ledger",
    "ledger_contradictions": "ledger",
    "ledger_dialog": "ledger",
    "artifact": "artifacts",
    "artifact_new": "artifacts",
    "artifact_dialog": "artifacts",
    "upload_artifact": "artifacts",
    "ledger_repair_dialog": "ledger",
    "operation": "operations",
    "operation_dialog": "operations",
    "trash": "dlq",
    "bulk": "operations",
    "person_new": "people",
    "person_change": "people",
    "create_person": "people",
    "change_person": "people",
    "link_person": "people",
    "memberships": "people",
    "alert": "alerts",
    "alert_rules": "alerts",
    "alert_rule_form": "alerts",
    "alert_channels": "alerts",
    "alert_channel_form": "alerts",
    "deliveries": "alerts",
    "delivery": "alerts",
    "set_membership": "people",
    "alert_rule": "alerts",
    "alert_channel": "alerts",
    "remote": "settings",
    "remote_type": "settings",
    "set_remote": "settings",
    "rotate_remote": "settings",
}


def frame(request: HttpRequest) -> dict[str, Any]:
    """Navigation, environment, pause line, role, and the addresses that the scripts ask."""
    user = getattr(request, "user", None)
    environment = conf().environment
    context: dict[str, Any] = {
        "environment": {"name": environment, "is_production": environment == "prod"},
        "zone": str(viewers_zone(request)),
        "zone_is_mine": str(viewers_zone(request)) != "UTC",
        "login_url": settings.LOGIN_URL if settings.LOGIN_URL.startswith("/") else reverse(settings.LOGIN_URL),
        "logout_url": reverse("account_logout"),
        "request_id": getattr(request, "id", None),
    }
    if user is None or not getattr(request, "resolver_match", None):
        return context
    name = request.resolver_match.url_name if request.resolver_match else ""
    snapshot = _snapshot()
    return context | {
        "role": lambda: permissions.role(user),
        "can": Allowed(user),
        "search_url": reverse("console:jobs"),
        "live_url": reverse("console:live"),
        "nav_url": reverse("console:nav"),
        "nav_current": request.GET.get("page", "")[:40] if name == "nav" else PARENT.get(name or "", name),
        "pause_line_url": reverse("console:pause_line"),
        "nav": cache(lambda: navigation(user, snapshot())),
        "pause_line": lambda: pause_line(snapshot()),
        "limited_to": scope.current(),
    }


class Allowed:
    """`{{ can.cancel }}` in a template: the same table as on the server."""

    def __init__(self, user: Any) -> None:
        self._user = user

    def __getitem__(self, action: str) -> bool:
        return permissions.can(self._user, action)


def _snapshot() -> Callable[[], Snapshot | None]:
    @cache
    def read() -> Snapshot | None:
        try:
            return shared.get()
        except (TooSlow, DatabaseError, InterfaceError, PoolTimeout) as error:
            log.warning("console.frame_without_figures", error=str(error)[:200])
            return None

    return read


def navigation(user: Any, snapshot: Snapshot | None) -> list[dict[str, Any]]:
    """The entries that the user is offered, with a number where it helps."""
    numbers = _numbers_of_some() if scope.limited() else _numbers(snapshot) if snapshot else {}
    numbers |= _own_number(user)
    return [
        {
            "key": key,
            "label": label,
            "icon": icon,
            "go": go,
            "url": reverse(f"console:{key}"),
            "rule": key == "operations",
            "count": numbers.get(key, (None, ""))[0],
            "tone": numbers.get(key, (None, ""))[1],
        }
        for key, label, icon, go in ENTRIES
        if permissions.offered(user, key) and (key != "people" or permissions.can(user, "people"))
    ]


def _own_number(user: Any) -> dict[str, tuple[Any, str]]:
    """What the user has not read."""
    try:
        with limited():
            n = alerts.unread(user.get_username())
    except (TooSlow, DatabaseError, InterfaceError, PoolTimeout) as error:
        log.warning("console.frame_without_figures", error=str(error)[:200])
        return {}
    return {"notifications": (n, "attention")} if n else {}


def _alert_number(found: alerts.OpenAlerts) -> dict[str, tuple[Any, str]]:
    return {"alerts": (found.unacked, "dead" if found.critical else "attention")} if found.unacked else {}


def _numbers_of_some() -> dict[str, tuple[Any, str]]:
    """The numbers of somebody limited to some tenants: theirs alone."""
    try:
        with limited():
            states, open_ = counts.by_state(), alerts.open_now()
    except (TooSlow, DatabaseError, InterfaceError, PoolTimeout) as error:
        log.warning("console.frame_without_figures", error=str(error)[:200])
        return {}
    found = _alert_number(open_)
    if states.get("QUEUED"):
        found["jobs"] = (states["QUEUED"], "")
    if states.get("DEAD_LETTERED"):
        found["dlq"] = (f"{states['DEAD_LETTERED']:,}", "dead")
    return found


def _numbers(snapshot: Snapshot) -> dict[str, tuple[Any, str]]:
    dead, alive = snapshot.count("DEAD_LETTERED"), len(snapshot.workers_live)
    known = sum(line.known for line in snapshot.workers)
    numbers = _alert_number(snapshot.alerts)
    if snapshot.queued:
        numbers["jobs"] = (snapshot.queued, "")
    if snapshot.open_groups:
        numbers["failures"] = (_open_words(snapshot.open_groups), "attention")
    if dead:
        numbers["dlq"] = (f"{dead:,}", "dead")
    if known and alive < known:
        numbers["workers"] = (f"{alive:,} of {known:,}", "attention")
    elif alive:
        numbers["workers"] = (alive, "")
    else:
        numbers["workers"] = ("none", "attention")
    if snapshot.operations:
        numbers["operations"] = _operation_words(snapshot.operations)
    if snapshot.pauses:
        numbers["pauses"] = (len(snapshot.pauses), "attention hatched")
    return numbers


def _operation_words(states: dict[str, int]) -> tuple[str, str]:
    if braked := states.get("BRAKED"):
        return f"{braked:,} braked", "attention"
    if paused := states.get("PAUSED"):
        return f"{paused:,} paused", "attention"
    return f"{sum(states.values()):,}", ""


def _open_words(groups: dict[str, int]) -> str:
    new, back = groups.get("NEW", 0), groups.get("REGRESSED", 0)
    return f"{back:,} back" if back and not new else f"{new + back:,} open" if back else f"{new:,} new"


def pause_line(snapshot: Snapshot | None) -> dict[str, str] | None:
    """The one line on every page that says what is held."""
    if not snapshot or not snapshot.pauses:
        return None
    if scope.limited():
        return _pause_line_of_some(snapshot)
    lines = snapshot.pauses
    held = [line.held for line in lines if line.held is not None]
    overall = snapshot.queued if any(_is_global(line.pause) for line in lines) else min(sum(held), snapshot.queued)
    one = len(lines) == 1
    effect = f"{'holds' if one else 'hold'} {plural(overall, 'job')}." if held else "in force."
    names = " · ".join(_pause_words(line.pause) for line in lines[:3]) + (" · …" if len(lines) > 3 else "")
    return {"title": f"{plural(len(lines), 'pause')} {effect}", "text": names, "url": reverse("console:pauses")}


def _pause_line_of_some(snapshot: Snapshot) -> dict[str, str] | None:
    """The same for somebody limited to some tenants: what may hold their jobs, and no number of others' jobs."""
    found = [one for one in scope.pauses(line.pause for line in snapshot.pauses) if one.tenant_id or not one.project_id]
    names = " · ".join(_pause_words(one) for one in found[:3]) + (" · …" if len(found) > 3 else "")
    return {"title": f"{plural(len(found), 'pause')} in force.", "text": names, "url": ""} if found else None


def _is_global(pause: Any) -> bool:
    return pause.type is None and pause.tenant_id is None and pause.project_id is None


def _pause_words(pause: Any) -> str:
    ends = f"ends {pause.ends_at:%H:%M} UTC" if pause.ends_at else "no end"
    return f"{pause.scope[:80]}, {ends}: {pause.reason[:80]}"
