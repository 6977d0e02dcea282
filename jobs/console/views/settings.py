"""The settings in force; read only: they come from the environment."""

from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from jobs.conf import SETTINGS, conf
from jobs.console.permissions import TABLE, Role, can
from jobs.console.queries import system
from jobs.console.queries.db import database_now, limited
from jobs.console.views.render import show
from jobs.domain.variables import Secret
from jobs.templatetags.formats import duration_text


@require_safe
def settings(request: HttpRequest) -> HttpResponse:
    """What each setting is, what the database protects, who may do what."""
    values = conf()
    with limited():
        facts = system.facts()
        duties = system.duties()
        now = database_now()
    rows = [
        {
            "name": setting.name,
            "value": in_words(getattr(values, setting.attribute)),
            "default": setting.default,
            "help": setting.help,
        }
        for setting in SETTINGS
    ]
    rights = [
        {"action": action.replace("_", " "), "roles": [one in allowed for one in Role]}
        for action, allowed in TABLE.items()
    ]
    context = {"rows": rows, "facts": facts, "duties": duties, "roles": list(Role), "rights": rights, "server_now": now,
               "may_map": can(request.user, "set_remote")}  # fmt: skip
    return show(request, "console/settings.html", context)


def in_words(value: Any) -> str:
    """A value as people read it."""
    if isinstance(value, Secret):
        return "set" if value else "none"
    if isinstance(value, timedelta):
        return duration_text(value.total_seconds())
    if isinstance(value, list | tuple | frozenset):
        names = [str(one) for one in value]
        return ", ".join(sorted(names) if isinstance(value, frozenset) else names) or "none"
    return str(value)
