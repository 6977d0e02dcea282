"""Alerts, their messages and channels, and a user's notifications. Every read is bounded and obeys the scope."""

from dataclasses import dataclass, field

from jobs.console import scope
from jobs.console.paging import Cursor, Page, cut
from jobs.console.queries.db import fetch, fetch_one
from jobs.rows import Row

PAGE = 50
MOST_OPEN = 200
TOP = 5
_COLUMNS = """id, rule, left(subject, 300) AS subject, tenant_id, critical, title, detail, evidence_url, action_url,
    action_label, opened_at, seen_at, closed_at, acked_at, acked_by, ack_note"""


@dataclass(frozen=True)
class OpenAlerts:
    """What is open: how many, how many of them nobody has acknowledged, and the first ones."""

    n: int = 0
    unacked: int = 0
    critical: int = 0
    top: list[Row] = field(default_factory=list)


def open_now(everybodys: bool = False) -> OpenAlerts:
    """Of the scope, or of all tenants for what is read once for everybody. One statement."""
    only = "true" if everybodys else scope.only("tenant_id")
    rows = fetch(
        f"""SELECT {_COLUMNS}, count(*) OVER () AS n, count(*) FILTER (WHERE acked_at IS NULL) OVER () AS unacked,
                   count(*) FILTER (WHERE critical AND acked_at IS NULL) OVER () AS urgent
              FROM alert WHERE closed_at IS NULL AND {only}
             ORDER BY acked_at IS NOT NULL, critical DESC, opened_at DESC LIMIT {TOP}""",  # noqa: S608
        {} if everybodys else scope.params(),
    )
    return OpenAlerts(rows[0]["n"], rows[0]["unacked"], rows[0]["urgent"], rows) if rows else OpenAlerts()


def open_ones() -> list[Row]:
    """The open ones: what nobody is at first, the critical before the others, the newest first; at most `MOST_OPEN`."""
    return fetch(
        f"""SELECT {_COLUMNS} FROM alert WHERE closed_at IS NULL AND {scope.only("tenant_id")}
             ORDER BY acked_at IS NOT NULL, critical DESC, opened_at DESC, id DESC LIMIT {MOST_OPEN}""",  # noqa: S608
        scope.params(),
    )


def over(after: Cursor | None, before: Cursor | None) -> Page:
    """Those that are over, the newest first."""
    select = f"SELECT {_COLUMNS}, opened_at::text AS cursor_at FROM alert"  # noqa: S608
    where = f"closed_at IS NOT NULL AND {scope.only('tenant_id')}"
    return _page(select, where, "opened_at", "id", "bigint", scope.params(), after, before)


def _page(
    select: str, where: str, by: str, id_: str, type_: str, params: Row, after: Cursor | None, before: Cursor | None
) -> Page:
    """A page of rows by time and id, newest first. A cursor that fits no row begins at the top."""
    cursor = before or after
    if cursor and (type_ != "bigint" or (cursor.id.isascii() and cursor.id.isdigit() and len(cursor.id) < 19)):
        where += f" AND ({by}, {id_}) {'>' if before else '<'} (%(at)s::timestamptz, %(id)s::{type_})"
        params = params | {"at": cursor.at, "id": cursor.id}
    down = "" if cursor and before else " DESC"
    rows = fetch(f"{select} WHERE {where} ORDER BY {by}{down}, {id_}{down} LIMIT {PAGE + 1}", params)
    return cut(rows, PAGE, after=after, before=before)


def find(alert_id: int) -> Row | None:
    """One of the scope."""
    return fetch_one(
        f"SELECT {_COLUMNS} FROM alert WHERE id = %(id)s AND {scope.only('tenant_id')}",  # noqa: S608
        {"id": alert_id} | scope.params(),
    )


_DELIVERY = """SELECT d.id, d.alert_id, d.event, d.state, d.attempts, d.created_at, d.due_at, d.sent_at,
    left(d.last_error, 500) AS last_error, c.name AS channel, c.kind, c.id AS channel_id, left(a.title, 300) AS title,
    d.due_at > now() + interval '5 minutes' AND d.attempts = 0 AND d.state = 'PENDING' AS held,
    d.created_at::text AS cursor_at
  FROM alert_delivery d JOIN alert_channel c ON c.id = d.channel_id LEFT JOIN alert a ON a.id = d.alert_id"""


