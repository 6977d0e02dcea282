"""The console's own process, and the browser that the tests drive it with."""

import httpx2
import pytest


def test_it_answers_and_says_nothing_of_what_serves_it(live_site):
    response = httpx2.get(f"{live_site}/accounts/login/")
    assert response.status_code == 200
    assert "server" not in response.headers


@pytest.mark.browser
def test_a_signed_in_browser_stays_signed_in(page, live_site, sign_in):
    sign_in("viewer")
    answer = page.goto(f"{live_site}/accounts/password/change/")
    assert answer.status == 200
    assert "/accounts/login/" not in page.url
