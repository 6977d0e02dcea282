"""Takes over tables that another program made: adds what is missing, changes nothing that is there, names what it
cannot use. Idempotent; the first migration and every `migrate` call it, on a connection of the tables' owner.
"""

from jobs.queue.adoption.report import AdoptionRefused, Finding, Report
from jobs.queue.adoption.steps import adopt_columns, adopt_indexes, adopt_triggers, adopt_whole, make_tables

__all__ = [
    "AdoptionRefused",
    "Finding",
    "Report",
    "adopt_columns",
    "adopt_indexes",
    "adopt_triggers",
    "adopt_whole",
    "make_tables",
]
