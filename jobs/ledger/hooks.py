"""What each hook type does. Filled at import time by `@hook`, read by the processor.

A hook is called with the event and may run twice: its process may be killed before its outcome is recorded. One that
writes to this database alone (the default) runs in the transaction that records its success, so that what it wrote is
there exactly once. One that talks to others says `atomic=False` and must bear being repeated.

A hook that takes longer than `LEDGER_HOOK_SECONDS`, or than the `seconds` it names itself, is given up: its attempt has
failed.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from jobs.domain.errors import JobsError
from jobs.domain.json_input import depth_of
from jobs.domain.modules import import_named, refuse_unrun

# Deeper JSON than this was not meant for anybody.
DEEPEST = 500

_hooks: dict[str, "Hook"] = {}


class HookRefused(JobsError):
    """The event can never succeed, whatever is tried: its document is gone, its payload makes no sense."""


class HookTooSlow(JobsError):
    """The hook did not return in its time, and was given up. What it still does changes nothing of the event."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the hook did not return within {seconds:g} s and was given up")


class HookHangs(JobsError):
    """Runs of this hook were given up here and have not returned yet; another is not begun."""

    def __init__(self, hook_type: str, runs: int) -> None:
        super().__init__(
            f"{runs} runs of hook {hook_type[:200]} hang in this worker; it is not begun here until one ends"
        )


class UnknownHook(JobsError):
    """No hook is registered for this hook type."""

    def __init__(self, hook_type: str) -> None:
        names = ", ".join(sorted(_hooks)) or "none"
        super().__init__(f"no handler for hook type {hook_type[:200]}; this worker has: {names}")


@dataclass(frozen=True)
class Event:
    """One claimed event, as its hook sees it. `attempts` includes this one."""

    id: str
    company_id: str
    document_id: str
    hook_type: str
    attempts: int
    payload_json: str | None = field(repr=False)
    claim_token: str
    twins: list[str] = field(default_factory=list, repr=False)

    @property
    def payload(self) -> Any:
        """The payload, parsed; `{}` for none. Raises `HookRefused` that says what is wrong with it."""
        text = self.payload_json or "{}"
        if depth_of(text) > DEEPEST:
            raise HookRefused(f"payload_json: nested deeper than {DEEPEST} levels")
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise HookRefused(
                f"payload_json: is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
            ) from error
        except ValueError as error:
            raise HookRefused(f"payload_json: holds a number that cannot be read: {error}") from error


type HookFunction = Callable[[Event], None]


@dataclass(frozen=True)
class Hook:
    """A function and how it is run."""

    function: HookFunction
    atomic: bool = True
    seconds: float | None = None  # None: LEDGER_HOOK_SECONDS

    @property
    def name(self) -> str:
        """Where the function is."""
        return f"{self.function.__module__}.{self.function.__qualname__}"


def hook(
    hook_type: str, *, atomic: bool = True, seconds: float | None = None
) -> Callable[[HookFunction], HookFunction]:
    """Registers the decorated function for `hook_type`. The same function may be registered again (a reload).

    `seconds`: how long it may take, instead of `LEDGER_HOOK_SECONDS`.

    Raises ValueError when another function already does that type, TypeError when calling it would not do its work.
    """

    def register(function: HookFunction) -> HookFunction:
        refuse_unrun(function, hook_type)
        new, known = Hook(function, atomic, seconds), _hooks.get(hook_type)
        if known is not None and known.name != new.name:
            raise ValueError(f"hook type {hook_type} already has the handler {known.name}; {new.name} is refused")
        _hooks[hook_type] = new
        return function

    return register


def find(hook_type: str) -> Hook:
    """The hook of a type. Raises `UnknownHook`."""
    try:
        return _hooks[hook_type]
    except KeyError:
        raise UnknownHook(hook_type) from None


def types() -> list[str]:
    """All hook types that this process knows, sorted."""
    return sorted(_hooks)


def shortest_limit(default: float) -> float:
    """The shortest time in seconds that any hook may take, `default` being that of those that name none."""
    return min([default, *(one.seconds for one in _hooks.values() if one.seconds is not None)])


def load(modules: list[str]) -> None:
    """Imports the modules named by `LEDGER_HANDLER_MODULES`. Raises `SettingError`."""
    import_named("LEDGER_HANDLER_MODULES", modules)
