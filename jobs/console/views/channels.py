"""Where alerts go: channels, a test for each, and what became of every message. For admins, but for looking."""

from typing import Any
from urllib.parse import urlencode
from zoneinfo import available_timezones

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_safe

from jobs.conf import conf
from jobs.console.accounts import confirmed
from jobs.console.forms import ReasonForm, TextField, problem, reason_of
from jobs.console.paging import decode, storable
from jobs.console.permissions import can, who_may
from jobs.console.queries import alerts as read
from jobs.console.queries.db import database_now, limited
from jobs.console.views.alerts import frame, pager
from jobs.console.views.render import action, done, person, show
from jobs.domain.errors import InvalidInput
from jobs.handlers.web.webhooks import WebhookGuard
from jobs.notifications.channels import KINDS, LONGEST_NAME, LONGEST_TARGET, ChannelNotFound, Wanted, new_secret
from jobs.operations import alerts as operations
from jobs.rows import Row

STATES = (("", "All"), ("PENDING", "Waiting"), ("SENT", "Sent"), ("FAILED", "Given up"))


class ChannelForm(ReasonForm):
    """A channel as it shall be. An empty address or secret of one that is there stays what it is."""

    name = TextField(max_length=LONGEST_NAME, error_messages={"required": "Give it a name."})
    kind = forms.ChoiceField(choices=list(KINDS.items()), error_messages={"required": "Choose a kind."})
    target = TextField(required=False, max_length=LONGEST_TARGET)
    secret = TextField(required=False, max_length=500)
    enabled = forms.BooleanField(required=False)
    only_critical = forms.BooleanField(required=False)
    quiet_from = forms.TimeField(required=False, error_messages={"invalid": "It is no time such as 22:00."})
    quiet_to = forms.TimeField(required=False, error_messages={"invalid": "It is no time such as 07:00."})
    zone = TextField(required=False, max_length=60)
    version = forms.IntegerField(required=False, min_value=0)

    def wanted(self) -> Wanted:
        """Of a valid form."""
        data = self.cleaned_data
        return Wanted(
            data["name"], data["kind"], data["target"] or None, data["secret"] or None, data["enabled"],
            data["only_critical"], data["quiet_from"], data["quiet_to"], data["zone"] or "UTC",
        )  # fmt: skip


@require_safe
def channels(request: HttpRequest) -> HttpResponse:
    """All channels, their addresses as far as they may be read."""
    with limited():
        rows, now = read.channels(), database_now()
    lines = [row | {"label": KINDS.get(row["kind"], row["kind"]), "url": _url(row["id"])} for row in rows]
    context = {
        "rows": lines,
        "may": can(request.user, "alert_channel"),
        "who_may": who_may("alert_channel"),
        "server_now": now,
    }
    return show(request, "console/alert_channels.html", context | frame(request, "alert_channels"))


def _url(channel_id: int) -> str:
    return "/alerts/channel/?" + urlencode({"id": channel_id})


