"""Requests that must not be at work together."""

from django.db import connection


def take_turn(key: str) -> None:
    """Waits until no other transaction has this turn, and keeps it until the end of the caller's transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"detiq.turn:{key}"])
