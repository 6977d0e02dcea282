"""The demo's files, uploaded as anybody would; the worker analyses them as it would anybody's."""

from pathlib import Path

from jobs.operations import artifacts
from jobs.operations.actions import Person

_FILES = Path(__file__).parent / "files"
# (who, tenant, project, file)
_UPLOADS = (
    ("operator", "harbor-bank", "handbook", "sign-in.feature"),
    ("operator", "lumen-health", "guide", "appointments-requirements.md"),
    ("support", "pinecrest-retail", "shop", "regression-cases.csv"),
    ("support", "pinecrest-retail", "shop", "staging.env"),
    ("operator", "quarry-logistics", "tracking", "tracking-api.yaml"),
    ("operator", "quarry-logistics", "tracking", "nightly-results.xml"),
)


def upload_all() -> None:
    """Outside of any transaction, as uploads are."""
    for by, tenant, project, name in _UPLOADS:
        with (_FILES / name).open("rb") as content:
            artifacts.upload(Person(by), tenant_id=tenant, project_id=project, name=name, content=content)
