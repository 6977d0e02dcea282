"""Playwright on Debian's Chromium, or any other that is installed."""

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings

if TYPE_CHECKING:  # models can be imported once the plugins are loaded, not before
    from django.contrib.auth.models import User
    from playwright.sync_api import BrowserContext

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


def just_proved(client: Any, user: "User") -> None:
    """As after a real login: who just proved who they are is not asked again before a grave action."""
    session = client.session
    session["account_authentication_methods"] = [{"method": "password", "at": time.time()}]
    session["account_authentication_methods_user"] = str(user.pk)
    session.save()


@pytest.fixture
def sign_in(context: "BrowserContext", live_site: str) -> Callable[..., "User"]:
    """`sign_in("operator")`: a user in the group of that name, signed in in the test's browser."""

    from django.contrib.auth.models import Group, User
    from django.test import Client

    def signed_in(role: str, username: str = "", proved: bool = True) -> User:
        user, _ = User.objects.get_or_create(username=username or f"the-{role}")
        user.groups.add(Group.objects.get_or_create(name=role)[0])
        client = Client()
        client.force_login(user, "django.contrib.auth.backends.ModelBackend")
        if proved:
            just_proved(client, user)
        cookie = client.cookies[settings.SESSION_COOKIE_NAME]
        context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": live_site}])
        return user

    return signed_in


@pytest.fixture(scope="session", autouse=True)
def _browser_beside_the_orm() -> None:
    # Playwright's loop runs in the test's own thread, where Django otherwise refuses every query.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
