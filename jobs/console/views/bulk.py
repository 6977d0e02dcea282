"""Many jobs at once: what would happen, then the reason, then the operation."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_safe

from jobs.console import previews
from jobs.console.accounts import confirmed
from jobs.console.bulk import Ask, confirming, preview_url
from jobs.console.filters import JobFilter
from jobs.console.forms import BulkForm, problem
from jobs.console.permissions import can, who_may
from jobs.console.queries import bulk as read
from jobs.console.queries import counts
from jobs.console.queries import jobs as jobs_read
from jobs.console.queries.bulk import Preview
from jobs.console.queries.db import database_now
from jobs.console.queries.overview import acted
from jobs.console.views.once import token
from jobs.console.views.render import action, done, person, show
from jobs.domain.bulk import (
    CAME_BACK,
    NO_CHECKPOINT,
    OUTDATED,
    OVER_LIMIT,
    SPECS,
    TENANT_PAUSED,
    TENANT_SUSPENDED,
    Kind,
    Options,
)
from jobs.domain.errors import AlreadyBegun, InvalidInput, NothingToDo, SetGrew
from jobs.domain.states import WORDS, word
from jobs.operations import bulk

# What a redrive is proposed with: slow enough to be watched, stopped by itself when it goes wrong.
PROPOSED = {"rate": "120", "ramp": "on", "brake_percent": "20", "brake_of": "50", "brake_wait_minutes": "45"}
# Kinds of the menu on a list, each with its word there.
MENU: tuple[tuple[Kind, str], ...] = (
    (Kind.CANCEL, "Cancel…"),
    (Kind.RETRY, "Redrive from the DLQ…"),
    (Kind.RUN_NOW, "Run now…"),
    (Kind.RERUN, "Run again…"),
    (Kind.PRIORITY, "Change priority…"),
    (Kind.PURGE, "Purge…"),
)


@require_safe
def preview(request: HttpRequest, verb: str) -> HttpResponseBase:
    """What would happen to the rows of the address."""
    kind = _kind(verb)

    def page(request: HttpRequest) -> HttpResponse:
        return _page(request, Ask.parse(kind, request.GET), None, 200)

    return _guarded(kind, page)(request)


def _guarded(kind: Kind, view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Whoever destroys says once more who they are, before the form and before the deed."""
    return confirmed(view) if kind is Kind.PURGE else view


def _kind(verb: str) -> Kind:
    try:
        return Kind(verb.replace("-", "_"))
    except ValueError:
        raise Http404 from None


def _page(request: HttpRequest, ask: Ask, form: BulkForm | None, status: int, refusal: str = "") -> HttpResponse:
    options = form.options(ask.options) if form and form.is_valid() else _proposed(ask)
    found, now = read.preview(ask.kind, ask.selection(), options, ask.states), database_now()
    spec, first = SPECS[ask.kind], PROPOSED if ask.kind is Kind.RETRY else {}
    values = first if form is None else {name: form.data.get(name, "") for name in form.fields}
    acts, all_of = found.acts if found.whole else found.n, _all_of(ask, found)
    action = f"bulk_{ask.kind.value}"
    allowed, pinned = can(request.user, action), ask.pinned(now)
    preview_id = previews.keep(pinned, found.n if found.known and found.whole else None) if allowed else token()
    context = {
        "ask": ask,
        "kind": ask.kind.value,
        "spec": spec,
        "found": found,
        "acts": acts,
        "all_of": all_of,
        "number": f"{acts:,}" if found.whole else f"≥ {found.n:,}" if found.known else "",
        "skips": _skips(ask, found),
        "taken": _taken(ask, found),
        "stay": _untouched(ask),
        "parts": [("act", acts), ("stay", max(0, found.n - acts))],
        "drain": read.drain_with(found.added, all_of or acts, now) if spec.queues and acts else None,
        "values": values,
        "problems": {name: problem(form, name) for name in form.errors} if form else {},
        "refusal": refusal,
        "token": preview_id,
        "query": pinned.query(),
        "permalink": pinned.url(),
        "action_url": reverse(f"console:{action}"),
        "back_url": _back(ask),
        "command": confirming(ask.kind, preview_id, options, values.get("reason", "")) if allowed else [],
        "holds": previews.HOLDS_MINUTES,
        "allowed": allowed,
        "who": who_may(action),
        "must_type": ask.is_empty,
        "shown_at": now.isoformat(),
        "server_now": now,
    }
    return show(request, "console/preview.html", context, status=status)


