"""The jobs list's filter. The address is the filter: what it cannot read is left out and named, never guessed."""

from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from jobs.console.paging import storable
from jobs.domain.states import DEAD_LETTERED, WORDS

# One text each; the key is the parameter and the word in the filter field.
TEXTS: dict[str, str] = {
    "type": "type",
    "tenant": "tenant",
    "project": "project",
    "failure": "failure type",
    "worker": "worker",
    "error": "error has",
    "text": "name or id has",
    "group": "group",
}
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
    """What the jobs list is narrowed to. Empty means everything."""

    states: tuple[str, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)
    age: str = ""
    ignored: tuple[str, ...] = ()

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
            if value and _usable(value):
                texts[name] = value
            elif value:
                ignored.append(name)
        age = query.get("age", "")
        if age and age not in AGES:
            ignored.append("age")
            age = ""
        return cls(tuple(dict.fromkeys(states)), texts, age, tuple(ignored))

    @property
    def is_empty(self) -> bool:
        return not (self.states or self.texts or self.age)

    @property
    def counted_by_tallies(self) -> bool:
        """Can the counters answer it? They know type, tenant and state."""
        return not self.age and set(self.texts) <= {"type", "tenant"}

    def with_states(self, *states: str) -> "JobFilter":
        """The same filter with other states."""
        return replace(self, states=states)

    def without(self, name: str) -> "JobFilter":
        """The same filter without one part."""
        if name == "state":
            return replace(self, states=())
        if name == "age":
            return replace(self, age="")
        return replace(self, texts={key: value for key, value in self.texts.items() if key != name})

    def params(self) -> dict[str, Any]:
        """The filter as parameters of an address."""
        found: dict[str, Any] = dict(self.texts)
        if self.states:
            found["state"] = ",".join(self.states)
        if self.age:
            found["age"] = self.age
        return found

    def url(self, path: str = "/jobs/", **more: str) -> str:
        """The address of this filter."""
        params = self.params() | {name: value for name, value in more.items() if value}
        return path + ("?" + urlencode(params) if params else "")

    def chips(self, path: str = "/jobs/") -> list[Chip]:
        """The filter's parts but for the states, which the strip shows."""
        chips = [Chip(TEXTS[name], value, self.without(name).url(path)) for name, value in self.texts.items()]
        if self.age:
            chips.append(Chip("queued in the", AGES[self.age][0], self.without("age").url(path)))
        return chips


def _usable(value: str) -> bool:
    return 0 < len(value) <= LONGEST and storable(value)


_COLUMNS = {
    "type": "j.type",
    "tenant": 'j."tenantId"',
    "project": 'j."projectId"',
    "failure": 'j."failureType"::text',  # it may be an enum, and the word none of its own
    "worker": 'j."workerId"',
    "group": "j.fingerprint",
}


def where(filter_: JobFilter, *, states: bool = True) -> tuple[str, dict[str, Any]]:
    """The filter as SQL over `"PlatformJob" j`, and its parameters; no value is ever in the text."""
    parts, params = ["true"], dict[str, Any]()
    for name, column in _COLUMNS.items():
        if name in filter_.texts:
            parts.append(f"{column} = %({name})s")
            params[name] = filter_.texts[name]
    if "error" in filter_.texts:
        parts.append("j.error ILIKE %(error)s")
        params["error"] = like(filter_.texts["error"])
    if "text" in filter_.texts:
        parts.append("(j.name ILIKE %(text)s OR j.id ILIKE %(text)s)")
        params["text"] = like(filter_.texts["text"])
    if filter_.age:
        parts.append('j."queuedAt" >= clock_timestamp() - make_interval(secs => %(age)s)')
        params["age"] = AGES[filter_.age][1]
    if states and filter_.states:
        parts.append("(" + " OR ".join(_state(one, params) for one in filter_.states) + ")")
    return " AND ".join(parts), params


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
