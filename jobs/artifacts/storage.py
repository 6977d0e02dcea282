"""Where files are kept: Django's storage `artifacts`, each tenant below a prefix of its own.

A key is made of the tenant and the artifact's id, never of a name that somebody typed.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO, cast
from urllib.parse import quote

import structlog
from django.core.files.base import File
from django.core.files.storage import FileSystemStorage, Storage, storages

from jobs.conf import conf
from jobs.domain.errors import InvalidInput, JobsError
from jobs.domain.text import human_size

log = structlog.get_logger("jobs.artifacts")

_CHUNK = 1 << 18
_LONGEST_PART = 120


class StorageMissing(JobsError):
    """The place where a tenant's files are kept is not there: a folder that is not mounted on this machine, a bucket."""

    def __init__(self, tenant_id: str, why: str) -> None:
        super().__init__(f"tenant storage missing: {why} (tenant {tenant_id[:100]})")


class StorageFailed(OSError):
    """The storage answered, but not with what was asked for."""


class ContentMissing(JobsError):
    """The storage is there, and the file is not."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the stored file was not found: {key[:300]}")


class ForeignKey(JobsError):
    """The artifact names a file that is not the tenant's."""

    def __init__(self, key: str, prefix: str) -> None:
        super().__init__(f"invalid input: storageKey {key[:300]!r} does not lie below {prefix}, the tenant's own files")


def tenant_prefix(tenant_id: str) -> str:
    """What the keys of a tenant's files begin with. Two tenants never share one."""
    part = quote(tenant_id, safe="").replace("..", "%2E%2E")
    part = "%2E" if part == "." else part
    if len(part) > _LONGEST_PART:
        part = f"{part[:80]}={hashlib.sha256(tenant_id.encode()).hexdigest()[:40]}"  # `=` is in no quoted name
    return conf().artifact_key_prefix.replace("{tenant}", part)


def key_of(tenant_id: str, artifact_id: str) -> str:
    """The key of a file that is uploaded here; `artifact_id` is one of our own ids."""
    return f"{tenant_prefix(tenant_id)}{artifact_id}/content"


def check_key(tenant_id: str, key: str) -> None:
    """Raises `ForeignKey` unless the key is the tenant's. Other programs write keys, too."""
    prefix = tenant_prefix(tenant_id)
    rest = key.removeprefix(prefix)
    if (
        not key.startswith(prefix)
        or not rest
        or "\\" in key
        or any(part in ("", ".", "..") for part in rest.split("/"))
    ):
        raise ForeignKey(key, prefix)


def _storage() -> Storage:
    return storages["artifacts"]


def save(tenant_id: str, key: str, content: IO[bytes]) -> tuple[int, str]:
    """Stores a file. Returns its size in bytes and its SHA-256, in hex.

    Raises `InvalidInput` for one that is larger than allowed: nothing is kept of it. Raises `StorageFailed`.
    """
    check_key(tenant_id, key)
    counted = _Counted(content, conf().artifact_max_bytes)
    storage = _storage()
    try:
        saved = storage.save(key, File(cast(Any, counted)))
    except InvalidInput:
        raise
    except Exception as error:
        raise StorageFailed(f"the file could not be stored: {_why(error)}") from error
    if saved != key:
        storage.delete(saved)
        raise StorageFailed("the file could not be stored: its key is taken")
    return counted.size, counted.digest.hexdigest()


class _Counted:
    """A file that is read once, counted and hashed on its way, and ends with an error when it is too large."""

    def __init__(self, content: IO[bytes], most: int) -> None:
        self._content, self._most = content, most
        self._start()

    def _start(self) -> None:
        self.size, self.digest = 0, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        chunk = self._content.read(_CHUNK if size is None or size < 0 else size)
        self.size += len(chunk)
        self.digest.update(chunk)
        if self.size > self._most:
            raise InvalidInput("file", f"it is larger than {human_size(self._most)}")
        return chunk

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        while chunk := self.read(chunk_size or _CHUNK):
            yield chunk

    def seek(self, place: int, whence: int = 0) -> int:
        if (place, whence) == (0, 0):
            self._start()
        return self._content.seek(place, whence)

    def tell(self) -> int:
        return self._content.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    @property
    def closed(self) -> bool:
        return False

    def close(self) -> None:
        """Whoever opened the file closes it."""


def delete(tenant_id: str, key: str) -> None:
    """Removes a file; one that is not there is no error. Raises `StorageFailed`."""
    check_key(tenant_id, key)
    try:
        _storage().delete(key)
    except Exception as error:
        raise StorageFailed(f"the file {key[:200]} could not be removed: {_why(error)}") from error


@contextmanager
def fetched(tenant_id: str, key: str, check: Callable[[], None] = lambda: None) -> Iterator[BinaryIO]:
    """The file on this machine's disk, for as long as it is looked at. `check` is called meanwhile and may raise.

    Raises `ForeignKey`, `StorageMissing`, `ContentMissing`, `StorageFailed`, and `InvalidInput` for a file that is larger
    than may be uploaded.
    """
    check_key(tenant_id, key)
    _require(tenant_id)
    most, size = conf().artifact_max_bytes, 0
    with TemporaryFile() as copy:
        try:
            with _storage().open(key, "rb") as stored:
                while chunk := stored.read(_CHUNK):
                    check()
                    size += len(chunk)
                    if size > most:
                        raise InvalidInput("file", f"it is larger than {human_size(most)}")
                    copy.write(chunk)
        except FileNotFoundError as error:
            _require_bucket(tenant_id)
            raise ContentMissing(key) from error
        except (JobsError, StorageFailed):
            raise
        except Exception as error:
            _say_what_is_missing(tenant_id, error)
            raise StorageFailed(f"the stored file could not be read: {_why(error)}") from error
        copy.seek(0)
        yield cast(BinaryIO, copy)


def require() -> None:
    """Raises `StorageFailed` on a machine without the folder: there each file seems to be gone already."""
    storage = _storage()
    if isinstance(storage, FileSystemStorage) and not storage.exists(""):
        raise StorageFailed(
            f"the volume with uploaded files is not mounted on this machine: no folder {storage.location}"
        )


def _require(tenant_id: str) -> None:
    """A worker on another machine without the shared folder must not say that each file is lost."""
    storage = _storage()
    if isinstance(storage, FileSystemStorage):
        folder = storage.path(tenant_prefix(tenant_id))
        if not storage.exists(tenant_prefix(tenant_id)):
            raise StorageMissing(
                tenant_id, f"the volume with its files is not mounted on this machine: no folder {folder}"
            )


def _require_bucket(tenant_id: str) -> None:
    """A server that is asked for a file of a bucket that it does not have says only that there is no such file."""
    bucket = getattr(_storage(), "bucket", None)
    if bucket is None:
        return
    try:
        bucket.meta.client.head_bucket(Bucket=bucket.name)
    except Exception as error:
        _say_what_is_missing(tenant_id, error)
        raise StorageFailed(f"the bucket could not be asked for: {_why(error)}") from error


def _say_what_is_missing(tenant_id: str, error: Exception) -> None:
    code = getattr(error, "response", {}).get("Error", {}).get("Code", "") if hasattr(error, "response") else ""
    if code == "NoSuchBucket" or code == "404" and getattr(error, "operation_name", "") == "HeadBucket":
        raise StorageMissing(tenant_id, f"invalid configuration: no bucket {conf().artifact_storage.bucket}") from error


def _why(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:300]
