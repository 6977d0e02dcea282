"""People in a real browser: an admin makes a user, who sets a password, adds a key, and sees the own tenants alone."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from tests.console.looks import fits, reads, take
from tests.console.test_browser import page as page  # the console must stay without errors here, too
from tests.factories import JobFactory, user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASSWORD = "a staple that no horse has"


def look(page: Page, name: str) -> None:
    """Accessible, and without a scroll bar at its foot; a picture where one is asked for."""
    take(page, name)
    reads(page)
    fits(page)


def sign_in_with(page: Page, site: str, name: str) -> None:
    page.goto(f"{site}/accounts/login/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def test_a_limited_user_from_the_form_to_the_first_page(
    page: Page, live_site: str, sign_in: Callable[..., Any], browser: Browser
) -> None:
    JobFactory(tenant_id="acme", name="theirs to see")
    JobFactory(tenant_id="globex", name="not for them")
    boss: User = sign_in("admin", "dana")
    boss.set_password(PASSWORD)
    boss.save()
    sign_in("admin", "dana", proved=False)
    page.goto(f"{live_site}/people/")
    look(page, "people")
    page.get_by_role("link", name="New user").click()
    expect(page.get_by_role("heading", name="Confirm it is you, dana")).to_be_visible()
    look(page, "confirm")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()
    page.get_by_label("Name to sign in with").fill("lena")
    page.get_by_role("radio", name="Support").check()
    page.get_by_label("Tenants that may be seen").fill("acme")
    page.get_by_label("Reason").fill("joins support")
    look(page, "person-new")
    page.get_by_role("button", name="Make the user").click()
    link = page.locator("#one-time-link").inner_text()
    look(page, "person-link")
    page.goto(f"{live_site}/people/change/?user=lena")
    look(page, "person")

    other = browser.new_context(viewport={"width": 1440, "height": 1000}).new_page()
    other.goto(link)
    other.get_by_label("Password", exact=True).or_(other.get_by_label("New Password", exact=True)).first.fill(PASSWORD)
    other.locator("input[type=password]").nth(1).fill(PASSWORD)
    look(other, "set-password")
    other.get_by_role("button", name="Set password").click()
    sign_in_with(other, live_site, "lena")
    expect(other.get_by_text("This account sees 1 tenant")).to_be_visible()
    look(other, "overview-of-some")
    other.goto(f"{live_site}/jobs/")
    expect(other.get_by_role("link", name="theirs to see")).to_be_visible()
    expect(other.get_by_text("not for them")).to_have_count(0)
    expect(other.get_by_role("link", name="Workers")).to_have_count(0)
    other.context.close()


def test_a_security_key_is_added_and_then_asked_for(page: Page, live_site: str) -> None:
    site = live_site.replace("127.0.0.1", "localhost")  # keys belong to a name, not to an address
    person = user("operator", "otto")
    person.set_password(PASSWORD)
    person.save()
    client = page.context.new_cdp_session(page)
    client.send("WebAuthn.enable")
    options = {"protocol": "ctap2", "transport": "usb", "hasResidentKey": True, "hasUserVerification": True,
               "isUserVerified": True, "automaticPresenceSimulation": True}  # fmt: skip
    client.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    sign_in_with(page, site, "otto")
    page.goto(f"{site}/accounts/2fa/")
    look(page, "factors")
    page.goto(f"{site}/accounts/2fa/webauthn/add/")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()
    look(page, "key-add")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("heading", name="Recovery Codes")).to_be_visible()
    look(page, "recovery-codes")
    page.goto(f"{site}/accounts/2fa/totp/activate/")
    look(page, "app-add")
    page.goto(f"{site}/accounts/sessions/")
    look(page, "sessions")
    page.goto(f"{site}/accounts/logout/")
    page.get_by_role("button", name="Sign out").click()
    sign_in_with(page, site, "otto")
    look(page, "factor-asked")
    page.get_by_role("button", name="Use a security key").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
