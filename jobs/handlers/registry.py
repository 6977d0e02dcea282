"""Which function does which job type. Filled at import time by `@handler`, read by the worker.

Types that another service runs are data, and come and go while the process runs (`serve_elsewhere`).
"""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from jobs.domain.errors import UnknownHandler
from jobs.domain.modules import import_named, refuse_unrun
from jobs.domain.text import clean_text
from jobs.handlers.context import JobContext

type HandlerFunction = Callable[[JobContext], Any]

BUILT_IN_MODULES = ("jobs.handlers.discover", "jobs.handlers.crawl", "jobs.handlers.artifact_intel")

LONGEST_VERSION = 100

_handlers: dict[str, HandlerFunction] = {}
_versions: dict[str, str] = {}
_elsewhere: dict[str, HandlerFunction] = {}


def handler(job_type: str, *, version: str | None = None) -> Callable[[HandlerFunction], HandlerFunction]:
    """Registers the decorated function for `job_type`. The same function may be registered again (a reload).

    `version` names the form of its checkpoints, and changes when older ones can no longer be gone on from; None: any can.

    Raises ValueError when another function already does that type: two handlers for one type is a mistake
    that would otherwise show only in production, by which of them was imported last. TypeError when `job_type` is no
    name of a type, or when calling the function would not do its work: `async def`, or with a `yield`.
    """
    if not isinstance(job_type, str) or not job_type.strip() or clean_text(job_type) != job_type:
        raise TypeError(f'a handler is registered for a type of jobs, @handler("TYPE"), not for {job_type!r}')
    if version is not None and not (version.strip() and len(version) <= LONGEST_VERSION):
        raise ValueError(f"the version of {job_type}'s handler must have 1 to {LONGEST_VERSION} characters")

    def register(function: HandlerFunction) -> HandlerFunction:
        refuse_unrun(function, job_type)
        known = _handlers.get(job_type)
        if known is not None and _name(known) != _name(function):
            raise ValueError(f"type {job_type} already has the handler {_name(known)}; {_name(function)} is refused")
        _handlers[job_type] = function
        _versions.pop(job_type, None)
        if version is not None:
            _versions[job_type] = version
        return function

    return register


def serve_elsewhere(job_types: Iterable[str], function: HandlerFunction) -> None:
    """From now on `function` does exactly these types, in place of a handler of this process where there is one."""
    global _elsewhere
    _elsewhere = dict.fromkeys(job_types, function)


def is_elsewhere(job_type: str) -> bool:
    """Is this type done by another service, which also tells its end?"""
    return job_type in _elsewhere


def find(job_type: str) -> HandlerFunction:
    """The handler of a type. Raises `UnknownHandler`."""
    function = _elsewhere.get(job_type) or _handlers.get(job_type)
    if function is None:
        raise UnknownHandler(job_type, types())
    return function


def types() -> list[str]:
    """All types that this process has a handler for, sorted."""
    return sorted(_handlers.keys() | _elsewhere.keys())


def version(job_type: str) -> str | None:
    """The version that this process's handler of a type declares; None: none, or another service does the type."""
    return None if is_elsewhere(job_type) else _versions.get(job_type)


def versions() -> dict[str, str]:
    """Of each type whose handler declares one."""
    return {job_type: found for job_type, found in sorted(_versions.items()) if not is_elsewhere(job_type)}


def load(extra_modules: list[str]) -> None:
    """Imports the built-in handler modules and those named by `JOB_HANDLER_MODULES`. Raises `SettingError`."""
    for name in BUILT_IN_MODULES:
        import_module(name)
    import_named("JOB_HANDLER_MODULES", extra_modules)


def _name(function: HandlerFunction) -> str:
    return f"{function.__module__}.{function.__qualname__}"
