"""Numbers, durations and times in the console's words. No HTML, settings or clock here: everything is an argument."""

from datetime import UTC, datetime, timedelta, tzinfo

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def duration_text(seconds: float) -> str:
    """A length of time in at most two units: `0.4 s`, `48 s`, `4 min 12 s`, `27 min`, `34 h`, `3 d`; never negative."""
    seconds = max(0.0, seconds)
    if seconds < 1:
        return f"{seconds:.1f} s" if seconds >= 0.05 else "0 s"
    whole = int(seconds)
    if whole < MINUTE:
        return f"{whole} s"
    if whole < 10 * MINUTE:
        return f"{whole // MINUTE} min {whole % MINUTE:02d} s"
    if whole < 100 * MINUTE:
        return f"{whole // MINUTE} min"
    if whole < 48 * HOUR:
        return f"{whole // HOUR} h"
    return f"{whole // DAY:,} d"


def relative_text(moment: datetime, now: datetime, form: str) -> str:
    """How `moment` lies to `now`, as `ago`, `in`, or bare `age`. A moment on the wrong side reads `now` or `due`."""
    seconds = (moment - now if form == "in" else now - moment).total_seconds()
    if form == "in":
        return f"in {duration_text(seconds)}" if seconds >= 1 else "due"
    if form == "ago":
        return f"{duration_text(seconds)} ago" if seconds >= 1 else "now"
    return duration_text(int(max(0.0, seconds)))


def count_text(value: int | None) -> str:
    """An exact count with commas and a true minus sign; `–` if there is none."""
    return "–" if value is None else f"{value:,}".replace("-", "\N{MINUS SIGN}")


def capped_text(value: int, limit: int) -> str:
    """A count that stopped at `limit`: `≥ 100,000`, or the exact count below it."""
    return f"≥ {limit:,}" if value >= limit else count_text(value)


def percent_text(share: float | None) -> str:
    """A share of 1 as `41 %`; what is there but small is not called nothing."""
    if share is None:
        return "–"
    return "< 1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


def short_count(value: int) -> str:
    """A count for narrow places such as the navigation: `840`, `18.2k`, `1.2M`."""
    for size, unit in ((1_000_000, "M"), (10_000, "k")):
        if value >= size:
            scaled = value / (1_000_000 if unit == "M" else 1000)
            return f"{scaled:.1f}{unit}" if scaled < 100 else f"{scaled:.0f}{unit}"
    return count_text(value)


def bytes_text(size: int) -> str:
    """A size in B, KB or MB."""
    if size < 1024:
        return f"{size} B"
    return f"{size / 1024:,.0f} KB" if size < 1024 * 1024 else f"{size / 1024 / 1024:,.1f} MB"


def offset_text(moment: datetime) -> str:
    """The offset in force at this moment: `+01:00`; `UTC` for no offset."""
    text = moment.strftime("%:z") if moment.utcoffset() else ""
    return text or "UTC"


def repeats(moment: datetime) -> bool:
    """Whether this wall-clock time happens twice on its day (the hour that a clock change repeats)."""
    return moment.replace(fold=0).utcoffset() != moment.replace(fold=1).utcoffset()


def exact_text(moment: datetime, zone: tzinfo) -> str:
    """Date, time to the millisecond and offset in this zone, as shown on hover."""
    local = moment.astimezone(zone)
    return f"{local:%Y-%m-%d %H:%M:%S}.{local.microsecond // 1000:03d} {offset_text(local)}"


def moment_text(moment: datetime, zone: tzinfo, form: str) -> str:
    """A moment in this zone as `time`, `millis`, `date` or `datetime`; the offset is added in an hour that repeats."""
    local = moment.astimezone(zone)
    clock = f"{local:%H:%M:%S}"
    if form == "millis":
        clock += f".{local.microsecond // 1000:03d}"
    if repeats(local):
        clock += f" {offset_text(local)}"
    day = f"{local.day} {local:%b %Y}"
    return {"date": day, "datetime": f"{day} {clock}"}.get(form, clock)


def iso_text(moment: datetime) -> str:
    """A moment for machines: ISO 8601 in UTC."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def zone_text(zone: tzinfo, now: datetime) -> str:
    """A zone's place and the offset in force now: `Berlin, UTC+1`, or `UTC`."""
    offset = now.astimezone(zone).utcoffset() or timedelta()
    name = str(zone).rsplit("/", 1)[-1].replace("_", " ")
    minutes = int(offset.total_seconds() // 60)
    if name in {"UTC", "GMT"}:
        return "UTC"
    sign = "+" if minutes >= 0 else "\N{MINUS SIGN}"
    hours, rest = divmod(abs(minutes), 60)
    return f"{name}, UTC{sign}{hours}" + (f":{rest:02d}" if rest else "")
