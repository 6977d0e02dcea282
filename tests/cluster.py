"""One PostgreSQL for the whole test run, thrown away after it."""

import contextlib
import os
import shutil
from pathlib import Path

from detiq_admin.postgres import THROWAWAY, EmbeddedServer
from tests.settings import OTHER_ROLE, ROLE, TEST_DIR


def start() -> EmbeddedServer | None:
    """Starts the run's server, unless `DETIQ_TEST_DATABASE_URL` names one whose role may create databases."""
    Path(TEST_DIR).mkdir()
    Path(TEST_DIR).chmod(0o711)  # so that the user that runs the server gets to its own folder inside
    if os.environ.get("DETIQ_TEST_DATABASE_URL"):
        return None
    server = EmbeddedServer(Path(TEST_DIR), THROWAWAY)
    server.start()
    with server.superuser() as connection:
        # Like the owner in production it is no superuser, so a missing right shows here too.
        connection.execute(f"CREATE ROLE {ROLE} LOGIN CREATEDB")
        connection.execute(f"CREATE DATABASE {ROLE} OWNER {ROLE}")
        # Another program's, without any right until a test grants one.
        connection.execute(f"CREATE ROLE {OTHER_ROLE}")
        connection.execute(f"GRANT {OTHER_ROLE} TO {ROLE}")
    return server


def stop(server: EmbeddedServer | None) -> None:
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, TEST_DIR, ignore_errors=True)
        if server is not None:
            stack.callback(server.stop)