def deliveries_of(alert_id: int) -> list[Row]:
    """The messages of one alert, the first one first."""
    return fetch(f"{_DELIVERY} WHERE d.alert_id = %(id)s ORDER BY d.created_at, d.id LIMIT 200", {"id": alert_id})


def deliveries(state: str, after: Cursor | None, before: Cursor | None) -> Page:
    """Messages in a state, or all; the newest first."""
    where = "d.state = %(state)s" if state else "true"
    return _page(_DELIVERY, where, "d.created_at", "d.id", "text", {"state": state}, after, before)


def delivery(delivery_id: str) -> Row | None:
    """One message."""
    return fetch_one(f"{_DELIVERY} WHERE d.id = %(id)s", {"id": delivery_id})


def failed_deliveries() -> int:
    """How many messages were given up, counted up to 1,000."""
    row = fetch_one("SELECT count(*) AS n FROM (SELECT 1 FROM alert_delivery WHERE state = 'FAILED' LIMIT 1000) d")
    return int(row["n"]) if row else 0


_CHANNEL = """SELECT c.id, c.name, c.kind, c.shown, c.secret <> '' AS signed, c.enabled, c.only_critical, c.quiet_from,
    c.quiet_to, c.zone, c.version, c.updated_at, c.updated_by,
    (SELECT count(*) FROM (SELECT 1 FROM alert_delivery d
                            WHERE d.channel_id = c.id AND d.state = 'FAILED' LIMIT 1000) f) AS failed,
    (SELECT max(d.sent_at) FROM alert_delivery d WHERE d.channel_id = c.id) AS sent_at
  FROM alert_channel c"""


def channels() -> list[Row]:
    """All channels; their addresses as far as they may be read."""
    return fetch(f"{_CHANNEL} ORDER BY lower(c.name), c.id LIMIT 100")


def channel(channel_id: int) -> Row | None:
    """One of them."""
    return fetch_one(f"{_CHANNEL} WHERE c.id = %(id)s", {"id": channel_id})


# --- Notifications ----------------------------------------------------------------------------------------------------
def unread(username: str) -> int:
    """How many notifications somebody has not read, counted up to 1,000."""
    row = fetch_one(
        f"""SELECT count(*) AS n FROM (SELECT 1 FROM "Notification"
             WHERE "userId" = %(user)s AND NOT read AND {scope.only('"tenantId"')} LIMIT 1000) n""",  # noqa: S608
        {"user": username} | scope.params(),
    )
    return int(row["n"]) if row else 0


def notifications(username: str, only_unread: bool, after: Cursor | None, before: Cursor | None) -> Page:
    """Somebody's own notifications, the newest first."""
    select = """SELECT id, left("tenantId", 300) AS tenant_id, left(type, 100) AS type, left(title, 300) AS title,
                       left(body, 1000) AS body, read, "createdAt" AS created_at, left(metadata ->> 'jobId', 300) AS job_id,
                       "createdAt"::timestamptz::text AS cursor_at FROM "Notification" """
    where = f""""userId" = %(user)s AND {scope.only('"tenantId"')}""" + (" AND NOT read" if only_unread else "")
    return _page(select, where, '"createdAt"', "id", "text", {"user": username} | scope.params(), after, before)


def memberships(tenant: str) -> list[Row]:
    """Who has a role in which tenant; one tenant's, or the first 500."""
    return fetch(
        """SELECT left("tenantId", 300) AS tenant_id, left("userId", 300) AS user_id, left(role::text, 60) AS role,
                  EXISTS (SELECT FROM auth_user u WHERE u.username = "userId") AS here
             FROM "Membership" WHERE %(tenant)s = '' OR "tenantId" = %(tenant)s ORDER BY 1, 3 DESC, 2 LIMIT 500""",
        {"tenant": tenant},
    )
