"""The sentences that sections open with. No database and no HTML: everything is an argument."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from jobs.console.forecast import Forecast, Outlook
from jobs.console.queries.overview import Detail, Overdue, Snapshot
from jobs.console.queries.overview.failing import Failing
from jobs.console.words import Verdict, plural
from jobs.domain.alerts import RULES
from jobs.templatetags.formats import duration_text, percent_text

# From here on the last hour is worse than usual, and said so.
UNUSUAL, FEWEST = 3.0, 10


def stopped(now: Snapshot) -> str:
    """What keeps every job from starting; empty when nothing does."""
    if any(line.pause.type is None and not line.pause.tenant_id and not line.pause.project_id for line in now.pauses):
        return "Everything is paused"
    return "" if now.workers_live else "No live worker"


def held(now: Snapshot) -> Verdict:
    """Is anything held? What needs somebody first, as a tag; pauses are somebody's own doing."""
    needs = [
        stopped(now),
        f"{plural(now.leaked, 'job')} started through a pause" if now.leaked else "",
        plural(len(now.overdue), "overdue duty", "overdue duties") if now.overdue else "",
        plural(now.silent, "silent run") if now.silent else "",
        plural(len(now.unhandled), "type without a worker", "types without a worker") if now.unhandled else "",
        plural(alerts, "open alert") if (alerts := _alerts_nobody_has(now)) else "",
    ]
    needs = [need for need in needs if need]
    paused = plural(len(now.pauses), "pause") + " in force" if now.pauses else ""
    if not needs and not paused:
        return Verdict("Nothing is paused", more=_alive(now))
    rest = " · ".join([*needs[1:], *([paused] if paused else [])])
    return Verdict(rest or ("Nothing starts" if stopped(now) else "Nothing is paused"), needs[0] if needs else "Paused")


def _alerts_nobody_has(now: Snapshot) -> int:
    """Of those that are shown here."""
    held_ = [row for row in now.alerts.top if row["rule"] not in RULES or RULES[row["rule"]].about == "held"]
    return sum(row["acked_at"] is None for row in held_)


def _alive(now: Snapshot) -> str:
    return f"{plural(len(now.workers_live), 'live worker')}, no silent run, no duty overdue."


def drain(now: Snapshot) -> Verdict:
    """Is the queue getting shorter, and when will it be empty?"""
    entered, left = sum(line.entered for line in now.types), sum(line.left for line in now.types)
    return drain_words(now.queued, entered, left, now.oldest, now.at, stopped(now), now.forecast)


def drain_words(
    queued: int,
    entered: float,
    left: float,
    oldest: datetime | None,
    now: datetime,
    stopped: str,
    forecast: Forecast | None = None,
) -> Verdict:
    """The same from its figures. `stopped` says what keeps everything from starting."""
    if not queued:
        return Verdict("Nothing waits")
    more = f"{queued:,} queued" + (f", oldest wait {duration_text((now - oldest).total_seconds())}." if oldest else ".")
    net = round(entered) - round(left)
    if stopped:
        return Verdict(stopped, "Not draining", more)
    if net > 0:
        return Verdict(f"{net:,} more in than out each minute", "Not draining", more)
    if left < 0.5:
        return Verdict("Nothing has started in the last minutes", "Not draining", more)
    if forecast and forecast.outlook is Outlook.DRAINING:
        more = f"{more} Empty {empty_in(forecast, now)} if it goes on like this."
    return Verdict(f"Draining, {-net:,} more out than in each minute" if net else "In and out are even", more=more)


def empty_in(forecast: Forecast, now: datetime) -> str:
    """`in 12 min to 31 min`, as a range and never as one moment."""
    if forecast.earliest is None:
        return ""
    low = duration_text(_rounded(forecast.earliest - now))
    if forecast.latest is None:
        return f"not before {low} from now"
    high = duration_text(_rounded(forecast.latest - now))
    return f"in {low}" if low == high else f"in {low} to {high}"


def _rounded(length: timedelta) -> float:
    seconds = length.total_seconds()
    return max(60.0, 60 * round(seconds / 60))


def failing(found: Failing, open_groups: Mapping[str, int]) -> Verdict:
    """What fails, of the last hour, and whether it is more than usual."""
    marks = [
        f"{n:,} {word}" for state, word in (("NEW", "new"), ("REGRESSED", "regressed")) if (n := open_groups.get(state))
    ]
    if not found.n:
        return Verdict("Nothing failed in the last hour", more=_still_open(marks))
    causes = len(found.groups)
    text = f"{plural(found.n, 'failed run')} in 1 h" + (f" from {causes} causes" if causes > 1 else " from 1 cause")
    more = [f"{found.dead:,} dead-lettered" if found.dead else "", beside_usual(found.n, found.usual)]
    worse = found.usual is not None and found.n >= FEWEST and found.n > UNUSUAL * found.usual
    return Verdict(text, ", ".join(marks) or ("More than usual" if worse else ""), ", ".join(filter(None, more)))


def _still_open(marks: list[str]) -> str:
    return f"Still to look at: {', '.join(marks)}." if marks else ""


def beside_usual(n: int, usual: float | None) -> str:
    """`usually 12`, or `12 × usual`; empty when nobody knows yet."""
    if usual is None:
        return ""
    if usual < 0.5:
        return "usually none"
    return f"{n / usual:.1f} × the usual {usual:,.0f}" if n > UNUSUAL * usual else f"usually {usual:,.0f}"


def tenants(now: Snapshot, detail: Detail) -> Verdict:
    """Who suffers, and who takes the capacity."""
    if detail.starved:
        name = max(detail.starved, key=lambda one: detail.starved[one])
        text = f"{name[:80]} has had no start for {duration_text(detail.starved[name].total_seconds())}"
        return Verdict(text, f"{len(detail.starved):,} starved", _greedy(detail) or "and no pause or cap holds it")
    if not now.queued:
        return Verdict("Nobody waits", more=_greedy(detail))
    full = [line for line in detail.tenants if line.cap is not None and line.queued and line.running >= line.cap]
    text = f"{plural(detail.tenants_active, 'tenant')} waiting or running"
    return Verdict(text, more=_greedy(detail) or (f"{len(full)} at the cap" if full else ""))


def _greedy(detail: Detail) -> str:
    top = detail.greediest
    if top is None or top.share is None or top.fair is None:
        return ""
    return (
        f"{top.tenant[:80]} takes {percent_text(top.share)} of worker time; its fair share is {percent_text(top.fair)}"
    )


def duty(one: Overdue, now: datetime) -> str:
    """What a duty is late with."""
    if one.effect:
        since = f", open for {duration_text((now - one.since).total_seconds())}" if one.since else ""
        return f"{one.error}{since}; {one.effect}"
    if one.error:
        return f"“{one.name}” failed: {one.error}"
    since = f"for {duration_text((now - one.since).total_seconds())}" if one.since else "yet"
    if one.name == "sweep":
        return f"Nobody has swept {since}: retries stay, lost workers are not noticed"
    return f"“{one.name}” has not been done {since}"