def _id(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise ChannelNotFound(text)
    return int(text)


def _find(text: str) -> Row | None:
    """The channel of this id; None for a new one."""
    if not text:
        return None
    with limited():
        row = read.channel(_id(text))
    if row is None:
        raise ChannelNotFound(text)
    return row


@require_safe
def channel(request: HttpRequest) -> HttpResponseBase:
    """One channel, or the form of a new one. Everybody may look; admins, who may change it, say first who they are."""
    return confirmed(_open)(request) if can(request.user, "alert_channel") else _open(request)


def _open(request: HttpRequest) -> HttpResponse:
    return _form(request, _find(request.GET.get("id", "")), ChannelForm(), 200)


@sensitive_variables("context", "values", "form")
def _form(request: HttpRequest, row: Row | None, form: ChannelForm, status: int) -> HttpResponse:
    allowed = can(request.user, "alert_channel")
    first = _first(row, allowed)
    values = {name: form.data.get(name, "") if form.is_bound else first[name] for name in first}
    if form.is_bound:
        values["secret"] = ""
    context = {
        "row": row,
        "values": values,
        "kinds": [(key, label, key == values["kind"]) for key, label in KINDS.items()],
        "problems": {name: problem(form, name) for name in form.errors},
        "mail": bool(conf().email_url),
        "schemes": conf().apprise_schemes,
        "zones": sorted(available_timezones()),
        "allowed": allowed,
        "who_may": who_may("alert_channel"),
    }
    return show(request, "console/alert_channel.html", context | frame(request, "alert_channels"), status=status)


def _first(row: Row | None, allowed: bool) -> dict[str, Any]:
    """What the form holds when it is opened; never an address or a secret that is stored."""
    empty = {"target": "", "secret": "", "reason": ""}
    if row is None:
        return empty | {
            "name": "", "kind": "webhook", "enabled": True, "only_critical": False, "quiet_from": "", "quiet_to": "",
            "zone": "UTC", "version": 0, "secret": new_secret() if allowed else "",
        }  # fmt: skip
    times = {name: f"{row[name]:%H:%M}" if row[name] else "" for name in ("quiet_from", "quiet_to")}
    return empty | {name: row[name] for name in ("name", "kind", "enabled", "only_critical", "zone", "version")} | times


@sensitive_post_parameters("target", "secret")
@action("alert_channel")
@confirmed
def save(request: HttpRequest) -> HttpResponse:
    """A new channel, or another shape of one."""
    row, form = _find(request.POST.get("id", "")), ChannelForm(request.POST)
    if not form.is_valid():
        return _form(request, row, form, 422)
    data = form.cleaned_data
    try:
        operations.save_channel(
            person(request), row["id"] if row else None, form.wanted(), WebhookGuard().check_url,
            reason=data["reason"], seen=data["version"] or 0,
        )  # fmt: skip
    except InvalidInput as error:
        form.add_error(error.field if error.field in form.fields else None, f"{error.message}.")
        return _form(request, row, form, 422)
    return done(request, f"Channel {data['name'][:80]}: saved.", reverse("console:alert_channels"))


@action("remove_channel")
@confirmed
def remove(request: HttpRequest) -> HttpResponse:
    """Takes a channel away."""
    channel_id, reason = _asked(request)
    operations.remove_channel(person(request), channel_id, reason)
    return done(request, "The channel is gone, and its messages.", reverse("console:alert_channels"))


@action("test_channel")
def test(request: HttpRequest) -> HttpResponse:
    """A test message; a worker sends it."""
    channel_id, reason = _asked(request)
    operations.test_channel(person(request), channel_id, reason)
    return done(request, "A test is on its way; see what becomes of it here.", reverse("console:deliveries"))


def _asked(request: HttpRequest) -> tuple[int, str]:
    reason = reason_of(request)
    return _id(request.POST.get("id", "")), reason


# --- Messages ---------------------------------------------------------------------------------------------------------
@require_safe
def deliveries(request: HttpRequest) -> HttpResponse:
    """What became of every message."""
    state = request.GET.get("state", "")
    state = state if state in dict(STATES) else ""
    with limited():
        page = read.deliveries(state, decode(request.GET.get("after", "")), decode(request.GET.get("before", "")))
        failed, now = read.failed_deliveries(), database_now()
    query = {"state": state} if state else {}
    context = {
        "states": [
            (label, "/alerts/messages/" + (f"?state={key}" if key else ""), key == state) for key, label in STATES
        ],
        "rows": page.rows,
        "failed": failed,
        "pager": pager(page, "/alerts/messages/", query, "messages"),
        "server_now": now,
        "region_url": request.get_full_path(),
    }
    return show(request, "console/deliveries.html", context | frame(request, "deliveries"))


@require_safe
def delivery(request: HttpRequest) -> HttpResponse:
    """The dialog that sends one again."""
    return _delivery(request, request.GET.get("id", ""), ReasonForm(), 200)


def _delivery(request: HttpRequest, delivery_id: str, form: ReasonForm, status: int) -> HttpResponse:
    with limited():
        row = read.delivery(delivery_id) if storable(delivery_id) and len(delivery_id) < 100 else None
    if row is None:
        raise Http404
    context = {
        "row": row,
        "problem": problem(form, "reason"),
        "reason": form.data.get("reason", ""),
        "may_resend": can(request.user, "resend_delivery"),
        "who_resends": who_may("resend_delivery"),
    }
    return show(request, "console/delivery.html", context, part="dialog", status=status)


@action("resend_delivery")
def resend(request: HttpRequest) -> HttpResponse:
    """A message that was given up is due again."""
    form, delivery_id = ReasonForm(request.POST), request.POST.get("id", "")
    if not form.is_valid():
        return _delivery(request, delivery_id, form, 422)
    if not storable(delivery_id):
        raise Http404
    operations.send_again(person(request), delivery_id, form.cleaned_data["reason"])
    return done(request, "It is due again.", reverse("console:deliveries"))
