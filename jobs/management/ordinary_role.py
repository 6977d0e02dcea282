"""A superuser is above every grant, so `up` does not serve as one: its sessions take on an ordinary role."""

from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import sql

from detiq_admin.embedded import ROLES

ROLE = ROLES["serving"]


def make_if_superuser(connection: psycopg.Connection[Any]) -> str | None:
    """For a superuser's connection: makes the ordinary role if need be, and returns libpq's switch that takes it on."""
    if connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = session_user").fetchone() != (True,):
        return None
    row = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone()
    if row is None:
        connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(ROLE)))
    return f"-c role={ROLE}"


def switched(url: str, switch: str) -> str:
    """The address with the switch added to its options."""
    return f"{url}{'&' if '?' in url else '?'}options={quote(switch)}"
