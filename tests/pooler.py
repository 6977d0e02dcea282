"""Where PgBouncer is. Debian keeps it out of the path of whoever is not root."""

import os
import shutil

INSTALL = "apt-get install -y pgbouncer"


def find_pooler() -> str | None:
    """The program, or None."""
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