def _proposed(ask: Ask) -> Options:
    if ask.kind is not Kind.RETRY:
        return ask.options
    form = BulkForm({**PROPOSED, "reason": "x"})
    return form.options(ask.options) if form.is_valid() else ask.options


def _all_of(ask: Ask, found: Preview) -> int | None:
    """How many match where not all were looked at, if the counters know that."""
    filter_ = ask.filter.without("to")
    if found.whole or ask.kind is Kind.RESTORE or not filter_.counted_by_tallies:
        return None
    by_state = counts.by_state(filter_.texts.get("type", ""), filter_.texts.get("tenant", ""))
    return sum(by_state.get(state, 0) for state in ask.states) or None


def _skips(ask: Ask, found: Preview) -> list[tuple[int, str, str]]:
    """Rows of the set that will be left as they are: (how many, why, address that takes them along)."""
    along = {
        CAME_BACK: {"boomerangs": "1"},
        OVER_LIMIT: {"boomerangs": "1", "redrives": "0"},
        TENANT_PAUSED: {"held": "1"},
        TENANT_SUSPENDED: {"held": "1"},
        NO_CHECKPOINT: {"kept": ""},
        OUTDATED: {"outdated": "1"},
    }
    return [
        (number, _why(why, ask), next((ask.url(**how) for start, how in along.items() if why.startswith(start)), ""))
        for why, number in sorted(found.why.items(), key=lambda one: (-one[1], one[0]))
    ]


def _why(why: str, ask: Ask) -> str:
    if why.startswith(read.STATE):
        state = why.removeprefix(read.STATE)
        return f"{WORDS.get(state, state)}: not touched"
    return f"{why}, {ask.redrives:,} times" if why == OVER_LIMIT else why


def _taken(ask: Ask, found: Preview) -> list[tuple[str, str, str]]:
    """What is taken along, or could be left: (how many, words, address that leaves it out)."""
    if ask.kind is not Kind.RETRY or not found.acts:
        return []
    lines, bare = [], found.acts - found.kept
    if ask.boomerangs:
        lines.append((f"{found.came_back:,}", "came back after a redrive and are taken along", ask.url(boomerangs="")))
    if ask.held_tenants:
        lines.append(("", "Jobs of paused and suspended tenants are taken along, and wait there", ask.url(held="")))
    if ask.outdated:
        lines.append(("", "Jobs whose checkpoint another version of their handler wrote start from the beginning",
                      ask.url(outdated="")))  # fmt: skip
    if found.whole and found.kept and bare:
        lines.append((f"{bare:,}", "have no checkpoint and start from the beginning", ask.url(kept="1")))
    return lines


def _untouched(ask: Ask) -> list[tuple[str, int]]:
    """What matches the filter but is in another state, counted as far as that is quick."""
    if ask.kind is Kind.RESTORE or ask.operation is not None or ask.filter.ids:
        return []
    counts = jobs_read.count(ask.filter)
    wanted = ask.filter.states or tuple(counts.states)
    return [(one, counts.states[one]) for one in wanted if one not in ask.states and counts.states.get(one)]


