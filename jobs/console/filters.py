"""The jobs list's filter. The address is the filter: what it cannot read is left out and named, never guessed."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils import timezone

from jobs.conf import conf
from jobs.console import scope
from jobs.console.paging import storable
from jobs.domain.failures import FailureType
from jobs.domain.masking import is_secret
from jobs.domain.states import DEAD_LETTERED, WORDS

# One text each; the key is the parameter and the word in the filter field.
TEXTS: dict[str, str] = {
    "type": "type",
    "tenant": "tenant",
    "project": "project",
    "failure": "failure type",
    "group": "group",
    "worker": "runs on",
    "priority": "priority",
    "submitted": "submitted by",
    "error": "error has",
    "text": "name or id has",
    "config": "config has",
    "from": "queued from",
    "to": "queued until",
}
# As a group: the jobs that have none.
NO_GROUP = "none"
# An index on the beginning of the error finds rare text; what stands after it is not searched.
ERROR_CHARACTERS = 500
SHORTEST_INDEXED = 3
MOST_IDS = 200
AGES: dict[str, tuple[str, int]] = {
    "15m": ("last 15 min", 900),
    "1h": ("last hour", 3600),
    "24h": ("last 24 h", 86_400),
    "7d": ("last 7 d", 604_800),
    "30d": ("last 30 d", 2_592_000),
}
LONGEST = 300
MOST_STATES = 12


@dataclass(frozen=True)
class Chip:
    """One part of the filter, with the address that is left without it."""

    label: str
    value: str
    url: str


@dataclass(frozen=True)
class JobFilter:
    """What the jobs list is narrowed to. Empty means everything.

    `within` is no part of the address: the tenants that the one who asks may see (None: all). It is taken when the filter
    is made, so that it goes with the filter wherever its rows are read.
    """

    states: tuple[str, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)
    age: str = ""
    ignored: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    within: scope.Scope = field(default_factory=scope.current)

    @classmethod
    def parse(cls, query: QueryDict) -> "JobFilter":
        """Reads an address. Values that cannot be used are named in `ignored`."""
        ignored = []
        states = [part for raw in query.getlist("state") for part in raw.split(",") if part]
        if len(states) > MOST_STATES or not all(map(_usable, states)):
            ignored, states = ["state"], []
        texts = {}
        for name in TEXTS:
            value = query.get(name, "")
            if value and _usable(value) and CHECKS.get(name, _usable)(value):
                texts[name] = value
            elif value:
                ignored.append(name)
        age = query.get("age", "")
        if age and age not in AGES:
            ignored.append("age")
            age = ""
        ids = query.getlist("id")
        if len(ids) > MOST_IDS or not all(map(storable, ids)):
            ignored.append("id")
            ids = []
        return cls(tuple(dict.fromkeys(states)), texts, age, tuple(ignored), tuple(dict.fromkeys(filter(None, ids))))

    @property
    def is_empty(self) -> bool:
        return not (self.states or self.texts or self.age or self.ids)

    @property
    def counted_by_tallies(self) -> bool:
        """Can the counters answer it? They know type, tenant and state."""
        return not self.age and not self.ids and set(self.texts) <= {"type", "tenant"}

    def with_states(self, *states: str) -> "JobFilter":
        """The same filter with other states."""
        return replace(self, states=states)

    def without(self, name: str) -> "JobFilter":
        """The same filter without one part."""
        if name == "state":
            return replace(self, states=())
        if name == "age":
            return replace(self, age="")
        if name == "id":
            return replace(self, ids=())
        return replace(self, texts={key: value for key, value in self.texts.items() if key != name})

    def with_text(self, name: str, value: str) -> "JobFilter":
        """The same filter with one more part, or that part changed."""
        return replace(self, texts=self.texts | {name: value})

    def params(self) -> dict[str, Any]:
        """The filter as parameters of an address."""
        found: dict[str, Any] = dict(self.texts)
        if self.states:
            found["state"] = ",".join(self.states)
        if self.age:
            found["age"] = self.age
        if self.ids:
            found["id"] = list(self.ids)
        return found

    def recorded(self) -> dict[str, Any]:
        """The filter for the audit trail, with the tenants that it was limited to."""
        return self.params() | ({} if self.within is None else {"within": sorted(self.within)})

    def query(self) -> str:
        """The filter as the query of an address."""
        return urlencode(self.params(), doseq=True)

    def url(self, path: str = "/jobs/", **more: str) -> str:
        """The address of this filter."""
        params = self.params() | {name: value for name, value in more.items() if value}
        return path + ("?" + urlencode(params, doseq=True) if params else "")

    def chips(self, path: str = "/jobs/") -> list[Chip]:
        """The filter's parts but for the states, which the strip shows."""
        chips = [Chip(TEXTS[name], value, self.without(name).url(path)) for name, value in self.texts.items()]
        if self.age:
            chips.append(Chip("queued in the", AGES[self.age][0], self.without("age").url(path)))
        if self.ids:
            chips.append(
                Chip("id", f"one of {len(self.ids)}" if self.ids[1:] else self.ids[0], self.without("id").url(path))
            )
        return chips


