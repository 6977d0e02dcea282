"""What a form may bring: bytes beyond the limit are thrown away as they arrive, and never stored."""

from tempfile import TemporaryFile
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile, TemporaryFileUploadHandler
from django.http import HttpRequest

from jobs.conf import conf


class SizeLimit(FileUploadHandler):
    """Stands before the handlers that keep a file. The rest of the form is read as usual."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Each file counts for itself."""
        super().new_file(*args, **kwargs)
        self._seen = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """Hands the bytes on; raises `SkipFile` once there are too many."""
        self._seen += len(raw_data)
        if self._seen > conf().artifact_max_bytes:
            if self.request is not None:
                self.request.META["detiq.file_too_large"] = "1"
            raise SkipFile
        return raw_data

    def file_complete(self, file_size: int) -> None:
        """The file is the next handler's."""
        return None


class UnnamedFile(TemporaryFileUploadHandler):
    """Keeps a large file on disk without a name, so that nothing is left of it when this process is killed."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Django's own would make a file with a name here."""
        FileUploadHandler.new_file(self, *args, **kwargs)
        self.file = UploadedFile(  # type: ignore[assignment]
            TemporaryFile(),  # noqa: SIM115 - closed with the request
            self.file_name,
            self.content_type,
            0,
            self.charset,
            self.content_type_extra,
        )

    def upload_interrupted(self) -> None:
        """Nothing to remove."""
        if hasattr(self, "file"):
            self.file.close()


def too_large(request: HttpRequest) -> bool:
    """Was a file of this request thrown away for its size?"""
    return request.META.get("detiq.file_too_large") == "1"