def _back(ask: Ask) -> str:
    if ask.operation is not None:
        return reverse("console:operation", args=[ask.operation])
    if ask.kind is Kind.RESTORE:
        return reverse("console:trash")
    path = "/dlq/" if ask.kind is Kind.RETRY else "/jobs/"
    return ask.filter.without("state").url(path) if ask.kind is Kind.RETRY else ask.filter.url(path)


def _start(kind: Kind) -> Callable[..., HttpResponseBase]:
    def start(request: HttpRequest) -> HttpResponse:
        """The operation: the same form twice is one."""
        if "query" not in request.POST:
            raise InvalidInput("query", "it is missing; nothing says which jobs are meant")
        ask, form = Ask.parse(kind, QueryDict(request.POST["query"])), BulkForm(request.POST)
        if not form.is_valid() or not _typed(ask, form) or not _chosen(kind, form):
            return _page(request, ask, form, 422)
        data = form.cleaned_data
        if _expired(data["shown_at"]):
            return _page(
                request,
                ask,
                form,
                409,
                refusal=f"this was shown more than {previews.HOLDS_MINUTES} minutes ago; look again",
            )
        try:
            started = bulk.start(
                person(request), kind, ask.selection(), reason=data["reason"], options=form.options(ask.options),
                key=data["token"] or None, preview=_preview(ask, data["token"]),
                expected=None if data["at_least"] else data["expected"],
            )  # fmt: skip
        except (SetGrew, NothingToDo) as error:
            return _page(request, ask, form, 409, refusal=str(error))
        url = reverse("console:operation", args=[started.id])
        if not started.fresh:
            return done(request, str(AlreadyBegun(started.id)).capitalize() + ".", url)
        acted()
        return HttpResponseRedirect(url)

    return action(f"bulk_{kind.value}")(_guarded(kind, start))


def _preview(ask: Ask, form_token: str) -> str | None:
    """The preview that a form confirms, unless it asks for something else than that showed. One that is kept no more may
    have been confirmed by the same form."""
    shown = previews.find(form_token)
    same = shown is None or (shown.ask.kind, shown.ask.query()) == (ask.kind, ask.query())
    return form_token if previews.looks_like(form_token) and same else None


def _expired(shown_at: str) -> bool:
    """Was it shown too long ago to be what is there?"""
    try:
        return bool(shown_at) and database_now() - datetime.fromisoformat(shown_at) > timedelta(
            minutes=previews.HOLDS_MINUTES
        )
    except (ValueError, TypeError):
        return True


def _typed(ask: Ask, form: BulkForm) -> bool:
    """Where nothing narrows the set, its size is typed."""
    expected = form.cleaned_data["expected"]
    typed = form.cleaned_data["typed"].replace(",", "").replace(" ", "")
    if not ask.is_empty or (expected is not None and typed == str(expected)):
        return True
    form.add_error("typed", "Nothing narrows this: type the number of jobs, as it is shown above.")
    return False


def _chosen(kind: Kind, form: BulkForm) -> bool:
    if kind is not Kind.PRIORITY or form.cleaned_data["priority"] is not None:
        return True
    form.add_error("priority", "Give a whole number; higher goes first.")
    return False


STARTS: dict[Kind, Callable[..., HttpResponseBase]] = {kind: _start(kind) for kind in Kind}


def menu(request: HttpRequest, filter_: JobFilter) -> list[dict[str, Any]]:
    """What may be done to all that match a filter of the jobs list: words, address, who may."""
    found = []
    for kind, words in MENU:
        able = SPECS[kind].states
        if filter_.states and not able.intersection(filter_.states):
            continue
        allowed = can(request.user, f"bulk_{kind.value}")
        found.append(
            {
                "kind": kind.value,
                "words": words,
                "url": Ask(kind, filter_).url(),
                "path": preview_url(kind),
                "eligible": " ".join(sorted(able)),
                "allowed": allowed,
                "who": who_may(f"bulk_{kind.value}"),
                "states": ", ".join(word(one) for one in sorted(able)),
            }
        )
    return found
