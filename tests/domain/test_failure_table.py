"""The table of `docs/failures.md`, row by row, with the real exceptions."""

import errno
from pathlib import Path
from typing import Any

import django.core.exceptions
import django.db
import psycopg
import pytest

from jobs.domain.classification import classify, sign_of
from jobs.domain.failures import POLICIES, FailureType

FATAL, LOGICAL = FailureType.FATAL, FailureType.LOGICAL
INFRASTRUCTURE, TRANSIENT = FailureType.INFRASTRUCTURE, FailureType.TRANSIENT


class HttpError(Exception):
    def __init__(self, status: int) -> None:
        super().__init__("the request failed")
        self.status_code = status


def of(error: BaseException) -> Any:
    return classify(sign_of(error))


@pytest.mark.parametrize(
    ("error", "failure_type"),
    [
        (KeyError("title"), LOGICAL),
        (TypeError("'NoneType' object is not iterable"), LOGICAL),
        (ValueError("x"), LOGICAL),
        (django.core.exceptions.ValidationError("too short"), LOGICAL),
        (PermissionError(errno.EACCES, "Permission denied", "/srv/out"), FATAL),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "/srv/upload.pdf"), LOGICAL),
        (MemoryError(), INFRASTRUCTURE),
        (OSError(errno.ENOSPC, "No space left on device"), INFRASTRUCTURE),
        (ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"), TRANSIENT),
        (TimeoutError(), TRANSIENT),
        (django.db.OperationalError("server closed the connection unexpectedly"), INFRASTRUCTURE),
        (psycopg.OperationalError("the connection is closed"), INFRASTRUCTURE),
        (django.db.IntegrityError("duplicate key value violates unique constraint"), LOGICAL),
        (ImportError("cannot import name 'x'"), FATAL),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else str(value),
)
def test_exceptions(error: BaseException, failure_type: FailureType) -> None:
    assert of(error).failure_type is failure_type
    assert not of(error).unclassified


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 413, 418, 422, 451])
def test_what_a_target_refuses_is_logical(status: int) -> None:
    assert of(HttpError(status)).failure_type is LOGICAL


@pytest.mark.parametrize("status", [408, 425, 429, 500, 501, 502, 503, 504, 529])
def test_what_may_pass_is_transient(status: int) -> None:
    assert of(HttpError(status)).failure_type is TRANSIENT


@pytest.mark.parametrize("status", [402, 407])
def test_what_our_account_lacks_is_fatal(status: int) -> None:
    assert of(HttpError(status)).failure_type is FATAL


@pytest.mark.parametrize("message", ["", "ジョブが失敗しました", "???"])
def test_the_default_for_what_nobody_knows_is_named_and_has_few_retries(message: str) -> None:
    judged = of(RuntimeError(message))
    assert judged.failure_type is TRANSIENT and judged.unclassified
    assert POLICIES[judged.failure_type].retries <= 5


def test_the_written_table_names_what_is_tested_here() -> None:
    table = (Path(__file__).parents[2] / "docs/failures.md").read_text()
    for name in ("KeyError", "TypeError", "ValidationError", "PermissionError", "FileNotFoundError", "MemoryError", "ENOSPC",
                 "ConnectionResetError", "TimeoutError", "OperationalError", "IntegrityError", "ImportError", "unclassified",
                 "400, 401, 403, 404, 409, 410, 413, 422", "402, 407", "408, 425, 429"):  # fmt: skip
        assert name in table
