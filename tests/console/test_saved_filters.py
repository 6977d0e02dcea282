"""Saved filters: tabs of one's own above the jobs list."""

from collections.abc import Callable

import pytest
from django.test import Client

from jobs.models import SavedFilter
from jobs.operations import saved_filters
from tests.console.conftest import ROLES
from tests.factories import HOSTILE, JobFactory, user

pytestmark = pytest.mark.django_db


def save(client: Client, name: str, query: str) -> int:
    return client.post("/filters/save/", {"name": name, "query": query}).status_code


def test_a_saved_filter_is_a_tab_that_shows_the_same_list(viewer: Client) -> None:
    JobFactory(id="mine", tenant_id="acme", failed=True)
    JobFactory(id="other")
    response = viewer.post(
        "/filters/save/", {"name": "  Failed   at acme ", "query": "tenant=acme&state=FAILED,DEAD_LETTERED"}
    )
    assert response["Location"] == "/jobs/?tenant=acme&state=FAILED%2CDEAD_LETTERED"
    page = viewer.get(response["Location"]).content.decode()
    tab = page.split('aria-label="Saved filters"')[1].split("</nav>")[0]
    assert "Failed at acme</a>" in tab and tab.count("aria-current") == 1
    assert 'data-id="mine"' in page and 'data-id="other"' not in page
    assert "Forget the saved filter" in page and "Save this filter" not in page.split("<dialog")[0]
    assert "Save this filter" in viewer.get("/jobs/?tenant=acme").content.decode()


def test_the_same_name_gets_the_new_filter(viewer: Client) -> None:
    save(viewer, "x", "tenant=a")
    save(viewer, "x", "tenant=b")
    assert list(SavedFilter.objects.values_list("name", "query")) == [("x", "tenant=b")]


def test_what_no_filter_knows_is_not_kept(viewer: Client) -> None:
    save(viewer, "x", "tenant=a&next=//evil.example&state=QUEUED&nonsense=1")
    assert SavedFilter.objects.get().query == "tenant=a&state=QUEUED"


@pytest.mark.parametrize(
    ("name", "query"),
    [("", "tenant=a"), ("  ", "tenant=a"), ("n" * 41, "tenant=a"), ("x", ""), ("x", "no=filter"),
     # Kept in part it would find other jobs than it did.
     ("x", "tenant=a&priority=high"), ("x", "tenant=a&" + "&".join(f"id={number:050}" for number in range(180)))],
)  # fmt: skip
def test_what_cannot_be_saved_says_why(viewer: Client, name: str, query: str) -> None:
    response = viewer.post("/filters/save/", {"name": name, "query": query})
    assert response.status_code == 422
    assert not SavedFilter.objects.exists()


def test_each_has_a_limited_number(viewer: Client) -> None:
    for number in range(saved_filters.MOST):
        assert save(viewer, f"f{number}", "tenant=a") == 302
    assert save(viewer, "one more", "tenant=a") == 422
    assert save(viewer, "f0", "tenant=b") == 302
    assert SavedFilter.objects.count() == saved_filters.MOST


def test_they_are_nobody_elses(viewer: Client, operator: Client) -> None:
    save(viewer, "mine alone", "tenant=a")
    kept = SavedFilter.objects.get()
    assert "mine alone" not in operator.get("/jobs/").content.decode()
    operator.post("/filters/forget/", {"id": kept.pk})
    assert SavedFilter.objects.exists()
    viewer.post("/filters/forget/", {"id": kept.pk})
    assert not SavedFilter.objects.exists()


@pytest.mark.parametrize("number", ["", "x", "9" * 40, "٣", "-1"])
def test_forgetting_what_is_not_there_is_no_error(viewer: Client, number: str) -> None:
    assert viewer.post("/filters/forget/", {"id": number}).status_code == 302


def test_a_hostile_name_is_text(viewer: Client) -> None:
    save(viewer, HOSTILE[:40], "tenant=a")
    assert "<svg/onload" not in viewer.get("/jobs/").content.decode()


@pytest.mark.parametrize("role", [*ROLES, "", None])
def test_each_role(as_role: Callable[..., Client], client: Client, role: str | None) -> None:
    one = client if role is None else as_role(role)
    for path in ("/filters/save/", "/filters/forget/"):
        response = one.post(path, {"name": "x", "query": "tenant=a", "id": "999999"})
        assert response.status_code == (302 if role or role is None else 403)
        assert one.get(path).status_code in {405, 302, 403}
    assert SavedFilter.objects.exists() == bool(role)


def test_they_go_with_their_account(viewer: Client) -> None:
    save(viewer, "x", "tenant=a")
    user("viewer").delete()
    assert not SavedFilter.objects.exists()
