"""What an address asks to be done to many jobs. Strict: a part that is unknown, empty or unusable is refused, for a set
that is larger than meant is worse than none."""

from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlencode

from django.http import QueryDict

from jobs.console.commands import Word, command
from jobs.console.filters import TEXTS, JobFilter, moment, where
from jobs.domain.bulk import MOST_REDRIVES, MOST_REDRIVES_EVER, SPECS, Kind, Options
from jobs.domain.errors import InvalidInput
from jobs.domain.states import word
from jobs.queue.operations import Selection

_SWITCHES = {"boomerangs", "held", "kept", "outdated"}
_OF_REDRIVES = {*_SWITCHES, "redrives"}
_OURS = ("operation", "outcome", *_OF_REDRIVES)
_SEVERAL = {"state", "id"}
_KNOWN = {*TEXTS, "state", "age", "id", *_OURS}
OUTCOMES = ("done", "skipped", "failed", "again")


@dataclass(frozen=True)
class Ask:
    """A kind of work and the rows it is asked for: a filter of the jobs list, rows of an earlier operation, or both.

    Of a redrive also what is taken along, or left, that would be the other way.
    """

    kind: Kind
    filter: JobFilter = JobFilter()
    operation: int | None = None
    outcome: str = ""
    boomerangs: bool = False
    held_tenants: bool = False
    kept_only: bool = False
    outdated: bool = False
    # How often a job may have been redriven before; 0: any number.
    redrives: int = MOST_REDRIVES

    @classmethod
    def parse(cls, kind: Kind, query: QueryDict) -> "Ask":
        """Reads an address or a form's `query`. Raises `InvalidInput` that names the part."""
        _check(kind, query)
        filter_ = JobFilter.parse(query)
        if filter_.ignored or ("state" in query and not filter_.states):
            raise InvalidInput((*filter_.ignored, "state")[0], "it cannot be used")
        filter_ = _in_any_zone(filter_)
        outcome = query.get("outcome", "")
        if outcome and outcome not in OUTCOMES:
            raise InvalidInput("outcome", f"it is none of {', '.join(OUTCOMES)}")
        if outcome and "operation" not in query:
            raise InvalidInput("outcome", "it needs the operation whose rows are meant")
        ask = cls(
            kind, filter_, _number(query, "operation", "it is no number of an operation"), outcome,
            query.get("boomerangs") == "1", query.get("held") == "1", query.get("kept") == "1",
            query.get("outdated") == "1", _redrives(query),
        )  # fmt: skip
        if kind is Kind.RESTORE and (filter_.texts or filter_.states or filter_.age):
            raise InvalidInput("filter", "what is restored is named by its purge or by id: operation=7, id=…")
        return ask

    @property
    def is_empty(self) -> bool:
        """Does it mean every job there is?"""
        # A moment up to which jobs count narrows nothing: the lists put it there so that later ones do not join.
        return replace(self.filter.without("to"), states=()).is_empty and self.operation is None

    def pinned(self, now: datetime) -> "Ask":
        """The same for what is there now: jobs that arrive later do not join."""
        if self.kind is Kind.RESTORE or self.filter.ids or "to" in self.filter.texts:
            return self
        return replace(self, filter=self.filter.with_text("to", now.isoformat(timespec="milliseconds")))

    @property
    def states(self) -> tuple[str, ...]:
        """The states that are touched: those of the filter that this kind may touch, else all of those."""
        able = SPECS[self.kind].states
        return tuple(one for one in self.filter.states if one in able) if self.filter.states else tuple(sorted(able))

    @property
    def options(self) -> Options:
        """The choices that the address makes."""
        states = self.states if self.filter.states else ()
        if self.kind is not Kind.RETRY:
            return Options(states=states)
        return Options(
            boomerangs=self.boomerangs, held_tenants=self.held_tenants, kept_only=self.kept_only,
            outdated=self.outdated, max_redrives=self.redrives or None, states=states,
        )  # fmt: skip

    def query(self) -> str:
        """As the query of an address."""
        return urlencode(self.params(), doseq=True)

    def params(self) -> dict[str, object]:
        """As parameters, for an address and the audit."""
        found: dict[str, object] = dict(self.filter.params())
        if self.operation is not None:
            found["operation"] = str(self.operation)
        if self.outcome:
            found["outcome"] = self.outcome
        chosen = {"boomerangs": self.boomerangs, "held": self.held_tenants, "kept": self.kept_only,
                  "outdated": self.outdated}  # fmt: skip
        found |= {name: "1" for name, on in chosen.items() if on}
        if self.redrives != MOST_REDRIVES:
            found["redrives"] = str(self.redrives)
        return found

    def recorded(self) -> dict[str, object]:
        """For the operation and the audit trail: also the tenants that it was limited to."""
        return self.params() | {name: one for name, one in self.filter.recorded().items() if name == "within"}

    def url(self, **more: str) -> str:
        """The address of its preview; an empty value leaves a part out."""
        params = {name: value for name, value in (self.params() | more).items() if value}
        return preview_url(self.kind, urlencode(params, doseq=True))

    def words(self) -> list[tuple[str, str]]:
        """The parts of the filter in words."""
        parts = [(chip.label, chip.value) for chip in self.filter.chips()]
        if self.filter.states:
            parts.insert(0, ("state", ", ".join(word(one) for one in self.filter.states)))
        if self.operation is not None:
            parts.append(
                ("rows of operation", f"{self.operation}{', ' + _WORDS[self.outcome] if self.outcome else ''}")
            )
        return parts

    def selection(self) -> Selection:
        """The rows."""
        if self.kind is Kind.RESTORE:
            return self._of_trash()
        if not self.states:
            return Selection("false", {}, self.recorded())
        # Chosen one by one, each gets its answer; of a filter only what may be touched is in the set.
        chosen = self.filter if self.filter.ids and not self.filter.states else self.filter.with_states(*self.states)
        clause, params = where(chosen)
        rows, more = self._of_operation("j.id")
        return Selection(clause + rows, params | more, self.recorded())

    def _of_trash(self) -> Selection:
        parts, params = ["true"], dict[str, object]()
        if self.filter.ids:
            parts.append("j.job_id = ANY (%(ids)s)")
            params["ids"] = list(self.filter.ids)
        if self.operation is not None and not self.outcome:
            parts.append("j.operation_id = %(operation)s")
            params["operation"] = self.operation
        rows, more = self._of_operation("j.job_id") if self.outcome else ("", {})
        if self.filter.within is not None:
            parts.append("j.tenant_id = ANY (%(within)s)")
            params["within"] = sorted(self.filter.within)
        return Selection(" AND ".join(parts) + rows, params | more, self.recorded(), trash=True)

    def _of_operation(self, column: str) -> tuple[str, dict[str, object]]:
        if self.operation is None:
            return "", {}
        outcomes = {"again": ["failed", "done"], "": list(OUTCOMES)}.get(self.outcome, [self.outcome])
        clause = f""" AND {column} IN (SELECT i.job_id FROM operation_item i
                      WHERE i.operation_id = %(operation)s AND i.outcome = ANY (%(outcomes)s))"""  # noqa: S608
        return clause, {"operation": self.operation, "outcomes": outcomes}


