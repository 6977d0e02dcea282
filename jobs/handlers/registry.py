"""Which function does which job type. Filled at import time by `@handler`, read by the worker."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from jobs.domain.errors import SettingError, UnknownHandler
from jobs.handlers.context import JobContext

type HandlerFunction = Callable[[JobContext], Any]

BUILT_IN_MODULES = ("jobs.handlers.discover", "jobs.handlers.crawl")

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
    for name in extra_modules:
        try:
            import_module(name)
        except ModuleNotFoundError as error:
            # A module that is there but lacks a dependency of its own must not read as a misspelt setting.
            if error.name is None or not (name == error.name or name.startswith(error.name + ".")):
                raise
            raise SettingError(
                f"JOB_HANDLER_MODULES names {name}, which cannot be imported: {error}. "
                "It takes importable Python modules, separated by commas."
            ) from error


def _name(function: HandlerFunction) -> str:
    return f"{function.__module__}.{function.__qualname__}"
