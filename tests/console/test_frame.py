"""The frame: what pages are built from holds its promises without a page."""

import hashlib
import re
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import django_tables2 as tables
import pytest
from django.template import Context, Template
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.utils import timezone

from jobs.domain import states
from jobs.templatetags import figures, formats, json_tree
from jobs.templatetags.console import look
from tests.console import gallery
from tests.console.stage import Stage

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
VENDOR = ROOT / "static" / "vendor"
NOW = gallery.NOW


def tag(source: str, **context: object) -> str:
    return Template("{% load console %}" + source).render(Context({"server_now": NOW} | context))


def test_every_carried_file_is_listed_with_its_digest() -> None:
    listed = {}
    for package in tomllib.loads((VENDOR / "vendor.toml").read_text())["package"]:
        assert package["licence"]
        for name, digest in package["sha256"].items():
            listed[f"{package['name']}-{package['version']}/{name}"] = digest
    found = {
        str(path.relative_to(VENDOR)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in VENDOR.rglob("*")
        if path.is_file() and path.name != "vendor.toml"
    }
    assert found == listed
    assert sum((VENDOR / name).stat().st_size for name in found if name.endswith(".woff2")) < 500_000


def test_scripts_stay_small() -> None:
    lines = [line.strip() for path in (ROOT / "static" / "js").glob("*.js") for line in path.read_text().splitlines()]
    assert len([line for line in lines if line and not line.startswith("//")]) < 400


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_templates_need_no_inline_style_or_script(path: Path) -> None:
    source = path.read_text()
    assert not re.search(r"\sstyle=|<style|\son[a-z]+=|hx-on|\|safe\b|autoescape off", source)
    assert not re.search(r"<script(?![^>]*\ssrc=)", source)


def test_every_icon_that_a_template_names_is_drawn() -> None:
    drawn = set(re.findall(r'symbol id="([^"]+)"', (ROOT / "static/img/icons.svg").read_text()))
    sources = "".join(path.read_text() for path in TEMPLATES)
    assert set(re.findall(r'{% icon "([^"]+)"', sources)) <= drawn


def test_every_state_has_its_own_word_icon_and_colour() -> None:
    drawn = set(re.findall(r'symbol id="([^"]+)"', (ROOT / "static/img/states.svg").read_text()))
    css = (ROOT / "static/css/parts.css").read_text()
    looks = {state: look(state) for state in states.WORDS}
    assert {shown.word for shown in looks.values()} == set(states.WORDS.values())
    for shown in looks.values():
        assert shown.name in drawn
        assert f".state.{shown.name} " in css
        assert f".badge.{shown.name} " in css
    assert look("FAILED", True) == look("DEAD_LETTERED")


def test_a_state_of_another_program_is_shown_as_it_is() -> None:
    shown = tag("{% state status %}", status="ON_HOLD<svg>")
    assert "ON_HOLD&lt;svg&gt;" in shown
    assert "state unknown" in shown


def test_stored_text_is_never_markup() -> None:
    page = Stage().render()
    assert "<svg/onload" not in page
    assert "<script>window" not in page
    assert not re.search(r'\sstyle="', page)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "0 s"), (0.4, "0.4 s"), (48, "48 s"), (68, "1 min 08 s"), (252, "4 min 12 s"), (1620, "27 min")]
    + [(72 * 60, "72 min"), (2 * 3600, "2 h"), (34 * 3600, "34 h"), (3 * 86400, "3 d")],
)
def test_durations(seconds: float, text: str) -> None:
    assert formats.duration_text(seconds) == text


def test_a_relative_time_is_never_on_the_wrong_side() -> None:
    ahead = NOW + timedelta(seconds=90)
    assert formats.relative_text(ahead, NOW, "in") == "in 1 min 30 s"
    assert formats.relative_text(ahead, NOW, "ago") == "now"
    assert formats.relative_text(NOW - timedelta(hours=1), NOW, "in") == "due"


