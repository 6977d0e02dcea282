"""The S3-compatible storage, against a server of that protocol over HTTP on loopback."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import storages

from detiq_admin.file_store import storage as entry
from jobs.artifacts import records, storage
from jobs.domain.errors import InvalidInput
from jobs.domain.variables import FileStore
from jobs.models import ArtifactFile, ProjectArtifact
from jobs.operations import artifacts
from tests.artifacts.helpers import STORY, analysed, uploaded

pytest.importorskip("storages.backends.s3", reason="`uv sync --group s3 --group s3-server` installs what this needs")
ThreadedMotoServer = pytest.importorskip(
    "moto.server", reason="`uv sync --group s3-server` installs it"
).ThreadedMotoServer

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Its address; with one empty bucket, `files`."""
    import boto3

    made = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    made.start()
    address = "http://{}:{}".format(*made.get_host_and_port())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "x")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "y")
        boto3.client("s3", endpoint_url=address, region_name="us-east-1").create_bucket(Bucket="files")
        yield address
    made.stop()


@pytest.fixture
def bucket(server: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`bucket()`: the storage used from here on; other names and addresses for what is not there."""

    def use(name: str = "files", address: str = server) -> Any:
        backend = storages.create_storage(entry(FileStore("detiq", name, address, "us-east-1"), Path("/nowhere")))
        monkeypatch.setattr(storage, "_storage", lambda: backend)
        return backend

    return use


def keys(backend: Any) -> list[str]:
    return [one.key for one in backend.bucket.objects.all()]


def test_an_upload_is_kept_in_the_bucket_analysed_from_there_and_removed(bucket: Callable[..., Any]) -> None:
    backend = bucket()
    artifact = uploaded()
    assert keys(backend) == [f"detiq/{artifact.storage_key}"]
    assert analysed(artifact)["docType"] == "USER_STORY"
    with storage.fetched("acme", artifact.storage_key) as file:
        assert file.read() == STORY
    storage.delete("acme", artifact.storage_key)
    storage.delete("acme", artifact.storage_key)  # what is gone is no error
    assert keys(backend) == []
    with pytest.raises(storage.ContentMissing):
        analysed(artifact)


def test_a_large_file_goes_there_in_one_piece_and_comes_back_whole(bucket: Callable[..., Any]) -> None:
    backend, content = bucket(), b"A parcel is weighed. " * 1_000_000
    artifact = uploaded(content, "long.txt")
    with storage.fetched("acme", artifact.storage_key) as file:
        assert file.read() == content
    assert "-" not in backend.bucket.Object(f"detiq/{artifact.storage_key}").e_tag  # a dash counts parts
    storage.delete("acme", artifact.storage_key)
    assert keys(backend) == []


def test_a_file_larger_than_allowed_leaves_nothing_in_the_bucket(
    bucket: Callable[..., Any], choose: Callable[..., None]
) -> None:
    backend = bucket()
    choose(artifact_max_mb=1)
    with pytest.raises(InvalidInput, match="larger than 1 MB"):
        uploaded(b"x" * 1_000_001)
    assert keys(backend) == [] and not ProjectArtifact.objects.exists() and not ArtifactFile.objects.exists()


def test_what_a_killed_upload_left_in_the_bucket_is_removed(bucket: Callable[..., Any]) -> None:
    backend, key = bucket(), storage.key_of("acme", "left")
    records.announce("left", "acme", key, "kim")
    storage.save("acme", key, io.BytesIO(b"half"))
    ArtifactFile.objects.update(uploaded_at="2026-01-01T00:00:00Z")
    assert artifacts.clean() == 1 and keys(backend) == []


@pytest.mark.parametrize(
    ("where", "error"),
    [
        ({"name": "others"}, storage.StorageMissing),
        ({"address": "http://127.0.0.1:9"}, storage.StorageFailed),
    ],
    ids=["no such bucket", "no server"],
)
def test_a_storage_that_is_not_there_says_so(
    bucket: Callable[..., Any], where: dict[str, str], error: type[Exception]
) -> None:
    bucket(**where)
    with pytest.raises(error), storage.fetched("acme", storage.key_of("acme", "1")):
        pass
    with pytest.raises(storage.StorageFailed):
        uploaded()
    assert not ProjectArtifact.objects.exists()
