"""The console's own process, and the browser that the tests drive it with."""

from urllib.parse import urlsplit

import httpx2
import pytest
from django.conf import settings
from django.test import Client

from detiq_admin.listening import listen, url
from jobs.models import AuditEntry
from tests.factories import JobFactory, user
from tests.processes import console


def test_it_answers_and_says_nothing_of_what_serves_it(live_site):
    response = httpx2.get(f"{live_site}/accounts/login/")
    assert response.status_code == 200
    assert "server" not in response.headers


def cancel_by_way_of(site: str, came_from: str) -> str | None:
    """The address that the audit trail keeps of an action that came with this X-Forwarded-For."""
    client, token, job = Client(), "t" * 32, JobFactory()
    client.force_login(user("operator"), "django.contrib.auth.backends.ModelBackend")
    session = client.cookies[settings.SESSION_COOKIE_NAME]
    headers = {"X-Forwarded-For": came_from, "X-CSRFToken": token, "Forwarded": "for=192.0.2.7", "X-Real-IP": "192.0.2.7",
               "Cookie": f"{session.key}={session.value}; {settings.CSRF_COOKIE_NAME}={token}"}  # fmt: skip
    answer = httpx2.post(f"{site}/actions/cancel/", data={"id": job.id, "reason": "x"}, headers=headers)
    assert answer.status_code == 302, answer.text
    address: str | None = AuditEntry.objects.get(target=job.id).address
    return address


def test_where_a_request_comes_from_is_said_by_a_proxy_that_was_named_alone(live_site: str) -> None:
    """By its last hop that is none of the named: what stands before it anybody may have written."""
    forged = ", ".join(["198.51.100.1", "no address", "<b>"] * 20)
    assert cancel_by_way_of(live_site, f"{forged}, 203.0.113.9") == "127.0.0.1"
    with listen("127.0.0.1", 0) as listener:
        process = console(listener, FORWARDED_ALLOW_IPS="127.0.0.1, 10.0.0.0/8")
        try:
            process.wait_ready(30)
            site = f"http://{urlsplit(url(listener, '127.0.0.1')).netloc}"
            assert cancel_by_way_of(site, f"{forged}, 203.0.113.9, 10.1.2.3") == "203.0.113.9"
        finally:
            process.close()


@pytest.mark.browser
def test_a_signed_in_browser_stays_signed_in(page, live_site, sign_in):
    sign_in("viewer")
    answer = page.goto(f"{live_site}/accounts/password/change/")
    assert answer.status == 200
    assert "/accounts/login/" not in page.url
