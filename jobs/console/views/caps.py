"""How much a tenant, or a type, may run: what is set, what a change will do, and changing it."""

from dataclasses import replace
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from jobs.console import cap_effects, ends, scope
from jobs.console.accounts import confirmed
from jobs.console.commands import Word, command
from jobs.console.ends import AT, AT_WORDS
from jobs.console.forms import CapForm, problem
from jobs.console.paging import storable
from jobs.console.permissions import can, offered, who_may
from jobs.console.queries import caps as read
from jobs.console.queries.db import TooSlow, database_now, limited
from jobs.console.queries.overview import forget, shared
from jobs.console.views.render import action, done, person, show
from jobs.domain.errors import CapChanged, InvalidInput
from jobs.operations import actions
from jobs.queue import caps
from jobs.queue.caps import LONGEST_NAME, Cap, Setting, Wanted
from jobs.queue.others import other_workers

KINDS = ("tenant", "type")
_VERB = {"tenant": "cap", "type": "type_cap"}
FOREVER, KEEP, BACK = "", "keep", "back"
ENDS = [
    ("3600", "in 1 h"),
    ("14400", "in 4 h"),
    ("86400", "in 24 h"),
    (AT, AT_WORDS),
    (FOREVER, "when somebody changes it"),
]
# Of anybody but an admin.
LONGEST_SECONDS = 24 * 3600


def _named(name: str) -> str:
    if not name.strip() or len(name) > LONGEST_NAME or not storable(name):
        raise Http404
    return name


@require_safe
def tenant(request: HttpRequest) -> HttpResponse:
    """One tenant: its cap, weight and note, what they do, and what they were."""
    return _page(request, "tenant", _named(request.GET.get("id", "")))


@require_safe
def type_(request: HttpRequest) -> HttpResponse:
    """One type: its cap over all tenants, and how long a run may take."""
    return _page(request, "type", _named(request.GET.get("id", "")))


def _page(request: HttpRequest, kind: str, name: str) -> HttpResponse:
    if kind == "tenant" and not can(request.user, "read", name):
        raise Http404
    with limited():
        setting = caps.of(kind, name)
        changes = read.changes(kind, name)
        counts = read.waiting(kind, name)
        running = read.running(kind, name)
        others = [] if scope.limited() else other_workers()
        now = database_now()
    context = {
        "kind": kind,
        "name": name,
        "setting": setting,
        "limit": setting.in_force.limit(read.default(kind, name)),
        "default": cap_effects.default_words(read.default(kind, name)),
        "changes": changes,
        "counts": counts,
        "running": running,
        "others": others,
        **_pauses(kind, name),
        "may_pause": offered(request.user, "pause_new"),
        "may_audit": offered(request.user, "audit"),
        "may_change": can(request.user, _VERB[kind], name if kind == "tenant" else None),
        "who_changes": who_may(_VERB[kind]),
        "server_now": now,
        "region_url": request.get_full_path(),
    }
    return show(request, "console/cap_page.html", context)


def _pauses(kind: str, name: str) -> dict[str, Any]:
    """What holds it: with all figures, or for somebody limited to some tenants what may be said of it."""
    column = "tenant_id" if kind == "tenant" else "type"
    found = [line for line in shared.get().pauses if getattr(line.pause, column) in {None, name}]
    if not scope.limited():
        return {"pauses": found}
    seen = scope.pauses(line.pause for line in found)
    return {"held_by": [one for one in seen if one.tenant_id or not one.project_id]}


@require_safe
def types(request: HttpRequest) -> HttpResponse:
    """Every type: what runs of its cap, what waits, how long a run may take."""
    context: dict[str, Any] = {}
    try:
        with limited():
            context |= {"rows": read.types(), "server_now": database_now()}
    except TooSlow as error:
        context["too_slow"] = str(error)
    return show(request, "console/types.html", context)


@require_safe
@confirmed
def dialog(request: HttpRequest, kind: str) -> HttpResponse:
    """The form, with what is set now."""
    if kind not in KINDS:
        raise Http404
    name = _named(request.GET.get("id", ""))
    setting = caps.of(kind, name)
    return _form(request, kind, setting, _first(setting, request), {}, 200)


def _first(setting: Setting, request: HttpRequest) -> dict[str, str]:
    """What the form says at first. An operator's ends by itself."""
    longest = setting.max_run_seconds
    return {
        "cap": "" if setting.in_force.number is None else str(setting.in_force.number),
        "unlimited": "on" if setting.in_force.unlimited else "",
        "weight": str(setting.weight),
        "note": setting.note,
        "max_run_seconds": "" if longest is None else str(longest),
        "ends": KEEP if setting.temporary else FOREVER if can(request.user, "cap_long") else "3600",
        "until": "",
        "until_offset": "",
        "version": str(setting.version),
        "reason": "",
    }


