"""Playwright on Debian's Chromium, or any other that is installed."""

import os
from typing import Any

import pytest

from tests.chromium import INSTALL, find_chromium


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    path = find_chromium()
    if path is None:
        pytest.fail(f"there is no Chromium; `{INSTALL}` installs it. To leave these tests out: -m 'not browser'")
    return {
        **browser_type_launch_args,
        "executable_path": path,
        "args": ["--disable-background-networking", *(["--no-sandbox"] if os.geteuid() == 0 else [])],
    }


@pytest.fixture(scope="session", autouse=True)
def _browser_beside_the_orm() -> None:
    # Playwright's loop runs in the test's own thread, where Django otherwise refuses every query.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
