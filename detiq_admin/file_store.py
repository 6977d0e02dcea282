"""Django's storage for uploaded files, from the setting."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from jobs.domain.errors import SettingError
from jobs.domain.variables import FileStore

_MOST_IN_ONE_PIECE = 5 * 1024**3


def storage(where: FileStore, var: Path) -> dict[str, Any]:
    """An entry of STORAGES. Raises `SettingError` when what it needs is not installed, or the folder is a file."""
    if where.bucket is None:
        folder = Path(where.path) if where.path else var / "artifacts"
        if folder.exists() and not folder.is_dir():
            raise SettingError(f"ARTIFACT_STORAGE is {folder}, which cannot be used: it is no folder.")
        options = {"location": folder, "file_permissions_mode": 0o600, "directory_permissions_mode": 0o700}
        return {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": options}
    if find_spec("storages") is None or find_spec("boto3") is None:
        raise SettingError(
            f"ARTIFACT_STORAGE is {where}, which needs packages that are not installed; `uv sync --group s3` brings them."
        )
    from boto3.s3.transfer import TransferConfig

    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        # Private objects, addressed as most servers that are not Amazon's want it; credentials are boto3's own affair
        # (AWS_ACCESS_KEY_ID and the like).
        "OPTIONS": {
            "bucket_name": where.bucket,
            "location": where.path,
            "endpoint_url": where.endpoint,
            "region_name": where.region,
            "default_acl": None,
            "file_overwrite": True,  # keys are made once; asking for each first would cost a request
            # In one piece: of an upload that is cut off in parts the server would keep the parts.
            "transfer_config": TransferConfig(multipart_threshold=_MOST_IN_ONE_PIECE),
            "addressing_style": "path" if where.endpoint else "auto",
        },
    }