def _form(
    request: HttpRequest, kind: str, setting: Setting, values: dict[str, str], problems: dict[str, str], status: int
) -> HttpResponse:
    long = can(request.user, "cap_long")
    default = read.default(kind, setting.name)
    context = {
        "kind": kind,
        "name": setting.name,
        "setting": setting,
        "values": values,
        "problems": problems,
        "default": cap_effects.default_words(default),
        "ends": [(key, text, key == values["ends"]) for key, text in _ends(setting, long)],
        "until_problem": problems.get("until", ""),
        "until_offsets": ends.read(values, database_now()).offsets,
        "may_long": long,
        "who_long": who_may("cap_long"),
        "may_change": can(request.user, _VERB[kind], setting.name if kind == "tenant" else None),
        "who_changes": who_may(_VERB[kind]),
        "action_url": reverse(f"console:{_VERB[kind]}"),
        "url": _url(kind, setting.name),
        **_effect(kind, setting, values),
    }
    return show(request, "console/cap.html", context, part="dialog", status=status)


def _url(kind: str, name: str) -> str:
    return reverse(f"console:{kind}") + "?" + urlencode({"id": name})


def _ends(setting: Setting, long: bool) -> list[tuple[str, str]]:
    """The ends to choose from; one without end is for admins."""
    kept: list[tuple[str, str]] = []
    if setting.temporary and setting.ends_at:
        then = setting.previous.word
        kept = [(KEEP, f"as now, {setting.ends_at:%Y-%m-%d %H:%M} UTC, then {then}"), (BACK, f"now: back to {then}")]
    return kept + [(key, text) for key, text in ENDS if long or key != FOREVER]


@require_safe
def effect(request: HttpRequest, kind: str) -> HttpResponse:
    """What the values typed so far would do, and their command."""
    if kind not in KINDS:
        raise Http404
    setting = caps.of(kind, _named(request.GET.get("id", "")))
    values = (
        _first(setting, request)
        | {"unlimited": ""}
        | {
            key: value[:2_000]
            for key, value in request.GET.dict().items()
            if isinstance(value, str) and storable(value)
        }
    )
    return render(request, "console/partials/_cap_effect.html", _effect(kind, setting, values))


def _effect(kind: str, setting: Setting, values: dict[str, str]) -> dict[str, Any]:
    """The sentences, the warning about other programs, the command."""
    name, default = setting.name, read.default(kind, setting.name)
    context: dict[str, Any] = {"command": _command(kind, name, values), "others": other_workers()}
    try:
        cap = setting.base if values.get("ends") == BACK else _cap(values)
    except InvalidInput as error:
        return context | {"effect_problem": f"{error.message[:1].upper()}{error.message[1:]}."}
    try:
        with limited():
            running, queued = read.running(kind, name), read.waiting(kind, name).get("QUEUED", 0)
    except TooSlow:
        return context | {"effect": ["How many run and wait could not be counted in time."]}
    limit = cap.limit(default)
    said = cap_effects.effect(name, limit, running, queued)
    if cap == Cap():
        said.append(f"The default cap is {cap_effects.default_words(default)}.")
    return context | {"effect": said, "suspends": limit == 0}


def _cap(values: dict[str, str]) -> Cap:
    """Empty is the default; unlimited is a choice of its own."""
    text = values.get("cap", "").strip()
    if not values.get("unlimited"):
        if text in {"unlimited", "default"}:
            raise InvalidInput("cap", f"{text!r} is no whole number")
        return Cap.parse(text)
    if text:
        raise InvalidInput("cap", "leave it empty for unlimited, or take the tick away")
    return Cap(unlimited=True)


def _command(kind: str, name: str, values: dict[str, str]) -> list[Word]:
    """The command of these values."""
    try:
        cap = str(_cap(values).word)
    except InvalidInput:
        cap = values.get("cap", "")[:40]
    words_ = ["queue", "cap", f"--{kind}={name}"]
    if values.get("ends") == BACK:
        return command(*words_, "--back", reason=values.get("reason", ""))
    words_.append(f"--cap={cap}")
    if kind == "tenant":
        words_ += [f"--weight={values.get('weight', '')}", f"--note={values.get('note', '')}"]
    else:
        words_.append(f"--max-run-seconds={values.get('max_run_seconds', '') or 'none'}")
    words_ += ["--keep-end"] if values.get("ends") == KEEP else ends.option(values, database_now())
    return command(*words_, reason=values.get("reason", ""))


