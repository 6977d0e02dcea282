"""DATABASE_URL as Django wants it.

TCP (`postgresql://user:pw@host:5432/name`) and sockets (`postgresql:///name?host=/run/postgresql`).
"""

from collections.abc import Mapping
from typing import Any

from psycopg import IsolationLevel, ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from jobs.domain.errors import SettingError

# A server that vanished without a word (a pulled cable, a firewall that forgot us) is noticed within half a minute. What the
# address itself says goes before this.
_NOTICED_SOON = {
    "keepalives": "1",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "25000",  # milliseconds
}

# How times are written, whatever the role or the database says it should be; a pooler in transaction mode knows these.
_READABLE = "-c datestyle=ISO -c intervalstyle=postgres"


def from_url(variable: str, url: str) -> dict[str, Any]:
    """Django's settings for one connection. Raises `SettingError` naming `variable`, never the password."""
    if not url.startswith(("postgresql://", "postgres://")):
        raise SettingError(
            f"{variable} is no PostgreSQL address. It takes postgresql://USER:PASSWORD@HOST:PORT/NAME, "
            "or postgresql:///NAME?host=/SOCKET/FOLDER for a socket."
        )
    try:
        parts = {key: value for key, value in conninfo_to_dict(url).items() if value is not None}
    except ProgrammingError as error:
        raise SettingError(
            f"{variable} cannot be read as a PostgreSQL address: {_why(error)}. "
            "In a user's name or a password %, @, :, / and ? are written %25, %40, %3A, %2F and %3F."
        ) from None
    _refuse_unusable(variable, parts)
    if not parts.get("dbname"):
        raise SettingError(f"{variable} names no database. It takes postgresql://USER:PASSWORD@HOST:PORT/NAME.")
    return {
        "ENGINE": "detiq_admin.postgresql_times",
        "NAME": parts.pop("dbname"),
        "USER": parts.pop("user", ""),
        "PASSWORD": parts.pop("password", ""),
        "HOST": parts.pop("host", ""),
        "PORT": parts.pop("port", ""),
        "OPTIONS": {
            **_NOTICED_SOON,
            **parts,
            "options": f"{parts.get('options', '')} {_READABLE}".strip(),
            # Locks are taken before what they protect is counted: that needs a fresh view in each statement.
            "isolation_level": IsolationLevel.READ_COMMITTED,
        },
    }


# What libpq refuses or misreads only when it connects: then it reads as a database that is away.
_ONE_OF = {
    "sslmode": ("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
    "target_session_attrs": ("any", "read-write", "read-only", "primary", "standby", "prefer-standby"),
    "channel_binding": ("disable", "prefer", "require"),
    "gssencmode": ("disable", "prefer", "require"),
    "load_balance_hosts": ("disable", "random"),
}
_WHOLE = (
    "connect_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_count",
    "tcp_user_timeout",
)


def _refuse_unusable(variable: str, parts: Mapping[str, Any]) -> None:
    """Raises `SettingError` for what no server can be reached by."""
    if "@" in str(parts.get("host", "")):
        raise SettingError(f"{variable} has more than one @. In a user's name or a password it is written %40.")
    for port in str(parts.get("port", "")).split(","):
        if port and not (port.isascii() and port.isdigit() and 1 <= int(port) <= 65_535):
            raise SettingError(f"{variable} names port {port[:20]!r}. It takes a whole number from 1 to 65535.")
    for name in _WHOLE:
        if not str(parts.get(name, "0")).removeprefix("-").isdigit():
            raise SettingError(f"{variable} has {name}={str(parts[name])[:20]}. It takes a whole number.")
    for name, choices in _ONE_OF.items():
        if parts.get(name, choices[0]) not in choices:
            raise SettingError(f"{variable} has {name}={str(parts[name])[:20]}. It takes {', '.join(choices)}.")


def _why(error: Exception) -> str:
    """Libpq's words up to where it repeats a part of the address, which may be the password; a parameter's name is none."""
    words, _, repeated = str(error).strip().partition('"')
    return f"{words.strip(' :')}: {repeated.strip('"')}" if "query parameter" in words else words.strip(" :")
