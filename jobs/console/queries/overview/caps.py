"""The caps in force."""

import json

from jobs.conf import conf
from jobs.console.queries.db import fetch


def tenant_caps(tenants: list[str]) -> dict[str, int | None]:
    """The caps in force of these tenants; None: unlimited."""
    rows = fetch(
        "SELECT t AS tenant, detiq_tenant_cap(t, %(cap)s) AS cap FROM unnest(%(tenants)s::text[]) AS x (t)",
        {"tenants": tenants, "cap": conf().tenant_cap},
    )
    return {row["tenant"]: row["cap"] for row in rows}


def type_caps(types: list[str]) -> dict[str, int | None]:
    """The caps in force of these types, over all tenants; None: unlimited."""
    rows = fetch(
        "SELECT t AS type, detiq_type_cap(t, %(caps)s::jsonb) AS cap FROM unnest(%(types)s::text[]) AS x (t)",
        {"types": types, "caps": json.dumps({"DISCOVER": conf().discover_cap})},
    )
    return {row["type"]: row["cap"] for row in rows}
