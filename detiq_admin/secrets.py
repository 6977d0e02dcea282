"""The secret key: given, or made once where demo data may live."""

import secrets
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from jobs.domain.errors import SettingError

FILE = "secret-key"
_LENT = "DETIQ_SECRET_KEY_LENT"


def secret_key(environ: Mapping[str, str], var: Path) -> str:
    """`SECRET_KEY`; else the key that `manage.py up` made under `DETIQ_VAR_DIR`.

    Raises `SettingError` when there is neither. `DETIQ_MAKE_SECRET_KEY=1` (set by `up` with demo data, and by the
    tests) allows one to be made.
    """
    given = environ.get("SECRET_KEY", "").strip()
    if given:
        if len(given) < 32:
            raise SettingError("SECRET_KEY is too short. It takes at least 32 random characters.")
        return given
    path = var / FILE
    if path.exists():
        return path.read_text().strip()
    if environ.get("DETIQ_MAKE_SECRET_KEY") == "1":
        return _make(path)
    raise SettingError(
        "SECRET_KEY is not set. It takes at least 32 random characters, the same on every console and worker; "
        "`manage.py up` makes one by itself together with demo data."
    )


def lend(environ: MutableMapping[str, str], var: Path) -> None:
    """A key for this process alone, where there is none: `up` must look at the database before it may make one."""
    if not environ.get("SECRET_KEY", "").strip() and not (var / FILE).exists():
        environ["SECRET_KEY"] = secrets.token_urlsafe(48)
        environ[_LENT] = "1"


def settle(environ: MutableMapping[str, str], var: Path, *, make: bool) -> None:
    """Replaces a lent key by the one that console and worker share. `make`: one may be made, demo data lives here.

    Raises `SettingError` when it may not.
    """
    if environ.pop(_LENT, None) is None:
        return
    del environ["SECRET_KEY"]
    secret_key({"DETIQ_MAKE_SECRET_KEY": "1"} if make else {}, var)


def _make(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    key = secrets.token_urlsafe(48)
    try:
        with path.open("x") as file:
            path.chmod(0o600)
            file.write(key)
    except FileExistsError:  # another process was faster; both must use the same
        return path.read_text().strip()
    return key
