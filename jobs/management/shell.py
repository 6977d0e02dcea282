"""What the commands for people share: who acts, how refusals end, how times are given, how what was found is told."""

import getpass
import json
import logging
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandError
from django.db import DataError, InternalError, OperationalError

from jobs.artifacts.storage import StorageFailed
from jobs.console.queries.db import database_now
from jobs.domain.errors import InvalidInput, JobsError
from jobs.domain.moments import ComesTwice, moment
from jobs.management.terminal import ShellCommand
from jobs.operations.actions import Person
from jobs.queue.connections import ONLY_READ, only_reads

REFUSED, USAGE = 1, 2
_SECONDS = {"s": 1, "min": 60, "m": 60, "h": 3600, "d": 86_400}


def person() -> Person:
    """The person at the shell, by the name of the operating system's account."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # an account without a name, as in some containers
        name = "unknown"
    return Person(name, source="command")


@contextmanager
def refusals() -> Iterator[None]:
    """Turns what the door refuses into one line and exit code 1; what was typed wrong, 2."""
    logging.getLogger("jobs").setLevel(logging.WARNING)  # the command's own output says what was done
    try:
        yield
    except InvalidInput as error:
        raise CommandError(str(error), returncode=USAGE) from error
    except (JobsError, StorageFailed) as error:
        raise CommandError(str(error), returncode=REFUSED) from error
    except UnicodeEncodeError as error:
        raise CommandError("an argument holds bytes that are no UTF-8; nothing was done", returncode=USAGE) from error
    except DataError as error:
        raise CommandError(f"A value cannot be stored: {str(error).strip()}", returncode=USAGE) from error
    except InternalError as error:
        if not only_reads(error):
            raise
        raise CommandError(ONLY_READ, returncode=REFUSED) from error
    except OperationalError as error:
        raise CommandError(f"The database does not answer: {str(error).strip()}", returncode=REFUSED) from error


class VerbCommand(ShellCommand):
    """A command whose verbs are methods of their names, `_list` for `list`: each returns what it found and says it in words.
    With `--json` the former is printed, else the latter."""

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        with refusals():
            run: Callable[[dict[str, Any]], tuple[Any, str]] = getattr(self, f"_{verb}")
            found, text = run(options)
        self.stdout.write(json.dumps(found, indent=2, default=str) if options["json"] else text)


def seconds_until(text: str, now: datetime | None = None, option: str = "--until") -> float:
    """Seconds from `30min`, `2h`, `1d`, or until a moment in ISO 8601: UTC unless it names an offset or a `[Zone]`.

    `now` None: the database's. Raises `InvalidInput` that names the `option` for anything else, and for what is not in
    the future.
    """
    if match := re.fullmatch(r"(\d{1,9})\s*(s|min|m|h|d)", text.strip()):
        return float(int(match[1]) * _SECONDS[match[2]])
    try:
        found = moment(text, UTC, option)
    except ComesTwice as error:
        raise InvalidInput(option, f"{error.message}; write it behind the time") from None
    except InvalidInput as error:
        if "date and time" not in error.message:
            raise
        raise InvalidInput(option, f"{text!r} is neither a duration (30min, 2h, 1d) nor a moment (ISO 8601)") from None
    seconds = (found - (now or database_now())).total_seconds()
    if seconds <= 0:
        raise InvalidInput(option, f"{text} has passed")
    return seconds


def is_terminal() -> bool:
    """Does a person read this, rather than a script?"""
    return sys.stdout.isatty()