@pytest.mark.parametrize(
    ("moment", "text", "offset"),
    [
        (datetime(2026, 3, 29, 0, 30, tzinfo=UTC), "01:30:00", "+01:00"),
        (datetime(2026, 3, 29, 1, 30, tzinfo=UTC), "03:30:00", "+02:00"),
        (datetime(2026, 10, 25, 0, 30, tzinfo=UTC), "02:30:00 +02:00", "+02:00"),
        (datetime(2026, 10, 25, 1, 30, tzinfo=UTC), "02:30:00 +01:00", "+01:00"),
        (datetime(2026, 7, 1, 12, tzinfo=UTC), "14:00:00", "+02:00"),
        (datetime(2026, 1, 1, 12, tzinfo=UTC), "13:00:00", "+01:00"),
    ],
)
def test_a_moment_has_the_offset_of_its_own_date(moment: datetime, text: str, offset: str) -> None:
    with timezone.override(ZoneInfo("Europe/Berlin")):
        shown = tag("{% moment at %}", at=moment)
    assert f">{text}</time>" in shown
    assert re.search(rf'title="[^"]*{re.escape(offset)}"', shown)
    assert f'datetime="{moment:%Y-%m-%dT%H:%M:%S}.000Z"' in shown


def test_zone_labels() -> None:
    assert formats.zone_text(ZoneInfo("Europe/Berlin"), NOW) == "Berlin, UTC+1"
    assert formats.zone_text(ZoneInfo("Asia/Kathmandu"), NOW) == "Kathmandu, UTC+5:45"
    assert formats.zone_text(UTC, NOW) == "UTC"


def test_json_of_any_depth_and_size_is_shown_in_part() -> None:
    deep: object = "end"
    for _ in range(10_000):
        deep = {"next": deep}
    assert "deeper levels are not shown" in json_tree.tree(deep)
    assert "99,800 more" in json_tree.tree(list(range(100_000)))
    assert "cut: 2,000 of 50,000 characters" in json_tree.tree({"log": "x" * 50_000})
    assert "<b>" not in json_tree.tree({"<b>": "<b>"})


def test_figures_bear_impossible_numbers() -> None:
    assert 'width="0"' in figures.progress_figure(-3, "running", 64)
    assert 'width="64"' in figures.progress_figure(150, "running", 64)
    assert "12 of 4" in figures.slots_figure(12, 4, 0, 86)
    assert "0 of 0" in figures.slots_figure(0, 0, 0, 86)
    assert "latest 0" in figures.spark_figure([], "faint")


@pytest.mark.parametrize("code", [400, 403, 404, 500, 503])
def test_error_pages_need_no_context(code: int) -> None:
    page = render_to_string(f"{code}.html")
    assert f"{code}" in page
    assert "data-error-text" in page


def test_the_frame_alone_and_its_parts() -> None:
    page = render_to_string("base.html", {}, RequestFactory().get("/"))
    assert 'href="#main"' in page
    # Only what a script says of itself is live; without one the page says what it cannot do.
    assert "This page does not update itself" in page and not re.search(
        r"data-live-word>Live<|data-live-state=.live", page
    )
    line = render_to_string("console/partials/_pause_line.html", {"pause_line": gallery.PAUSE_LINE})
    assert "2 pauses hold" in line
    assert "<html" not in line


def test_sign_in_page_posts_login_and_password() -> None:
    field = SimpleNamespace(id_for_label="id_login", html_name="login", value="", errors=[])
    secret = SimpleNamespace(id_for_label="id_password", html_name="password", errors=[])
    form = {"login": field, "password": secret, "errors": {}}
    page = render_to_string("account/login.html", {"form": form}, RequestFactory().get("/accounts/login/?next=/dlq/"))
    assert 'name="login"' in page
    assert 'autocomplete="current-password"' in page
    assert "data-signed-out" in page


class SampleTable(tables.Table):
    name = tables.Column(attrs={"th": {"class": "w-200"}})
    size = tables.Column(attrs={"th": {"class": "w-80 r"}, "td": {"class": "r"}}, orderable=False)
    caption = "Sample"

    class Meta:
        template_name = "django_tables2/console.html"
        row_attrs = {"id": lambda record: f"row-{record['name']}"}


def test_tables_say_how_they_are_sorted() -> None:
    table = SampleTable([{"name": "<b>", "size": 3}], order_by="-name")
    html = table.as_html(RequestFactory().get("/jobs/?sort=-name&after=x&type=CRAWL"))
    assert 'aria-sort="descending"' in html
    assert html.count('scope="col"') == 2
    assert "after=" not in html
    assert 'aria-label="Sample"' in html
    assert "&lt;b&gt;" in html
    assert "style=" not in html