@action("cap")
@confirmed
def change_tenant(request: HttpRequest) -> HttpResponse:
    """Sets a tenant's cap, weight and note."""
    return _change(request, "tenant")


@action("type_cap")
@confirmed
def change_type(request: HttpRequest) -> HttpResponse:
    """Sets a type's cap and longest run."""
    return _change(request, "type")


def _change(request: HttpRequest, kind: str) -> HttpResponse:
    name = _named(request.POST.get("id", ""))
    if not can(request.user, _VERB[kind], name if kind == "tenant" else None):
        raise PermissionDenied(f"Your role may not do this; {who_may(_VERB[kind])} may. Nothing was changed.")
    setting = caps.of(kind, name)
    form = CapForm(request.POST)
    values = _first(setting, request) | {"unlimited": ""} | {key: str(value) for key, value in request.POST.items()}
    problems = {} if form.is_valid() else {field: problem(form, field) for field in form.errors}
    wanted = None
    try:
        if not problems:
            wanted = _wanted(setting, form, values)
            wanted.check()
    except InvalidInput as error:
        problems = {error.field: f"{error.message[:1].upper()}{error.message[1:500]}."}
    if wanted is None or problems:
        return _form(request, kind, setting, values, problems, 422)
    seen = form.cleaned_data["version"]
    if seen is not None and seen != setting.version:
        return _changed(request, kind, setting, values)
    _check_right(request, setting, wanted)
    try:
        _, after = actions.change_cap(
            person(request), kind, name, wanted, reason=form.cleaned_data["reason"], seen=setting.version
        )
    except CapChanged:
        return _changed(request, kind, caps.of(kind, name), values)
    forget()
    return done(request, _said(kind, after), _url(kind, name))


def _changed(request: HttpRequest, kind: str, setting: Setting, values: dict[str, str]) -> HttpResponse:
    """Somebody else was faster: the form shows what they set, so that sending it again undoes nothing of it unseen."""
    if request.headers.get("HX-Request") != "true":
        raise CapChanged(f"{kind} {setting.name}", setting.updated_by)
    own = ("weight", "note") if kind == "tenant" else ("max_run_seconds",)
    typed = ["cap unlimited" if values["unlimited"] else f"cap {values['cap'] or 'default'}"]
    typed += [f"{one.replace('_', ' ')} {values[one][:200] or 'none'}" for one in own]
    text = (
        f"{setting.updated_by} changed this since you opened it; nothing of yours was saved. The fields show what is in "
        f"force now. You had typed: {', '.join(typed)}."
    )
    return _form(
        request, kind, setting, _first(setting, request) | {"reason": values["reason"]}, {"version": text}, 422
    )


def _wanted(setting: Setting, form: CapForm, values: dict[str, str]) -> Wanted:
    """What the form asks for. A field that it doesn't have stays as it is."""
    data, given = form.cleaned_data, form.data
    chosen = data["ends"]
    kept = Wanted(setting.base, setting.weight, setting.note, setting.max_run_seconds)
    if chosen == BACK:
        return kept
    end = ends.read(data, database_now())
    if end.problem:
        raise InvalidInput("until", end.problem.removesuffix("."))
    return replace(
        kept,
        cap=_cap(values),
        weight=setting.weight if data["weight"] is None else data["weight"],
        note=data["note"] if "note" in given else setting.note,
        max_run_seconds=data["max_run_seconds"] if "max_run_seconds" in given else setting.max_run_seconds,
        ends_in_seconds=end.seconds,
        keeps_end=chosen == KEEP,
    )


def _check_right(request: HttpRequest, setting: Setting, wanted: Wanted) -> None:
    if can(request.user, "cap_long"):
        return
    seconds = wanted.ends_in_seconds or 0.0
    if wanted.keeps_end and setting.ends_at and wanted.cap != setting.cap:
        seconds = (setting.ends_at - database_now()).total_seconds()
    if wanted.is_lasting(setting) or seconds > LONGEST_SECONDS:
        raise PermissionDenied(
            f"A cap without an end within 24 h, a weight or a longest run is for {who_may('cap_long')}. Nothing was changed."
        )


def _said(kind: str, setting: Setting) -> str:
    default = read.default(kind, setting.name)
    limit = setting.cap.limit(default)
    if limit == 0:
        text = "is suspended: nothing of it starts; running jobs finish"
    elif setting.cap == Cap():
        text = f"has the default cap, {cap_effects.default_words(default)}"
    else:
        text = "has no limit" if limit is None else f"has a cap of {limit:,}; running jobs finish"
    end = f", until {setting.ends_at:%Y-%m-%d %H:%M} UTC" if setting.ends_at else ""
    return f"{setting.name[:100]} {text}{end}."
