"""Alerts: what is open, since when, with its evidence and what may be done; the rules that open them."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import Resolver404, resolve, reverse
from django.views.decorators.http import require_safe

from jobs.console.accounts import confirmed
from jobs.console.forms import ReasonForm, problem
from jobs.console.paging import Page, decode
from jobs.console.permissions import can, offered, who_may
from jobs.console.queries import alerts as read
from jobs.console.queries.db import database_now, limited
from jobs.console.queries.overview import acted
from jobs.console.views.render import action, done, person, show
from jobs.domain.alerts import RULES, Rule
from jobs.domain.errors import InvalidInput
from jobs.notifications import rules as stored_rules
from jobs.operations import alerts as operations
from jobs.operations.alerts import AlertNotFound
from jobs.rows import Row

PAGES = (
    ("alert_rules", "Rules"),
    ("alert_channels", "Channels"),
    ("deliveries", "Messages"),
)


@require_safe
def alerts(request: HttpRequest) -> HttpResponse:
    """The open ones, or those that are over."""
    over = request.GET.get("show") == "over"
    with limited():
        page = read.over(decode(request.GET.get("after", "")), decode(request.GET.get("before", ""))) if over else None
        rows = page.rows if page else read.open_ones()
        found, failed, now = read.open_now(), _failed(request), database_now()
    context = {
        "over": over,
        "open": found,
        "failed": failed,
        "rows": [with_words(request, row) for row in rows],
        "pager": pager(page, "/alerts/", {"show": "over"}, "alerts") if page else None,
        "server_now": now,
        "region_url": request.get_full_path(),
    }
    return show(request, "console/alerts.html", context | frame(request, "over" if over else "open"))


def frame(request: HttpRequest, current: str) -> dict[str, Any]:
    """The tabs of the pages about alerts, as far as they are offered."""
    tabs = [("Open", "/alerts/", current == "open"), ("Over", "/alerts/?show=over", current == "over")]
    tabs += [
        (label, reverse(f"console:{name}"), current == name) for name, label in PAGES if offered(request.user, name)
    ]
    return {
        "tabs": tabs,
        "may_acknowledge": can(request.user, "acknowledge"),
        "who_acknowledges": who_may("acknowledge"),
    }


def pager(page: Page, path: str, query: dict[str, str], noun: str) -> dict[str, Any]:
    """What `_pager.html` needs."""

    def url(**more: str) -> str:
        return path + ("?" + urlencode(query | more) if query | more else "")

    return {
        "text": f"{len(page.rows):,} {noun}" if page.rows else f"No {noun}",
        "first_url": None if page.first else url(),
        "newer_url": url(before=page.newer.encode()) if page.newer else None,
        "older_url": url(after=page.older.encode()) if page.older else None,
    }


def _failed(request: HttpRequest) -> int:
    return read.failed_deliveries() if offered(request.user, "deliveries") else 0


def with_words(request: HttpRequest, row: Row) -> Row:
    """The row with what a page shows of it: only links that lead to a page that is offered to this person."""
    rule = RULES.get(row["rule"])
    links = {name: row[name] if _leads(request, row[name]) else "" for name in ("evidence_url", "action_url")}
    return row | links | {
        "url": "/alerts/alert/?" + urlencode({"id": row["id"]}),
        "rule_label": rule.label if rule else row["rule"],
        "state": "over" if row["closed_at"] else "acknowledged" if row["acked_at"] else "open",
    }  # fmt: skip


def _leads(request: HttpRequest, path: str) -> bool:
    """Is it a page of ours that this person may open?"""
    if not path.startswith("/") or path.startswith(("//", "/\\")):
        return False
    try:
        match = resolve(path.partition("?")[0])
    except Resolver404:
        return False
    return match.app_name == "console" and offered(request.user, match.url_name or "")


# --- One alert --------------------------------------------------------------------------------------------------------
@require_safe
def alert(request: HttpRequest) -> HttpResponse:
    """One alert: what is wrong, its evidence, what may be done, who is at it, who was told."""
    return _alert(request, _id(request.GET.get("id", "")), ReasonForm(), 200)


def _id(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise AlertNotFound(text)
    return int(text)


def _alert(request: HttpRequest, alert_id: int, form: ReasonForm, status: int) -> HttpResponse:
    with limited():
        row = read.find(alert_id)
        if row is None:
            raise AlertNotFound(alert_id)
        told = read.deliveries_of(alert_id) if offered(request.user, "deliveries") else None
        now = database_now()
    context = {
        "row": with_words(request, row),
        "rule": RULES.get(row["rule"]),
        "told": told,
        "problem": problem(form, "reason"),
        "reason": form.data.get("reason", ""),
        "server_now": now,
        "region_url": f"/alerts/alert/?id={alert_id}",
    }
    return show(request, "console/alert.html", context | frame(request, ""), status=status)


@action("acknowledge")
def acknowledge(request: HttpRequest) -> HttpResponse:
    """Somebody is at it, and says what they do."""
    alert_id = _id(request.POST.get("id", ""))
    with limited():
        row = read.find(alert_id)
    if row is None:
        raise AlertNotFound(alert_id)
    if not can(request.user, "acknowledge", row["tenant_id"]):
        raise PermissionDenied(f"Your role may not do this; {who_may('acknowledge')} may. Nothing was changed.")
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return _alert(request, alert_id, form, 422)
    operations.acknowledge(person(request), alert_id, form.cleaned_data["reason"])
    acted()
    return done(request, "Acknowledged; it stays open until it is over.", f"/alerts/alert/?id={alert_id}")


# --- Rules ------------------------------------------------------------------------------------------------------------
class RuleForm(ReasonForm):
    """A rule as it shall be. `version` is the one that was seen."""

    enabled = forms.BooleanField(required=False)
    critical = forms.BooleanField(required=False)
    threshold = forms.IntegerField(required=False, error_messages={"invalid": "It is no whole number."})
    minutes = forms.IntegerField(required=False, error_messages={"invalid": "It is no whole number."})
    version = forms.IntegerField(required=False, min_value=0)


@require_safe
def rules(request: HttpRequest) -> HttpResponse:
    """All rules, as they are in force."""
    with limited():
        found, rows, now = stored_rules.in_force(), stored_rules.stored(), database_now()
    lines = [{"rule": rule, "changed": rows.get(name), "url": _rule_url(name)} for name, rule in found.items()]
    context = {"lines": lines, "may": can(request.user, "alert_rule"), "server_now": now}
    return show(request, "console/alert_rules.html", context | frame(request, "alert_rules"))


def _rule_url(name: str) -> str:
    return "/alerts/rule/?" + urlencode({"name": name})


@require_safe
def rule(request: HttpRequest) -> HttpResponse:
    """The form of one rule."""
    return _rule(request, request.GET.get("name", ""), RuleForm(), 200)


def _rule(request: HttpRequest, name: str, form: RuleForm, status: int) -> HttpResponse:
    if name not in RULES:
        raise Http404
    with limited():
        found, row, now = stored_rules.in_force()[name], stored_rules.stored().get(name), database_now()
    values: Callable[[str, Any], Any] = lambda key, now_: form.data.get(key, "") if form.is_bound else now_  # noqa: E731
    context = {
        "rule": found,
        "built_in": RULES[name],
        "changed": row,
        "version": form.data.get("version", "0") if form.is_bound else row["version"] if row else 0,
        "values": {key: values(key, getattr(found, key)) for key in ("enabled", "critical", "threshold", "minutes")}
        | {"reason": form.data.get("reason", "")},
        "problems": {key: problem(form, key) for key in form.errors},
        "allowed": can(request.user, "alert_rule"),
        "who_may": who_may("alert_rule"),
        "server_now": now,
    }
    return show(request, "console/alert_rule.html", context | frame(request, "alert_rules"), status=status)


@action("alert_rule")
@confirmed
def change_rule(request: HttpRequest) -> HttpResponse:
    """Another shape of a rule, in force at the next look."""
    name, form = request.POST.get("name", ""), RuleForm(request.POST)
    if name not in RULES:
        raise Http404
    if not form.is_valid():
        return _rule(request, name, form, 422)
    data = form.cleaned_data
    try:
        operations.change_rule(
            person(request), name, seen=data["version"] or 0, reason=data["reason"], **_values(RULES[name], data)
        )
    except InvalidInput as error:
        form.add_error(error.field if error.field in form.fields else None, f"{error.message}.")
        return _rule(request, name, form, 422)
    return done(request, f"{RULES[name].label}: changed.", reverse("console:alert_rules"))


def _values(built_in: Rule, data: dict[str, Any]) -> dict[str, Any]:
    """Numbers that a rule does not have stay what they are."""
    numbers = {key: data[key] if data[key] is not None else getattr(built_in, key) for key in ("threshold", "minutes")}
    return {"enabled": data["enabled"], "critical": data["critical"]} | numbers
