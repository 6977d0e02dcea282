"""Which function does which job type. Filled at import time by `@handler`, read by the worker."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from jobs.domain.errors import UnknownHandler
from jobs.domain.modules import import_named
from jobs.handlers.context import JobContext

type HandlerFunction = Callable[[JobContext], Any]

BUILT_IN_MODULES = ("jobs.handlers.discover", "jobs.handlers.crawl", "jobs.handlers.artifact_intel")

_handlers: dict[str, HandlerFunction] = {}


def handler(job_type: str) -> Callable[[HandlerFunction], HandlerFunction]:
    """Registers the decorated function for `job_type`. The same function may be registered again (a reload).

    Raises ValueError when another function already does that type: two handlers for one type is a mistake
    that would otherwise show only in production, by which of them was imported last.
    """

    def register(function: HandlerFunction) -> HandlerFunction:
        known = _handlers.get(job_type)
        if known is not None and _name(known) != _name(function):
            raise ValueError(f"type {job_type} already has the handler {_name(known)}; {_name(function)} is refused")
        _handlers[job_type] = function
        return function

    return register


def find(job_type: str) -> HandlerFunction:
    """The handler of a type. Raises `UnknownHandler`."""
    try:
        return _handlers[job_type]
    except KeyError:
        raise UnknownHandler(job_type, list(_handlers)) from None


def types() -> list[str]:
    """All types that this process has a handler for, sorted."""
    return sorted(_handlers)


def load(extra_modules: list[str]) -> None:
    """Imports the built-in handler modules and those named by `JOB_HANDLER_MODULES`. Raises `SettingError`."""
    for name in BUILT_IN_MODULES:
        import_module(name)
    import_named("JOB_HANDLER_MODULES", extra_modules)


def _name(function: HandlerFunction) -> str:
    return f"{function.__module__}.{function.__qualname__}"
