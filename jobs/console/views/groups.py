"""One failure group: its course, whom it hits, what is said of it; and saying it."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from jobs.console import charts, words
from jobs.console.bulk import Ask
from jobs.console.filters import JobFilter
from jobs.console.forms import GroupForm, problem
from jobs.console.links import group_url, jobs_url, runs_url
from jobs.console.paging import storable
from jobs.console.permissions import can, who_may
from jobs.console.queries import failures, groups
from jobs.console.queries.db import database_now, limited
from jobs.console.queries.failures import FailureFilter
from jobs.console.queries.groups import SPANS
from jobs.console.queries.overview import forget
from jobs.console.views.render import action, done, person, show
from jobs.domain.bulk import Kind
from jobs.domain.errors import GroupNotFound
from jobs.domain.groups import CHOICES, WORDS, GroupState
from jobs.domain.states import DEAD_LETTERED
from jobs.operations import groups as operations
from jobs.rows import Row

MOST_TENANTS = 12
LATEST = 6
MEANS = {
    GroupState.NEW: "nobody has looked at it yet",
    GroupState.KNOWN: "somebody knows the cause",
    GroupState.FIX_DEPLOYED: "a run that begins from now on and fails like this makes it regressed",
    GroupState.IGNORED: "it is counted, and asks for nothing",
}


@require_safe
def group(request: HttpRequest) -> HttpResponse:
    """What is known of one cause."""
    fingerprint = _asked(request.GET.get("id", ""))
    with limited():
        row, now = _find(fingerprint), database_now()
        context = _context(row, now)
    with limited():
        latest = failures.runs(FailureFilter(span=SPANS["30d"], group=fingerprint), None, None).rows[:LATEST]
    rights = {"may_change": can(request.user, "change_group"), "who_may_change": who_may("change_group")}
    return show(request, "console/group.html", context | rights | {"latest": latest, "server_now": now})


def _asked(fingerprint: str) -> str:
    if not fingerprint or len(fingerprint) > 200 or not storable(fingerprint):
        raise Http404
    return fingerprint


def _find(fingerprint: str) -> Row:
    row = groups.find(fingerprint)
    if row is None:
        raise GroupNotFound(fingerprint)
    return row


def _context(row: Row, now: Any) -> dict[str, Any]:
    fingerprint = row["fingerprint"]
    days = groups.days(fingerprint, now)
    tenants = groups.tenants(fingerprint, MOST_TENANTS)
    return {
        "group": row,
        "title": words.first_line(row["sample"]) or "no error was kept",
        "word": WORDS.get(row["state"], row["state"]),
        "url": group_url(fingerprint),
        "hours": groups.hours([fingerprint], now)[fingerprint],
        "days": charts.days(days),
        "days_summary": charts.days_summary(days),
        "tenants": [(one, runs_url(span="30d", group=fingerprint, tenant=one["tenant_id"])) for one in tenants],
        "tenants_total": tenants[0]["total"] if tenants else 0,
        "most_tenants": groups.MOST_TENANTS,
        "changes": [one | {"word": WORDS.get(one["to_state"], one["to_state"])} for one in groups.changes(fingerprint)],
        "runs_url": runs_url(span="30d", group=fingerprint),
        "dead_url": jobs_url(group=fingerprint, state=DEAD_LETTERED),
        "redrive_url": Ask(Kind.RETRY, JobFilter(texts={"group": fingerprint})).url(),
        "cancel_url": Ask(Kind.CANCEL, JobFilter(states=("RETRY_WAIT",), texts={"group": fingerprint})).url(),
        "waiting_url": jobs_url(group=fingerprint, state="RETRY_WAIT"),
        "of_jobs": not fingerprint.startswith("sql:"),
    }


@require_safe
def change_dialog(request: HttpRequest) -> HttpResponse:
    """The form: state, owner, note, reason."""
    with limited():
        row = _find(_asked(request.GET.get("id", "")))
    first = {"state": _proposed(row["state"]), "owner": row["owner"], "note": row["note"], "seen": row["state"]}
    return _form(request, row, GroupForm(initial=first), 200)


def _proposed(state: str) -> str:
    """The likely next word."""
    return GroupState.KNOWN if state in {GroupState.NEW, GroupState.REGRESSED} else state


def _form(request: HttpRequest, row: Row, form: GroupForm, status: int) -> HttpResponse:
    values = form.data if form.is_bound else form.initial
    context = {
        "group": row,
        "title": words.first_line(row["sample"]) or "no error was kept",
        "word": WORDS.get(row["state"], row["state"]),
        "url": group_url(row["fingerprint"]),
        "choices": [(one.value, WORDS[one], MEANS[one], one.value == values.get("state")) for one in CHOICES],
        "values": {name: values.get(name, "") for name in ("owner", "note", "reason")}
        | {"seen": values.get("seen", "")},
        "problems": {name: problem(form, name) for name in form.errors},
        "may_change": can(request.user, "change_group"),
        "who_may_change": who_may("change_group"),
    }
    return show(request, "console/group_change.html", context, part="dialog", status=status)


@action("change_group")
def change(request: HttpRequest) -> HttpResponse:
    """Says what a group is."""
    with limited():
        row = _find(_asked(request.POST.get("id", "")))
    form = GroupForm(request.POST)
    if not form.is_valid():
        return _form(request, row, form, 422)
    data = form.cleaned_data
    operations.change(
        person(request), row["fingerprint"], seen=data["seen"] or row["state"], state=data["state"], owner=data["owner"],
        note=data["note"], reason=data["reason"],
    )  # fmt: skip
    forget()
    url = group_url(row["fingerprint"])
    return done(
        request,
        f"{words.first_line(row['sample'])[:120] or 'The group'}: {WORDS[GroupState(data['state'])]}.",
        url or reverse("console:failures"),
    )
