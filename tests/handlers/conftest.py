"""Handlers are run directly, with an in-memory reporter, against a real web site on loopback. No database."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from jobs.handlers.web import site as site_module
from jobs.handlers.web.limits import LIMITS, Limits
from tests.handlers.running import LOOPBACK


@dataclasses.dataclass(frozen=True)
class FakeConf:
    outbound_allowed_networks: tuple[Any, ...] = LOOPBACK
    crawl_checkpoint_interval: int = 10


@pytest.fixture(autouse=True)
def settings_in_force(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Loopback is allowed, as in the demo; call it to choose other settings."""

    def choose(**values: Any) -> None:
        chosen = FakeConf(**values)
        monkeypatch.setattr(site_module, "conf", lambda: chosen)
        monkeypatch.setattr("jobs.handlers.crawl.conf", lambda: chosen)
        monkeypatch.setattr("jobs.handlers.discover.conf", lambda: chosen)

    choose()
    return choose


@pytest.fixture
def quick() -> Limits:
    """The product's limits, with less patience."""
    return dataclasses.replace(LIMITS, total_seconds=1.0, retry_after_seconds=1.5)
