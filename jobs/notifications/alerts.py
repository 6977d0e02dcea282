"""Opens and closes alerts, and writes with them the messages that have to be sent. Nothing else changes an alert's state.

One transaction: whoever is killed in it leaves all as it was, and what it wrote is sent by whoever looks next.
"""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

import structlog

from jobs.domain.alerts import MOST_TEXT, Finding, Quiet, Rule, one_line, quiet_seconds
from jobs.notifications.statements import run
from jobs.rows import Row

log = structlog.get_logger("jobs.alerts")


def settle(findings: Iterable[Finding], rules: dict[str, Rule], judged: set[str], now: datetime, using: Any) -> int:
    """Opens what is new, notes what goes on, closes what is over. In the caller's transaction, alone (`lock`).

    `judged`: the rules that were evaluated; of the others nothing is known, so that nothing of theirs is closed, unless
    the rule is off. Returns how many messages were written.
    """
    found = {(one.rule, one.subject): one for one in findings}
    known = {(row["rule"], row["subject"]): row for row in run("open_alerts", {"now": now}, using)}
    written, changed = 0, False
    for key, finding in found.items():
        critical = rules[finding.rule].critical
        if key in known:
            written += _see(known[key], finding, critical, now, using)
        else:
            written += _open(finding, critical, now, using)
            changed = True
    for key, row in known.items():
        if key not in found and _is_over(row, rules, judged, now):
            written += _close(row, now, using)
            changed = True
    if changed:
        run("say_changed", {}, using)
    return written


def _is_over(row: Row, rules: dict[str, Rule], judged: set[str], now: datetime) -> bool:
    rule = rules.get(row["rule"])
    if rule is None or not rule.enabled:
        return True
    return row["rule"] in judged and now - row["seen_at"] >= timedelta(seconds=quiet_seconds(row["lapses"]))


def _row(finding: Finding, critical: bool, now: datetime) -> dict[str, Any]:
    texts = {"title": one_line(finding.title, 300), "detail": finding.detail[:MOST_TEXT]}
    return asdict(finding) | texts | {"critical": critical, "now": now}


def _open(finding: Finding, critical: bool, now: datetime, using: Any) -> int:
    made = run("open_alert", _row(finding, critical, now), using)
    if not made:
        return 0
    log.warning("alert.opened", alert=made[0]["id"], rule=finding.rule, subject=finding.subject, critical=critical)
    channels = [row for row in run("channels_on", {}, using) if critical or not row["only_critical"]]
    for row in channels:
        due = None if critical else _quiet(row).until(now)
        _add(made[0]["id"], row["id"], "opened", now, due, using)
    return len(channels)


def _see(row: Row, finding: Finding, critical: bool, now: datetime, using: Any) -> int:
    run("see_alert", _row(finding, critical, now) | {"id": row["id"]}, using)
    if not critical or row["critical"]:
        return 0
    # It has become critical: what was held back goes out, and who wants critical ones alone is told now.
    run("release_held", {"alert_id": row["id"], "now": now}, using)
    channels = run("channels_on", {}, using)
    for channel in channels:
        _add(row["id"], channel["id"], "opened", now, None, using)
    return len(channels)


def _close(row: Row, now: datetime, using: Any) -> int:
    """Tells those that were told of it, or are being told; a message that is still held back says itself that it is over."""
    told = run("opened_deliveries", {"alert_id": row["id"]}, using)
    if not run("close_alert", {"id": row["id"], "now": now}, using):
        return 0
    log.info("alert.closed", alert=row["id"], rule=row["rule"], subject=row["subject"])
    told = [one for one in told if one["enabled"] and (one["attempts"] or one["state"] != "PENDING")]
    for one in told:
        due = None if row["critical"] else _quiet(one).until(now)
        _add(row["id"], one["channel_id"], "closed", now, due, using)
    return len(told)


def _add(alert_id: int, channel_id: int, event: str, now: datetime, due: datetime | None, using: Any) -> None:
    params = {"alert_id": alert_id, "channel_id": channel_id, "event": event, "now": now, "due_at": due}
    run("add_delivery", params, using)


def _quiet(row: Row) -> Quiet:
    return Quiet(row["quiet_from"], row["quiet_to"], row["zone"])
