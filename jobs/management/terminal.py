"""What a command shows: stored text as it is, which never commands the terminal that shows it."""

import re
from typing import Any, TextIO, cast

from django.core.management.base import BaseCommand, OutputWrapper
from rich.console import Console
from rich.text import Text

# All that is no sign but an order: escapes, a return to the line's beginning, what turns the direction of writing.
_ORDERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """The text with each order written out, as `\\x1b`."""
    return _ORDERS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class VisibleOutput(OutputWrapper):
    """Django's, for text that somebody else may have written. `raw` is what it writes to."""

    def __init__(self, raw: TextIO, style: Any) -> None:
        super().__init__(raw)
        self.raw = raw
        self.style_func = style

    def write(self, msg: str = "", style_func: Any = None, ending: str | None = None) -> None:  # type: ignore[override]
        """Writes a line."""
        super().write(visible(msg), style_func, ending)


class ShellCommand(BaseCommand):
    """A command for people."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Wherever it is told to write, it writes visibly."""
        if name in {"stdout", "stderr"} and type(value) is OutputWrapper:
            value = VisibleOutput(cast(TextIO, value._out), value.style_func)
        super().__setattr__(name, value)


class _Tables(Console):
    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(visible(text), **options)

    def on_broken_pipe(self) -> None:
        """Not a refusal: see `detiq_admin.entry`."""
        raise  # noqa: PLE0704  (it is called where the error is handled)


def console(command: ShellCommand, width: int = 160) -> Console:
    """Prints tables, as wide as the terminal; else `width`. Square brackets and colons are just that."""
    out = cast(VisibleOutput, command.stdout).raw  # its own styles are orders, too
    return _Tables(file=out, highlight=False, markup=False, emoji=False, width=None if out.isatty() else width)