def _usable(value: str) -> bool:
    return 0 < len(value) <= LONGEST and storable(value)


_PRIORITY = re.compile(r"(<=|>=|<|>)?(-?\d{1,9})")
_CONFIG = re.compile(r"([^=]+)(?:=(.*))?", re.DOTALL)


def moment(text: str) -> datetime | None:
    """A date or time as it is typed; without an offset it is the viewer's."""
    try:
        found = datetime.fromisoformat(text)
        aware = found if found.tzinfo else timezone.make_aware(found)
        aware.timestamp()
    except (ValueError, OverflowError):
        return None
    return aware


def _names_a_path(value: str) -> bool:
    """A path of keys. What a masked value is must not be found out by guessing."""
    found = _CONFIG.fullmatch(value)
    if found is None or not all(found[1].split(".")):
        return False
    return found[2] is None or not any(is_secret(key, conf().masked_keys) for key in found[1].split("."))


CHECKS: dict[str, Callable[[str], bool]] = {
    "priority": lambda value: _PRIORITY.fullmatch(value) is not None,
    "config": _names_a_path,
    "from": lambda value: moment(value) is not None,
    "to": lambda value: moment(value) is not None,
}

_COLUMNS = {
    "type": "j.type",
    "tenant": 'j."tenantId"',
    "project": 'j."projectId"',
    "submitted": 'j."submittedBy"',
}


# True of every job. The indexes of the lists are for those alone who say it: see 0010_indexes.sql.
LISTED = "j.id >= ''"
# True of every job, too: the index of all jobs, newest first, is for filters that no narrower one serves (0017_indexes.sql).
OF_ALL = """j."queuedAt" >= '-infinity'"""


def where(filter_: JobFilter, *, states: bool = True, prefix: str = "") -> tuple[str, dict[str, Any]]:
    """The filter as SQL over `"PlatformJob" j`, and its parameters; no value is ever in the text.

    With a `prefix` to their names, the parameters of several filters can stand in one statement.
    """
    clause, params = _where(filter_, states)
    if not prefix:
        return clause, params
    return clause.replace("%(", f"%({prefix}"), {prefix + name: value for name, value in params.items()}


def _where(filter_: JobFilter, states: bool) -> tuple[str, dict[str, Any]]:
    parts, params = [LISTED] if _narrow(filter_, states) else [LISTED, OF_ALL], dict[str, Any]()
    for name, column in _COLUMNS.items():
        if name in filter_.texts:
            parts.append(f"{column} = %({name})s")
            params[name] = filter_.texts[name]
    for name, build in _BUILDERS.items():
        if name in filter_.texts:
            parts.append(build(filter_.texts[name], params))
    if filter_.within is not None:
        parts.append('j."tenantId" = ANY (%(within)s)')
        params["within"] = sorted(filter_.within)
    if filter_.ids:
        parts.append("j.id = ANY (%(ids)s)")
        params["ids"] = list(filter_.ids)
    if filter_.age:
        # Not the clock of the moment, which no index can be asked for.
        parts.append('j."queuedAt" >= statement_timestamp() - make_interval(secs => %(age)s)')
        params["age"] = AGES[filter_.age][1]
    if states and filter_.states:
        parts.append("(" + " OR ".join(_state(one, params) for one in filter_.states) + ")")
    return " AND ".join(parts), params


