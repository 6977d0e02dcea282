"""Hooks that do what hooks do wrong, and some that work. Loaded by `LEDGER_HANDLER_MODULES=tests.ledger.kit`."""

import os
import threading
import time

from django.db import connection

from jobs.handlers.hooks import enqueue_for
from jobs.ledger.hooks import Event, HookRefused, hook

KIT = {"LEDGER_HANDLER_MODULES": "tests.ledger.kit"}


def note(event: Event, what: str) -> None:
    """Writes down what a hook did, on the connection it runs on: with its transaction, if it has one."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO ledger_test (event_id, what, pid) VALUES (%s, %s, %s)", [event.id, what, os.getpid()]
        )


@hook("NOTE")
def noted(event: Event) -> None:
    note(event, "ran")


@hook("NOTE_OUTSIDE", atomic=False)
def noted_outside(event: Event) -> None:
    """Says when it began and ended, each at once; its first run stays as long as the payload says."""
    note(event, "began")
    time.sleep(event.payload.get("seconds", 0) if event.attempts == 1 else 0)
    note(event, "ended")


@hook("NOTE_SLOWLY")
def noted_slowly(event: Event) -> None:
    note(event, "ran")
    time.sleep(event.payload.get("seconds", 1))


@hook("MAKES_A_JOB")
def makes_a_job(event: Event) -> None:
    enqueue_for(event, type="NOOP", config={"from": event.payload.get("from", "ledger")})


@hook("FAILS")
def fails(event: Event) -> None:
    note(event, "undone")
    raise RuntimeError(event.payload.get("error", "the index is away"))


@hook("REFUSES")
def refuses(event: Event) -> None:
    raise HookRefused("the document is gone")


@hook("DIES", atomic=False)
def dies(event: Event) -> None:
    """Takes its process with it."""
    note(event, "began")
    os._exit(9)


# Hooks that hang do so until this is set.
go_on = threading.Event()


@hook("HANGS", seconds=0.4)
def hangs(event: Event) -> None:
    """Writes something down, and does not return."""
    note(event, "undone")
    go_on.wait(60)


@hook("HANGS_OUTSIDE", atomic=False, seconds=0.4)
def hangs_outside(event: Event) -> None:
    note(event, "began")
    go_on.wait(60)
    note(event, "ended")


@hook("HANGS_IN_SQL", seconds=0.4)
def hangs_in_sql(event: Event) -> None:
    note(event, "undone")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(60)")


@hook("TAKES_ITS_TIME", seconds=5)
def takes_its_time(event: Event) -> None:
    note(event, "ran")
    time.sleep(1)
