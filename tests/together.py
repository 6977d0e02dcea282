"""Several things at the same moment."""

import threading
from collections.abc import Callable
from typing import Any

from django.db import connections

LONGEST_SECONDS = 60


def at_once(*works: Callable[[], Any]) -> list[Any]:
    """Does them in threads, each on a connection of Django's of its own: their answers, as they came. Raises what the first
    of them raised."""
    gate = threading.Barrier(len(works))
    answers: list[Any] = []
    errors: list[BaseException] = []

    def run(work: Callable[[], Any]) -> None:
        try:
            gate.wait(10)
            answers.append(work())
        except BaseException as error:  # noqa: BLE001 - raised below
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONGEST_SECONDS)
    if errors:
        raise errors[0]
    return answers
