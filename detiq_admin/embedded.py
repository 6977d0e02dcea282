"""Where the embedded PostgreSQL lives. Settings import this: it starts nothing and connects to nothing."""

import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from platformdirs import user_data_path

DATABASE = "detiq"
# The serving role owns nothing; the owner migrates. Neither is a superuser.
ROLES = {"serving": "detiq", "owner": "detiq_owner"}
_LONGEST_SOCKET_PATH = 100  # the kernel's limit is 107 bytes with the file name


def var_dir(environ: Mapping[str, str]) -> Path:
    """`DETIQ_VAR_DIR`, or the user's data folder.

    For root it is /var/lib/detiq-admin: PostgreSQL refuses to run as root, and the system user that runs it instead
    cannot reach a folder in root's home.
    """
    chosen = environ.get("DETIQ_VAR_DIR", "").strip()
    if chosen:
        return Path(chosen).expanduser().resolve()
    return Path("/var/lib/detiq-admin") if os.geteuid() == 0 else user_data_path("detiq-admin")


def data_dir(var: Path) -> Path:
    return var / "postgres"


def socket_dir(var: Path) -> Path:
    """The folder of the server's socket: always the same for one `var`, and short enough for a socket's path."""
    near = var / "run"
    if len(str(near / ".s.PGSQL.5432").encode()) <= _LONGEST_SOCKET_PATH:
        return near
    digest = hashlib.sha256(str(var).encode()).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"detiq-{os.getuid()}-{digest}"


def embedded_url(var: Path, role: str) -> str:
    """The address of the embedded server for `serving` or `owner`."""
    return f"postgresql://{ROLES[role]}@/{DATABASE}?host={quote(str(socket_dir(var)), safe='')}"
