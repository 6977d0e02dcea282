"""Ends of one's own choice: by the viewer's clocks, within bounds, and told clearly when the clocks change."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from jobs.console import ends
from jobs.models import Pause, TenantSetting
from tests.console.addresses import HTMX

pytestmark = pytest.mark.django_db
BERLIN = ZoneInfo("Europe/Berlin")


def soon(hours: float, zone: Any = UTC) -> str:
    """As a browser's field sends it."""
    return f"{timezone.now().astimezone(zone) + timedelta(hours=hours):%Y-%m-%dT%H:%M}"


def pause(client: Client, until: str, **more: str) -> Any:
    form = {"type": "CRAWL", "reason": "x", "ends": "at", "until": until} | more
    return client.post("/actions/pause/", form, headers=HTMX)


def test_a_pause_ends_at_the_viewers_time(operator: Client) -> None:
    operator.cookies["detiq_zone"] = "Asia/Kolkata"
    wanted = soon(5, ZoneInfo("Asia/Kolkata"))
    assert pause(operator, wanted).status_code == 200
    end = Pause.objects.get().ends_at.astimezone(ZoneInfo("Asia/Kolkata"))
    assert f"{end:%Y-%m-%dT%H:%M}" == wanted and end.second == 0


def test_a_cap_ends_at_the_viewers_time(operator: Client) -> None:
    operator.cookies["detiq_zone"] = "America/New_York"
    wanted = soon(5, ZoneInfo("America/New_York"))
    form = {"id": "acme", "reason": "x", "cap": "9", "ends": "at", "until": wanted}
    assert operator.post("/actions/cap/", form, headers=HTMX).status_code == 200
    end = TenantSetting.objects.get().ends_at.astimezone(ZoneInfo("America/New_York"))
    assert f"{end:%Y-%m-%dT%H:%M}" == wanted


@pytest.mark.parametrize(("until", "said"), [("", "Write the date"), ("2020-01-01T00:00", "has passed"), ("soon", "no date"),
                                             ("2999-01-01T00:00", "more than a year")])  # fmt: skip
def test_bounds_are_those_of_the_server(admin: Client, until: str, said: str) -> None:
    for address, form in (("/actions/pause/", {"type": "CRAWL"}), ("/actions/cap/", {"id": "acme", "cap": "9"})):
        answer = admin.post(address, form | {"reason": "x", "ends": "at", "until": until}, headers=HTMX)
        assert answer.status_code == 422 and said in answer.content.decode(), address
        assert 'aria-invalid="true"' in answer.content.decode()
    assert not Pause.objects.exists() and not TenantSetting.objects.exists()


def test_an_operators_end_is_within_a_day_and_an_admins_within_a_year(as_role: Callable[..., Client]) -> None:
    operator, admin = as_role("operator"), as_role("admin")
    cap = {"id": "acme", "reason": "x", "cap": "9", "ends": "at", "until": soon(25)}
    assert pause(operator, soon(25)).status_code == operator.post("/actions/cap/", cap).status_code == 403
    assert not Pause.objects.exists() and not TenantSetting.objects.exists()
    assert pause(operator, soon(24)).status_code == pause(admin, soon(25)).status_code == 200
    assert admin.post("/actions/cap/", cap).status_code == 302


def test_a_time_that_comes_twice_is_asked_for_and_one_that_does_not_exist_is_refused() -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    with timezone.override(BERLIN):
        missing = ends.read({"ends": "at", "until": "2026-03-29T02:30"}, now)
        assert missing.seconds is None and "does not exist in Europe/Berlin" in missing.problem and not missing.offsets
        twice = {"ends": "at", "until": "2026-10-25T02:30"}
        asked = ends.read(twice, now)
        assert asked.seconds is None and "comes twice" in asked.problem and asked.offsets == ("+02:00", "+01:00")
        first, second = (ends.read(twice | {"until_offset": one}, now).seconds for one in asked.offsets)
        assert second == (first or 0) + 3600
        assert ends.option(twice | {"until_offset": "+01:00"}, now) == ["--until=2026-10-25T01:30:00Z"]
        assert ends.read(twice | {"until_offset": "+09:00"}, now).seconds is None


def test_the_dialog_offers_both_of_two_times(admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    before = datetime(2026, 10, 24, 12, tzinfo=UTC)
    for module in ("forms", "views.caps", "views.pauses"):
        monkeypatch.setattr(f"jobs.console.{module}.database_now", lambda: before)
    admin.cookies["detiq_zone"] = "Europe/Berlin"
    for address, form in (("/actions/pause/", {"type": "CRAWL"}), ("/actions/cap/", {"id": "acme", "cap": "9"})):
        sent = form | {"reason": "x", "ends": "at", "until": "2026-10-25T02:30"}
        page = admin.post(address, sent, headers=HTMX).content.decode()
        assert 'value="+02:00"' in page and 'value="+01:00"' in page and "comes twice in Europe/Berlin" in page
        assert 'value="2026-10-25T02:30"' in page
        assert admin.post(address, sent | {"until_offset": "+01:00"}, headers=HTMX).status_code == 200


def test_the_command_of_a_chosen_time_names_the_moment(operator: Client) -> None:
    operator.cookies["detiq_zone"] = "Asia/Kolkata"
    until = soon(3, ZoneInfo("Asia/Kolkata"))
    page = operator.get("/pauses/effect/", {"type": "CRAWL", "ends": "at", "until": until}).content.decode()
    assert f"--until={soon(3)}:00Z" in page
    page = operator.get(
        "/caps/tenant/effect/", {"id": "acme", "cap": "3", "ends": "at", "until": until}
    ).content.decode()
    assert f"--until={soon(3)}:00Z" in page
    assert operator.get("/pauses/effect/", {"type": "CRAWL", "ends": "at", "until": "a\x00"}).status_code == 200


def test_commands_take_a_zone_and_tell_of_its_clocks() -> None:
    until = soon(5, BERLIN)
    call_command("queue", "pause", "--type=CRAWL", "--reason=x", f"--until={until}[Europe/Berlin]", stdout=StringIO())
    assert f"{Pause.objects.get().ends_at.astimezone(BERLIN):%Y-%m-%dT%H:%M}" == until
    for text, said in (("2027-03-28T02:30", "does not exist"), ("2027-10-31T02:30", "comes twice")):
        with pytest.raises(CommandError, match=said) as refused:
            call_command("queue", "cap", "--tenant=a", "--cap=3", "--reason=x", f"--until={text}[Europe/Berlin]")
        assert refused.value.returncode == 2


@pytest.mark.parametrize("ends_in", ["²", "٣", "-1", "1e9"])
@pytest.mark.parametrize("page", ["/pauses/effect/?everything=1", "/caps/tenant/effect/?id=acme&cap=5"])
def test_an_end_that_is_no_number_breaks_no_preview(operator: Client, page: str, ends_in: str) -> None:
    answer = operator.get(page + "&" + urlencode({"ends": ends_in}))
    assert answer.status_code == 200 and "--until" not in answer.content.decode()
