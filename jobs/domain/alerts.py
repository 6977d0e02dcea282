"""What operators are told of: the rules as data, quiet hours, back-off and the words of a message."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from jobs.domain.errors import InvalidInput

# An alert that was not seen for so long is over: what comes and goes within it is one alert, not many.
QUIET_SECONDS, LONGEST_QUIET_SECONDS = 120.0, 3_600.0
MOST_TEXT = 2_000


def quiet_seconds(lapses: int) -> float:
    """The same for an alert that has been over so often within a day: 2 min, 4, 8 … 1 h, so that what comes and goes more
    slowly ends as one long alert, too."""
    return float(min(QUIET_SECONDS * 2 ** min(lapses, 10), LONGEST_QUIET_SECONDS))


@dataclass(frozen=True)
class Bounds:
    """A number of a rule: what it counts, and how far it may be moved. `most` 0: the rule has no such number."""

    unit: str = ""
    least: int = 0
    most: int = 0


@dataclass(frozen=True)
class Rule:
    """One rule: when it opens an alert. `minutes` is a span of the database's time."""

    name: str
    label: str
    says: str
    threshold: int
    minutes: int
    threshold_bounds: Bounds
    minutes_bounds: Bounds
    critical: bool = False
    enabled: bool = True
    # What it is about: of the overview's questions.
    about: str = "held"

    def with_values(self, *, enabled: bool, critical: bool, threshold: int, minutes: int) -> "Rule":
        """The rule with what an admin wants. Raises `InvalidInput` that names the number out of bounds."""
        _within("threshold", threshold, self.threshold_bounds, self.threshold)
        _within("minutes", minutes, self.minutes_bounds, self.minutes)
        return replace(self, enabled=enabled, critical=critical, threshold=threshold, minutes=minutes)


def _within(field: str, value: int, bounds: Bounds, fixed: int) -> None:
    if not bounds.most:
        if value != fixed:
            raise InvalidInput(field, "this rule has no such number")
    elif not bounds.least <= value <= bounds.most:
        raise InvalidInput(field, f"it must lie between {bounds.least:,} and {bounds.most:,} {bounds.unit}")


_MINUTES = Bounds("minutes", 1, 1_440)
_NONE = Bounds()
RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        Rule("no_worker", "No live worker", "No worker has been heard of for so many minutes: nothing starts.",
             0, 2, _NONE, _MINUTES, critical=True),
        Rule("not_draining", "Not draining",
             "At least so many jobs wait, and in so many minutes no fewer came than started.",
             100, 15, Bounds("queued jobs", 1, 10_000_000), Bounds("minutes", 5, 1_440)),
        Rule("oldest_wait", "Oldest wait", "A job of a type that no pause holds has waited for so many minutes.",
             0, 60, _NONE, Bounds("minutes", 1, 43_200)),
        Rule("silent_stop", "A type stopped finishing",
             "None was done for so many minutes, although by the same hours of the weeks before so many were due.",
             10, 15, Bounds("jobs that were due", 5, 100_000), Bounds("minutes", 5, 1_440), critical=True),
        Rule("pause_ending", "Pause about to end", "A pause ends within so many minutes.", 0, 10, _NONE, _MINUTES),
        Rule("dlq_growth", "DLQ grows", "So many jobs were dead-lettered within so many minutes.",
             20, 15, Bounds("dead letters", 1, 1_000_000), _MINUTES, about="failing"),
        Rule("tenant_dead", "One tenant's dead letters",
             "So many jobs of one tenant were dead-lettered within so many minutes.",
             10, 60, Bounds("dead letters", 1, 1_000_000), _MINUTES, about="failing"),
        Rule("group_regressed", "Failure group regressed", "A group that was said to be fixed has failed again.",
             0, 0, _NONE, _NONE, about="failing"),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """A condition that holds now. `subject` tells alerts of one rule apart. Addresses are paths of the console."""

    rule: str
    subject: str
    title: str
    detail: str = ""
    evidence_url: str = ""
    action_url: str = ""
    action_label: str = ""
    tenant_id: str | None = None


