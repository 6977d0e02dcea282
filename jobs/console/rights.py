"""What a user may do and see, as the database has it: one query, remembered on the user."""

from dataclasses import dataclass
from typing import Any

from jobs.console.queries.db import fetch_one


@dataclass(frozen=True)
class Rights:
    """The user's groups by name, and the tenants that the user is limited to; none: all."""

    groups: frozenset[str]
    tenants: frozenset[str]


def of(user: Any) -> Rights:
    """Those of a user who is signed in."""
    known: Rights | None = getattr(user, "_detiq_rights", None)
    if known is None:
        row = fetch_one(_READ, {"user": user.pk}) or {"groups": (), "tenants": ()}
        known = user._detiq_rights = Rights(frozenset(row["groups"]), frozenset(row["tenants"]))
    return known


_READ = """
SELECT ARRAY(SELECT g.name::text FROM auth_user_groups u JOIN auth_group g ON g.id = u.group_id WHERE u.user_id = %(user)s)
       AS groups,
       ARRAY(SELECT tenant_id FROM tenant_limit WHERE user_id = %(user)s) AS tenants
"""
