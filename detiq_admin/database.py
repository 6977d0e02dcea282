"""DATABASE_URL as Django wants it.

TCP (`postgresql://user:pw@host:5432/name`) and sockets (`postgresql:///name?host=/run/postgresql`).
"""

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
            f"{variable} cannot be read as a PostgreSQL address: {_without_password(error, url)}"
        ) from None
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


def _without_password(error: Exception, url: str) -> str:
    text = str(error).strip()
    return text if "@" not in url else text.replace(url, "(the address)").split(url.split("@")[0])[0] or "malformed"
