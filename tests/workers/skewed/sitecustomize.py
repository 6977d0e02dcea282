"""Loaded by Python itself when this folder is on its path: a process whose clock is wrong by `SKEW_SECONDS`."""

import copyreg
import datetime
import os
import time
from typing import Any

SKEW = float(os.environ.get("SKEW_SECONDS", "0"))
_real, _time, _time_ns = datetime.datetime, time.time, time.time_ns


class _Type(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _real)


class Skewed(_real, metaclass=_Type):
    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> Any:
        return _real.now(tz) + datetime.timedelta(seconds=SKEW)

    @classmethod
    def utcnow(cls) -> Any:
        return _real.utcnow() + datetime.timedelta(seconds=SKEW)


datetime.datetime = Skewed  # type: ignore[misc]
time.time = lambda: _time() + SKEW
time.time_ns = lambda: _time_ns() + int(SKEW * 1e9)


def _as_text(value: datetime.datetime) -> tuple[Any, tuple[str]]:
    """A real one says that it is `datetime.datetime`, which is another class here. Processes with right clocks read it, too."""
    from django.utils.dateparse import parse_datetime

    return parse_datetime, (value.isoformat(),)


for _kind in (_real, Skewed):
    copyreg.pickle(_kind, _as_text)
