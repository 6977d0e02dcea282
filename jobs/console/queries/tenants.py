"""The tenants' page: who has jobs or a setting, the busiest first."""

from dataclasses import dataclass
from datetime import datetime

from jobs.conf import conf
from jobs.console import scope
from jobs.console.queries.counts import STATES
from jobs.console.queries.db import fetch, limited
from jobs.console.queries.overview import detail, shared
from jobs.console.queries.overview import tenants as capacity
from jobs.console.queries.overview.sharing import Shared
from jobs.rows import Row

MOST = 50


@dataclass(frozen=True)
class Busiest:
    """The tenants of a page, and since when the longest-waiting job of each waits."""

    rows: list[Row]
    oldest: dict[str, datetime]


def busiest(name: str) -> Busiest:
    """The busiest tenants whose name has a text. Those of all are read once for all who look. Raises `TooSlow`."""
    return _read(name) if name or scope.limited() else _of_all.get()


def _read(name: str = "") -> Busiest:
    now, more = shared.get(), detail.get()
    with limited():
        rows = page(name, capacity.running(now.live), list(more.starved)[:MOST], more.waiting)
        return Busiest(rows, capacity.oldest_of([row["tenant_id"] for row in rows if row["queued"]]))


_of_all = Shared(_read, longest=2.0, ahead=0.5)


def page(name: str, running: dict[str, int], first: list[str], waiting: list[str]) -> list[Row]:
    """Up to `MOST` tenants whose name has a text: those named `first`, then by what waits and runs (`running`).

    `waiting`: those with most waiting, in order. All counters of all tenants are read only where a name is looked for, too
    few wait, or not all may be seen.
    """
    busiest = [] if name or scope.limited() else list(dict.fromkeys((*first, *waiting)))[:MOST]
    those = "tenant_id = ANY (%(busiest)s)" if len(busiest) == MOST else "true"
    return fetch(
        f"""SELECT t.tenant_id, t.queued, t.retry_wait, t.dead, t.total, coalesce(r.n, 0) AS running,
                   detiq_tenant_cap(t.tenant_id, %(cap)s) AS cap, s.ends_at, s.note,
                   s.cap IS NOT NULL OR s.unlimited OR s.ends_at IS NOT NULL AS own,
                   coalesce(s.weight, 1) AS weight, t.tenants
              FROM (SELECT *, count(*) OVER () AS tenants
                      FROM (SELECT tenant_id,
                                   coalesce(sum(n) FILTER (WHERE state = 'QUEUED'), 0)::bigint AS queued,
                                   coalesce(sum(n) FILTER (WHERE state = 'RETRY_WAIT'), 0)::bigint AS retry_wait,
                                   coalesce(sum(n) FILTER (WHERE state = 'DEAD_LETTERED'), 0)::bigint AS dead,
                                   sum(n)::bigint AS total
                              FROM ({STATES}) c
                             WHERE (%(name)s = '' OR strpos(lower(tenant_id), lower(%(name)s)) > 0)
                               AND {those} AND {scope.only("tenant_id")}
                             GROUP BY 1 HAVING sum(n) > 0) x) t
              LEFT JOIN unnest(%(names)s::text[], %(ns)s::bigint[]) AS r (tenant_id, n) USING (tenant_id)
              LEFT JOIN tenant_setting s USING (tenant_id)
             ORDER BY t.tenant_id = ANY (%(first)s) DESC, t.queued DESC, running DESC, t.total DESC, t.tenant_id
             LIMIT {MOST}""",  # noqa: S608
        {"cap": conf().tenant_cap, "name": name, "busiest": busiest, "first": first,
         "names": list(running), "ns": list(running.values())} | scope.params(),
    )  # fmt: skip