def _narrow(filter_: JobFilter, states: bool) -> bool:
    """Has what it asks for an index of its own that has the list's order, or are they few?"""
    texts = filter_.texts
    return bool(
        {"tenant", "type", "worker"} & texts.keys()
        or filter_.ids
        or texts.get("group", NO_GROUP) != NO_GROUP
        or texts.get("failure") in set(FailureType)
        or (states and len(filter_.states) == 1 and filter_.states[0] in {*WORDS, DEAD_LETTERED})
    )


def _failure(value: str, params: dict[str, Any]) -> str:
    # It may be an enum, and the word none of its own; the index serves those that we know.
    params["failure"] = value
    return 'j."failureType" = %(failure)s' if value in set(FailureType) else 'j."failureType"::text = %(failure)s'


def _worker(value: str, params: dict[str, Any]) -> str:
    # What it runs now: an end clears the column, and live rows are few and have an index.
    params["worker"] = value
    return """j."workerId" = %(worker)s AND j.status IN ('RUNNING', 'CANCEL_REQUESTED')"""


def _priority(value: str, params: dict[str, Any]) -> str:
    found = _PRIORITY.fullmatch(value)
    assert found is not None  # noqa: S101  (checked when the address was read)
    params["priority"] = int(found[2])
    return f"j.priority {found[1] or '='} %(priority)s"


def _group(value: str, params: dict[str, Any]) -> str:
    if value == NO_GROUP:
        return "j.fingerprint IS NULL"
    params["group"] = value
    return "j.fingerprint = %(group)s"


def _error(value: str, params: dict[str, Any]) -> str:
    params["error"] = like(value)
    return f"left(j.error, {ERROR_CHARACTERS}) ILIKE %(error)s"


def _text(value: str, params: dict[str, Any]) -> str:
    params["text"] = like(value)
    return "(j.name ILIKE %(text)s OR j.id ILIKE %(text)s)"


def _config(value: str, params: dict[str, Any]) -> str:
    """`url`: the key is there. `auth.kind=form`: what stands there reads `form`."""
    found = _CONFIG.fullmatch(value)
    assert found is not None  # noqa: S101  (checked when the address was read)
    params["config_path"] = found[1].split(".")
    if found[2] is None:
        return "j.config #> %(config_path)s::text[] IS NOT NULL"
    params["config_value"] = found[2]
    return "j.config #>> %(config_path)s::text[] = %(config_value)s"


def _from(value: str, params: dict[str, Any]) -> str:
    params["from"] = moment(value)
    return 'j."queuedAt" >= %(from)s'


def _to(value: str, params: dict[str, Any]) -> str:
    params["to"] = moment(value)
    return 'j."queuedAt" <= %(to)s'


_BUILDERS: dict[str, Callable[[str, dict[str, Any]], str]] = {
    "group": _group,
    "failure": _failure,
    "worker": _worker,
    "priority": _priority,
    "error": _error,
    "text": _text,
    "config": _config,
    "from": _from,
    "to": _to,
}


def _state(state: str, params: dict[str, Any]) -> str:
    if state == DEAD_LETTERED:
        return "(j.status = 'FAILED' AND j.dlq)"
    if state == "FAILED":
        return "(j.status = 'FAILED' AND NOT j.dlq)"
    name = f"state_{len(params)}"
    params[name] = state
    # A word that another program invented may be none of an enum's own; the index serves those that we know.
    return f"j.status = %({name})s" if state in WORDS else f"j.status::text = %({name})s"


def like(text: str) -> str:
    """A pattern that finds the text itself, anywhere."""
    for char in "\\%_":
        text = text.replace(char, "\\" + char)
    return f"%{text}%"
