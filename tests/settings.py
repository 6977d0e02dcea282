"""The product's settings on the test run's own database, deaf to the shell's.

The address is fixed here, before anything runs: the controller starts the server there (`conftest.py`), and the
workers of pytest-xdist find it through the environment they inherit.
"""

import os
import secrets
import tempfile
from pathlib import Path
from urllib.parse import quote

from jobs.conf import SETTINGS

ROLE = "detiq_tests"
OTHER_ROLE = "detiq_tests_other"

for _name in {*(setting.name for setting in SETTINGS), "DATABASE_OWNER_URL"} - {"LOG_LEVEL"}:
    os.environ.pop(_name, None)

# Only named here, not made: type checkers read these settings as well.
TEST_DIR = os.environ.setdefault(
    "DETIQ_TEST_DIR", str(Path(tempfile.gettempdir()).resolve() / f"detiq-test-{secrets.token_hex(6)}")
)
os.environ["DETIQ_VAR_DIR"] = TEST_DIR
os.environ["DATABASE_URL"] = os.environ.get("DETIQ_TEST_DATABASE_URL") or (
    f"postgresql://{ROLE}@/{ROLE}?host={quote(f'{TEST_DIR}/run', safe='')}"
)
# The workers of pytest-xdist have a database each, and files of their own.
os.environ["ARTIFACT_STORAGE"] = f"file://{TEST_DIR}/artifacts-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
# The tests start hundreds of processes, each of which would compile anew whatever it imports: most of its start. Whoever
# wants no bytecode beside the sources finds it among pytest's notes.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
    os.environ["PYTHONPYCACHEPREFIX"] = str(Path(__file__).resolve().parent.parent / ".pytest_cache" / "bytecode")
os.environ["SECRET_KEY"] = "a-key-for-tests-alone-of-32-characters-or-more"
os.environ["DETIQ_INSECURE_COOKIES"] = "1"
os.environ["ALERTS_STAND_IN_SECONDS"] = "0"  # the console of the browser's tests must open no alert in the midst of one
os.environ["ALLOWED_HOSTS"] = "localhost,127.0.0.1,[::1],testserver"
os.environ.setdefault("LOG_LEVEL", "INFO")

from detiq_admin.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
