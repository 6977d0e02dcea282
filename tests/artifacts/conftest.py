"""Every test begins without files, and without a model's endpoint."""

import dataclasses
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.core.files.storage import storages

collect_ignore = ["files"]  # scripts that are looked at, not run


@pytest.fixture(autouse=True)
def _no_files() -> Iterator[None]:
    shutil.rmtree(storages["artifacts"].base_location, ignore_errors=True)  # of tests that looked at no file
    yield
    shutil.rmtree(storages["artifacts"].base_location, ignore_errors=True)


@pytest.fixture
def choose(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`choose(artifact_max_mb=1)`: other settings for this test."""

    def chosen(**values: Any) -> None:
        monkeypatch.setattr(settings, "DETIQ", dataclasses.replace(settings.DETIQ, **values))

    return chosen
