"""A user's own notifications, and who is told of which tenant."""

from urllib.parse import urlencode

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from jobs.console import scope
from jobs.console.accounts import confirmed
from jobs.console.forms import ReasonForm, TextField, problem
from jobs.console.links import job_url
from jobs.console.paging import decode, storable
from jobs.console.permissions import can, who_may
from jobs.console.queries import alerts as read_
from jobs.console.queries.db import database_now, limited
from jobs.console.views.alerts import pager
from jobs.console.views.render import action, done, person, show
from jobs.domain.errors import InvalidInput
from jobs.operations import alerts as operations
from jobs.operations.alerts import ROLES

WORDS = {"JOB_DEAD_LETTERED": "Job failed", "QUEUE_PAUSED": "Paused", "ARTIFACT_FAILED": "Artifact failed"}
PATH = "/notifications/"


@require_safe
def notifications(request: HttpRequest) -> HttpResponse:
    """Those of the one who asks: what is not read, or all."""
    everything = request.GET.get("show") == "all"
    name = request.user.get_username()
    cursors = decode(request.GET.get("after", "")), decode(request.GET.get("before", ""))
    with limited():
        page = read_.notifications(name, not everything, *cursors)
        unread, now = read_.unread(name), database_now()
    context = {
        "tabs": [("Unread", PATH, not everything), ("All", f"{PATH}?show=all", everything)],
        "everything": everything,
        "rows": [
            row
            | {"word": WORDS.get(row["type"], row["type"]), "job_url": job_url(row["job_id"]) if row["job_id"] else ""}
            for row in page.rows
        ],
        "unread": unread,
        "ids": [row["id"] for row in page.rows if not row["read"]],
        "pager": pager(page, PATH, {"show": "all"} if everything else {}, "notifications"),
        "server_now": now,
        "region_url": request.get_full_path(),
    }
    return show(request, "console/notifications.html", context)


@require_POST
def read(request: HttpRequest) -> HttpResponse:
    """Marks their own as read: those that were shown, or all. It changes nothing for anybody else."""
    ids = [one for one in request.POST.getlist("id")[:200] if storable(one)]
    everything = request.POST.get("all") == "on" and not scope.limited()
    n = operations.mark_read(request.user.get_username(), None if everything else ids)
    return done(request, f"{n:,} read.", PATH)


# --- Memberships ------------------------------------------------------------------------------------------------------
NONE = "NONE"


class MembershipForm(ReasonForm):
    """Somebody's role in a tenant; NONE takes it away."""

    tenant = TextField(error_messages={"required": "Name a tenant."})
    user = TextField(error_messages={"required": "Name a user."})
    role = forms.ChoiceField(
        choices=[(one, one) for one in (*ROLES, NONE)], error_messages={"required": "Choose a role."}
    )


@require_safe
def memberships(request: HttpRequest) -> HttpResponseBase:
    """Who has a role in which tenant. For admins, who say first who they are, as they have to for a change."""
    if not can(request.user, "set_membership"):
        raise PermissionDenied(f"Memberships are managed by {who_may('set_membership')}.")
    return _memberships_page(request)


@confirmed
def _memberships_page(request: HttpRequest) -> HttpResponse:
    first = {name: request.GET.get(name, "")[:300] for name in ("tenant", "user", "role")}
    return _memberships(request, MembershipForm(initial=first), 200)


def _memberships(request: HttpRequest, form: MembershipForm, status: int) -> HttpResponse:
    tenant = request.GET.get("tenant", "").strip()[:300]
    values = form.data if form.is_bound else form.initial
    with limited():
        rows, now = read_.memberships(tenant if storable(tenant) else ""), database_now()
    for row in rows:
        known = {name: row[key] for name, key in (("tenant", "tenant_id"), ("user", "user_id"), ("role", "role"))}
        row["url"] = "/memberships/?" + urlencode(known)
    context = {
        "rows": rows,
        "tenant": tenant,
        "roles": (*ROLES, NONE),
        "values": {name: values.get(name, "") for name in ("tenant", "user", "role", "reason")},
        "problems": {name: problem(form, name) for name in form.errors},
        "server_now": now,
    }
    return show(request, "console/memberships.html", context, status=status)


@action("set_membership")
@confirmed
def set_membership(request: HttpRequest) -> HttpResponse:
    """Gives somebody a role in a tenant, or takes it away."""
    form = MembershipForm(request.POST)
    if not form.is_valid():
        return _memberships(request, form, 422)
    tenant, user, role, reason = (form.cleaned_data[name] for name in ("tenant", "user", "role", "reason"))
    try:
        if role == NONE:
            operations.remove_membership(person(request), tenant, user, reason)
        else:
            operations.add_membership(person(request), tenant, user, role, reason)
    except InvalidInput as error:
        form.add_error(error.field if error.field in form.fields else None, f"{error.message}.")
        return _memberships(request, form, 422)
    said = "has no role any more" if role == NONE else f"is {role}"
    return done(request, f"{user[:80]} {said}: {tenant[:80]}.", reverse("console:memberships"))
