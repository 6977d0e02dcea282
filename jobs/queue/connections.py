"""Connections outside Django: the engine's own threads, and Huey's."""

from collections.abc import Callable, Mapping
from typing import Any

import psycopg


def connector(settings: Mapping[str, Any]) -> Callable[..., psycopg.Connection[Any]]:
    """Opens a new connection outside Django, in autocommit and UTC: for the engine's own threads and for Huey."""

    def connect(application_name: str | None = None) -> psycopg.Connection[Any]:
        options = {key: value for key, value in settings["OPTIONS"].items() if key != "pool"}
        if application_name:
            options["application_name"] = application_name
        return psycopg.connect(
            dbname=settings["NAME"],
            user=settings["USER"] or None,
            password=settings["PASSWORD"] or None,
            host=settings["HOST"] or None,
            port=settings["PORT"] or None,
            autocommit=True,
            **{"connect_timeout": 5, **options, "options": f"{options.get('options', '')} -c timezone=UTC".strip()},
        )

    return connect
