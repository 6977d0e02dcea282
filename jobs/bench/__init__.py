"""Measures the queue, beside plain SQL and beside its peers, on databases of its own.

A scenario is a function that takes a `Lab` (where databases are made) and returns a `Section` (what was found).
Absolute figures drift with the machine, so whatever is compared is measured in turns within one run.
"""