@dataclass(frozen=True)
class Quiet:
    """A channel's quiet hours, in the time of its own zone; without any, `start` is None. They may pass midnight."""

    start: time | None = None
    end: time | None = None
    zone: str = "UTC"

    def until(self, now: datetime) -> datetime | None:
        """When they end, if `now` (aware) is within them."""
        if self.start is None or self.end is None or self.start == self.end:
            return None
        local = now.astimezone(ZoneInfo(self.zone))
        clock = local.time()
        if self.start < self.end:
            inside, days = self.start <= clock < self.end, 0
        else:
            inside, days = clock >= self.start or clock < self.end, int(clock >= self.start)
        if not inside:
            return None
        day = local.date() + timedelta(days=days)
        end = datetime.combine(day, self.end, tzinfo=ZoneInfo(self.zone))
        # The hour that comes twice when clocks are put back: its second one is meant.
        return max(end, end.replace(fold=1), key=datetime.timestamp).astimezone(now.tzinfo)


# --- Deliveries -------------------------------------------------------------------------------------------------------
MOST_ATTEMPTS = 8
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 30.0, 3_600.0


def wait_seconds(attempts: int) -> float:
    """How long after so many tries the next one comes: 30 s, 1 min, 2 min … 1 h."""
    return float(min(FIRST_WAIT_SECONDS * 2 ** max(0, attempts - 1), LONGEST_WAIT_SECONDS))


@dataclass(frozen=True)
class Message:
    """What a receiver gets. `id` is the same for every try; `event` is opened, closed or test; `taken_at`: when this try
    began by the database's clock, seconds since 1970."""

    id: str
    event: str
    title: str
    text: str
    url: str
    body: Mapping[str, object]
    taken_at: int


def message(delivery: Mapping[str, object], alert: Mapping[str, object] | None, site: str, environment: str) -> Message:
    """The message of a delivery, of what is known when it is sent: an alert that is over by then says so.

    `alert` None: a test. `site` is the console's address without a slash at its end, or empty.
    """
    id_, event, at = str(delivery["id"]), str(delivery["event"]), int(str(delivery["taken_at"]))
    if alert is None:
        text = "A test from Detiq Admin: alerts for this channel arrive."
        body = _body(id_, event, environment) | {"text": text}
        return Message(id_, event, f"[{environment}] Test", text, site, body, at)
    over = alert["closed_at"]
    urgent = "CRITICAL: " if alert["critical"] and not over else ""
    title = one_line(f"[{environment}] {'Over: ' if over else ''}{urgent}{alert['title']}")
    when = [f"Opened {_moment(alert['opened_at'])}."] + ([f"Over since {_moment(over)}."] if over else [])
    url = f"{site}/alerts/alert/?id={alert['id']}" if site else ""
    links = [f"{label}: {site}{path}" for label, path in (
        ("Alert", f"/alerts/alert/?id={alert['id']}"), ("Evidence", alert["evidence_url"]),
        (alert["action_label"], "" if over else alert["action_url"])) if path]  # fmt: skip
    text = "\n".join([str(alert["title"]), str(alert["detail"])[:MOST_TEXT], " ".join(when), "", *links]).strip()
    names = ("rule", "subject", "title", "detail", "critical", "evidence_url", "action_url", "action_label")
    said: dict[str, object] = {name: alert[name] for name in names}
    said |= {"id": alert["id"], "tenant": alert["tenant_id"]}
    said |= {name: None if alert[name] is None else _moment(alert[name]) for name in ("opened_at", "closed_at")}
    return Message(id_, event, title, text, url, _body(id_, event, environment) | {"alert": said, "url": url}, at)


def _body(id_: str, event: str, environment: str) -> dict[str, object]:
    return {"id": id_, "event": event, "environment": environment}


def _moment(value: object) -> str:
    return value.strftime("%Y-%m-%dT%H:%M:%SZ") if isinstance(value, datetime) else str(value)


def one_line(text: str, most: int = 200) -> str:
    """Fit for a subject: one line without control characters, cut."""
    clean = "".join(char if char.isprintable() else " " for char in text)
    return clean if len(clean) <= most else clean[: most - 1] + "…"
