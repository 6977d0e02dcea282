"""The users of the console."""

from jobs.console.queries.db import fetch
from jobs.rows import Row

MOST = 500

_PEOPLE = """
SELECT u.id, u.username, u.is_active, u.is_superuser, u.last_login, u.password LIKE '!%%' AS no_password,
       ARRAY(SELECT g.name FROM auth_user_groups m JOIN auth_group g ON g.id = m.group_id
              WHERE m.user_id = u.id ORDER BY 1) AS groups,
       ARRAY(SELECT tenant_id FROM tenant_limit t WHERE t.user_id = u.id ORDER BY 1) AS tenants,
       EXISTS (SELECT FROM mfa_authenticator a WHERE a.user_id = u.id AND a.type <> 'recovery_codes') AS factor
  FROM auth_user u
"""


def page() -> list[Row]:
    """All of them, the active ones first."""
    return fetch(f"{_PEOPLE} ORDER BY NOT u.is_active, lower(u.username) LIMIT {MOST}")


def find(username: str) -> Row | None:
    """One of them."""
    return next(iter(fetch(f"{_PEOPLE} WHERE u.username = %(name)s", {"name": username})), None)


def sessions(user_id: int) -> list[Row]:
    """The sessions of a user that have not ended, newest first."""
    return fetch(
        """SELECT s.ip::text AS ip, left(s.user_agent, 200) AS agent, s.created_at, s.last_seen_at
             FROM usersessions_usersession s JOIN django_session d USING (session_key)
            WHERE s.user_id = %(id)s AND d.expire_date > now() ORDER BY s.created_at DESC LIMIT 50""",
        {"id": user_id},
    )
