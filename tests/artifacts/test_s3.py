"""The S3-compatible storage, against a server on loopback that keeps objects in memory."""

import io
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from django.core.files.storage import storages

from detiq_admin.file_store import storage as entry
from jobs.artifacts import storage
from jobs.conf import FileStore

pytest.importorskip("storages.backends.s3", reason="`uv sync --group s3` installs what this needs")


class Handler(BaseHTTPRequestHandler):
    objects: dict[str, bytes] = {}
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(body)), "ETag": '"0"'} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if "aws-chunked" in self.headers.get("Content-Encoding", ""):
            body = b"".join(_unchunked(io.BytesIO(body)))
        self.objects[unquote(urlsplit(self.path).path)] = body
        self.answer(200)

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        if not path.startswith("/files/"):
            return self.answer(404, b"<Error><Code>NoSuchBucket</Code><Message>no</Message></Error>")
        if path not in self.objects:
            return self.answer(404, b"<Error><Code>NoSuchKey</Code><Message>no</Message></Error>")
        return self.answer(200, self.objects[path])

    do_HEAD = do_GET

    def do_DELETE(self) -> None:
        self.objects.pop(unquote(urlsplit(self.path).path), None)
        self.answer(204)


def _unchunked(body: io.BytesIO) -> Iterator[bytes]:
    while size := int(body.readline().split(b";")[0] or b"0", 16):
        yield body.read(size)
        body.readline()


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "y")
    Handler.objects = {}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"

    def use(name: str) -> None:
        made = entry(FileStore("detiq", name, address, "eu-1"), Path("/nowhere"))
        backend = storages.create_storage(made)
        monkeypatch.setattr(storage, "_storage", lambda: backend)

    use("files")
    yield use
    server.shutdown()
    server.server_close()


def test_a_file_goes_to_the_bucket_comes_back_and_goes_away(bucket: Callable[[str], None]) -> None:
    key = storage.key_of("acme", "1")
    assert storage.save("acme", key, io.BytesIO(b"hello"))[0] == 5
    assert Handler.objects == {"/files/detiq/tenants/acme/artifacts/1/content": b"hello"}
    with storage.fetched("acme", key) as file:
        assert file.read() == b"hello"
    storage.delete("acme", key)
    assert Handler.objects == {}
    with pytest.raises(storage.ContentMissing), storage.fetched("acme", key):
        pass


def test_a_bucket_that_is_not_there_is_a_missing_storage(bucket: Callable[[str], None]) -> None:
    bucket("others")
    with (
        pytest.raises((storage.StorageMissing, storage.ContentMissing)),
        storage.fetched("acme", storage.key_of("acme", "1")),
    ):
        pass
