"""How a page looks to everybody: it fits its window, and axe finds nothing in it, in either theme."""

import os
from collections.abc import Sequence
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

SCHEMES: tuple[Any, ...] = ("light", "dark")
_AXE = Axe().axe_script


def violations(page: Page, context: str = "") -> list[dict[str, Any]]:
    """What axe finds in the page, or in the part that a selector names."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_AXE)
    return list(
        page.evaluate(
            "(part) => axe.run(part || document, {resultTypes: ['violations']}).then((found) => found.violations)",
            context,
        )
    )


def reads(page: Page, said: object = "") -> None:
    """AssertionError, with what is said of it, when axe finds anything."""
    found = violations(page)
    assert [(rule["id"], node["html"][:160]) for rule in found for node in rule["nodes"]] == [], said or page.url


def fits(page: Page) -> None:
    """AssertionError when the page would be moved sideways."""
    over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert over <= 0, f"{page.url} is {over} px too wide for {page.viewport_size}"


def take(page: Page, name: str) -> None:
    """A picture of it, where `DETIQ_TEST_PICTURES` names a folder."""
    if folder := os.environ.get("DETIQ_TEST_PICTURES"):
        page.screenshot(path=f"{folder}/{name}.png")


def look(
    page: Page, address: str, widths: Sequence[int] = (1440, 390), schemes: Sequence[Any] = SCHEMES, picture: str = ""
) -> None:
    """Opens it, then looks at it in every width and theme: both are the style sheets' matter alone, no script reads them."""
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        if width == widths[0]:
            page.goto(address)
        fits(page)
        for scheme in schemes:
            page.emulate_media(color_scheme=scheme)
            if picture:
                take(page, f"{picture}-{width}-{scheme}")
            reads(page, f"{address} at {width} px, {scheme}")
