"""Modules that a setting names, imported for what they register."""

from importlib import import_module

from jobs.domain.errors import SettingError


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