def _check(kind: Kind, query: QueryDict) -> None:
    """Each part is one that this kind of work knows, says something, and says it once."""
    known = _KNOWN if kind is Kind.RETRY else _KNOWN - _OF_REDRIVES
    for name, values in query.lists():
        if name not in known:
            what = kind.value.replace("_", " ")
            raise InvalidInput(name[:100], f"there is no such part of a filter for {what}; {_written(known)}")
        if not all(values):
            raise InvalidInput(name, "it is empty; leave the whole part out")
        if len(values) > 1 and name not in _SEVERAL:
            raise InvalidInput(name, "it is there more than once")
        if name in _SWITCHES and values != ["1"]:
            raise InvalidInput(name, "it must be 1; leave the whole part out for no")


def _written(known: set[str]) -> str:
    """As in an address, not as in the field of the jobs list."""
    return f"it is written type=CRAWL&state=QUEUED, of {', '.join(sorted(known))}"


def _in_any_zone(filter_: JobFilter) -> JobFilter:
    """Times with their offset: they are read again by others, in other zones, and at a shell."""
    for name in ("from", "to"):
        found = moment(filter_.texts[name]) if name in filter_.texts else None
        if found is not None and datetime.fromisoformat(filter_.texts[name]).tzinfo is None:
            filter_ = filter_.with_text(name, found.isoformat())
    return filter_


_WORDS = {"": "", "done": "those done", "skipped": "those skipped", "failed": "those that failed",
          "again": "those that failed, then or later"}  # fmt: skip


def confirming(kind: Kind, preview_id: str, options: Options, reason: str = "") -> list[Word]:
    """The command that confirms a preview, with the choices of its form."""
    numbers = {"--rate": ("rate", options.rate), "--idle": ("idle_percent", options.idle_percent),
               "--priority": ("priority", options.priority)}  # fmt: skip
    given = {option: (name, str(value)) for option, (name, value) in numbers.items() if value is not None}
    return command(
        "operation", "start", preview_id, *(_flags(options) if kind is Kind.RETRY else ()), reason=reason,
        fields={option: name for option, (name, _) in given.items()}, values=dict(given.values()),
    )  # fmt: skip


def _flags(options: Options) -> list[str]:
    found = ["--ramp"] if options.ramp else []
    if not options.keep_checkpoint:
        found.append("--start-over")
    if options.brake_percent is not None:
        found += ["--brake", f"{options.brake_percent}/{options.brake_of}"]
    if options.brake_wait_seconds is not None:
        found += ["--brake-wait", f"{options.brake_wait_seconds}s"]
    return found


def preview_url(kind: Kind, query: str = "") -> str:
    """The preview of a kind of work on the rows of a query."""
    return f"/bulk/{kind.value.replace('_', '-')}/" + (f"?{query}" if query else "")


def _number(query: QueryDict, name: str, problem: str) -> int | None:
    text = query.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise InvalidInput(name, problem)
    return int(text)


def _redrives(query: QueryDict) -> int:
    found = _number(query, "redrives", "it is no whole number")
    if found is not None and found > MOST_REDRIVES_EVER:
        raise InvalidInput("redrives", f"it must lie between 0 (any number) and {MOST_REDRIVES_EVER:,}")
    return MOST_REDRIVES if found is None else found
