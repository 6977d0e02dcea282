"""Who runs the embedded PostgreSQL. The server refuses root, so root starts it as a system user of its own.

No folder's permissions are widened for that user: where it cannot pass, the error names the one line that lets it.
"""

import os
import pwd
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jobs.domain.errors import JobsError

SYSTEM_USER = "detiq-postgres"


class ServerUserError(JobsError):
    """The embedded PostgreSQL's system user cannot be made, or cannot reach its files."""


@dataclass(frozen=True)
class ServerUser:
    """The user and group that run the server; `switch` is true when that takes a change of user."""

    uid: int
    gid: int
    switch: bool

    @property
    def popen(self) -> dict[str, Any]:
        """What `subprocess` needs to run something as this user."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.switch else {}

    def may_pass(self, folder: Path) -> bool:
        """Whether the user may enter the folder, by its mode bits."""
        found = folder.stat()
        if found.st_uid == self.uid:
            return bool(found.st_mode & stat.S_IXUSR)
        if found.st_gid == self.gid:
            return bool(found.st_mode & stat.S_IXGRP)
        return bool(found.st_mode & stat.S_IXOTH)

    def blocked_at(self, folder: Path) -> Path | None:
        """The outermost folder on the way to `folder`, itself included, that the user may not enter."""
        if not self.switch:
            return None
        return next((part for part in [*reversed(folder.parents), folder] if not self.may_pass(part)), None)

    def own(self, folder: Path, mode: int = 0o700) -> None:
        """Makes the folder if need be, for this user alone. Raises `ServerUserError` when it is somebody else's."""
        folder.mkdir(mode=mode, exist_ok=True)
        if self.switch:
            os.chown(folder, self.uid, self.gid, follow_symlinks=False)
        elif folder.is_symlink() or folder.stat().st_uid != self.uid:
            raise ServerUserError(
                f"{folder} belongs to another user. Remove it, or set DETIQ_VAR_DIR to another folder."
            )
        folder.chmod(mode)


def server_user() -> ServerUser:
    """Ourselves; for root its system user, which is made when it is missing."""
    if os.geteuid() != 0:
        return ServerUser(os.geteuid(), os.getegid(), switch=False)
    try:
        entry = pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        _make_user()
        entry = pwd.getpwnam(SYSTEM_USER)
    return ServerUser(entry.pw_uid, entry.pw_gid, switch=True)


def _make_user() -> None:
    line = ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", SYSTEM_USER]
    useradd = shutil.which("useradd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    reason = "useradd is not on this machine"
    if useradd:
        done = subprocess.run([useradd, *line[1:]], capture_output=True, text=True, check=False)
        if done.returncode in (0, 9):  # 9: another start made it a moment ago
            return
        reason = done.stderr.strip()
    raise ServerUserError(
        f"PostgreSQL cannot run as root, and its system user could not be made ({reason}). "
        f"Run `{' '.join(line)}`, or start as an ordinary user, or set DATABASE_URL."
    )
