"""What exceptions carry, and the table of docs/failures.md."""

import errno
from typing import Any

import pytest

from jobs.domain.classification import classify, sign_of
from jobs.domain.errors import InvalidInput
from jobs.domain.failures import FailureType
from jobs.domain.signs import exception_class

FATAL, LOGICAL = FailureType.FATAL, FailureType.LOGICAL
INFRASTRUCTURE, TRANSIENT = FailureType.INFRASTRUCTURE, FailureType.TRANSIENT


def error_class(name: str, module: str = "library", **attributes: Any) -> type[Exception]:
    return type(name, (Exception,), {"__module__": module, **attributes})


class Response:
    status_code = 503
    headers = {"Retry-After": "3600"}  # noqa: RUF012


class Hostile(Exception):
    """Every look at it fails."""

    def __str__(self) -> str:
        raise ValueError("no text")

    @property
    def status(self) -> int:
        raise RuntimeError("no status")

    @property
    def response(self) -> Any:
        raise MemoryError


TABLE = [
    (KeyError("title"), LOGICAL),
    (TypeError("'int' object is not iterable"), LOGICAL),
    (error_class("ValidationError", "pydantic_core")("1 validation error"), LOGICAL),
    (PermissionError(13, "Permission denied"), FATAL),
    (FileNotFoundError(2, "No such file or directory", "/data/in.pdf"), LOGICAL),
    (FileNotFoundError(2, "No such file or directory", "pdftotext"), FATAL),
    (MemoryError(), INFRASTRUCTURE),
    (OSError(errno.ENOSPC, "No space left on device"), INFRASTRUCTURE),
    (ConnectionResetError(), TRANSIENT),
    (ConnectionRefusedError(111, "Connection refused"), INFRASTRUCTURE),
    (TimeoutError(), TRANSIENT),
    (error_class("OperationalError", "django.db.utils")("odd"), INFRASTRUCTURE),
    (error_class("IntegrityError", "django.db.utils")("odd"), LOGICAL),
    (error_class("ProgrammingError", "django.db.utils")("odd"), FATAL),
    (Exception(""), TRANSIENT),
    (Exception("ジョブが失敗しました"), TRANSIENT),
]
STATUSES = {
    400: LOGICAL, 401: LOGICAL, 402: FATAL, 403: LOGICAL, 404: LOGICAL, 407: FATAL, 408: TRANSIENT, 409: LOGICAL,
    413: LOGICAL, 422: LOGICAL, 425: TRANSIENT, 429: TRANSIENT, 500: TRANSIENT, 501: TRANSIENT, 502: TRANSIENT,
    503: TRANSIENT, 504: TRANSIENT,
}  # fmt: skip


@pytest.mark.parametrize(("error", "failure_type"), TABLE, ids=lambda value: repr(value)[:60])
def test_the_table_of_exceptions(error: Exception, failure_type: FailureType) -> None:
    assert classify(sign_of(error)).failure_type == failure_type


@pytest.mark.parametrize(("status", "failure_type"), STATUSES.items())
@pytest.mark.parametrize("name", ["status", "status_code", "code"])
def test_the_table_of_statuses(status: int, failure_type: FailureType, name: str) -> None:
    assert classify(sign_of(error_class("HTTPError", **{name: status})("odd"))).failure_type == failure_type


def test_a_jobs_config_is_its_input_and_no_configuration_of_ours() -> None:
    assert classify(sign_of(InvalidInput("config", "url is missing"))).failure_type == LOGICAL
    bad_config = error_class("BadConfig")("invalid input: config must be a JSON object, not list")
    assert classify(sign_of(bad_config)).failure_type == LOGICAL


def test_the_cause_decides_where_the_error_itself_says_nothing() -> None:
    try:
        try:
            raise ConnectionResetError(104, "Connection reset by peer")
        except ConnectionResetError as cause:
            raise RuntimeError("crawl failed") from cause
    except RuntimeError as error:
        sign = sign_of(error)
    assert sign.message == "crawl failed\n[Errno 104] Connection reset by peer"
    assert sign.codes == ("ECONNRESET",)
    assert classify(sign).failure_type == TRANSIENT


def test_status_and_wait_of_a_response_are_found() -> None:
    sign = sign_of(error_class("HTTPStatusError", response=Response())("odd"))
    assert sign.statuses == (503,)
    assert sign.attributes["retry-after"] == "3600"


def test_code_and_status_of_an_answer_given_as_a_mapping_are_found() -> None:
    answer = {"Error": {"Code": "NoSuchBucket"}, "ResponseMetadata": {"HTTPStatusCode": 404}}
    sign = sign_of(error_class("ClientError", response=answer)("odd"))
    assert (sign.statuses, sign.codes) == ((404,), ("NoSuchBucket",))
    assert classify(sign).failure_type == FATAL


def test_members_of_a_group_count() -> None:
    assert classify(sign_of(ExceptionGroup("several", [ValueError("x"), MemoryError()]))).failure_type == INFRASTRUCTURE


def test_an_error_that_refuses_to_be_read_is_still_classified() -> None:
    sign = sign_of(Hostile())
    assert sign.message == "" and sign.statuses == ()
    assert classify(sign).failure_type in FailureType


def test_a_circle_of_causes_ends() -> None:
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    assert sign_of(first).message == "a\nb"


def test_a_message_of_megabytes_is_bounded() -> None:
    assert len(sign_of(Exception("x" * 20_000_000)).message) < 20_000


def test_builtin_classes_are_named_without_their_module() -> None:
    assert exception_class(KeyError()) == "KeyError"
    assert exception_class(error_class("ApiError", "shop.client")()) == "shop.client.ApiError"
