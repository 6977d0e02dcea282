"""Modules that a setting names, imported for what they register."""

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

from jobs.domain.errors import SettingError

# Calling one of these only makes something that somebody else would have to run.
_NEVER_RUN = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)


def refuse_unrun(function: Callable[..., Any], of: str) -> None:
    """Raises TypeError when calling the function, the handler of `of`, would not do its work: `async def`, `yield`."""
    if any(tells(function) for tells in _NEVER_RUN):
        name = f"{function.__module__}.{function.__qualname__}"
        raise TypeError(f"{name}, the handler of {of}, must be a plain function: no async, no yield")


def import_named(setting: str, modules: list[str]) -> None:
    """Imports them. Raises `SettingError` that names the setting when one is not there."""
    for name in modules:
        try:
            import_module(name)
        except ModuleNotFoundError as error:
            # A module that is there but lacks a dependency of its own must not read as a misspelt setting.
            if error.name is None or not (name == error.name or name.startswith(error.name + ".")):
                raise
            raise SettingError(
                f"{setting} names {name}, which cannot be imported: {error}. "
                "It takes importable Python modules, separated by commas."
            ) from error
