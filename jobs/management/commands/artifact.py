"""`manage.py artifact upload|list|show|reprocess|clean`: uploaded files for a shell."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from jobs.console.queries import artifacts as read
from jobs.console.queries.artifacts import ArtifactFilter
from jobs.domain.errors import InvalidInput
from jobs.management.shell import VerbCommand, person
from jobs.operations import artifacts
from jobs.operations.artifacts import ArtifactNotFound

MOST_LISTED = read.PAGE


class Command(VerbCommand):
    help = "Uploads files to be analysed, and shows what is known of them."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="upload|list|show|reprocess|clean")
        upload = verbs.add_parser("upload", help="Stores a file, queues its analysis, prints the artifact's id.")
        upload.add_argument("file", help="The file.")
        upload.add_argument("--tenant", required=True, help="Whose it is.")
        upload.add_argument("--project", help="The project it belongs to.")
        upload.add_argument("--name", help="Its name for people (default: the file's).")
        upload.add_argument("--reason", default="", help="Why; kept in the audit trail.")
        listed = verbs.add_parser("list", help=f"The newest, {MOST_LISTED} at most.")
        for name in ("tenant", "project", "type", "status", "name"):
            listed.add_argument(f"--{name}", default="", help=f"Only those of this {name}.")
        shown = verbs.add_parser("show", help="One of them.")
        shown.add_argument("id", help="Its id.")
        again = verbs.add_parser("reprocess", help="Has its file analysed again.")
        again.add_argument("id", help="Its id.")
        again.add_argument("--reason", required=True, help="Why; kept in the audit trail.")
        clean = verbs.add_parser("clean", help="Removes files of cut-off uploads and of gone artifacts.")
        for verb in (upload, listed, shown, again, clean):
            verb.add_argument("--json", action="store_true", help="For scripts.")

    def _upload(self, options: dict[str, Any]) -> tuple[Any, str]:
        path = Path(options["file"])
        try:
            content = path.open("rb")
        except OSError as error:
            raise InvalidInput("file", f"it cannot be read: {error.strerror}") from error
        with content:
            made = artifacts.upload(
                person(), tenant_id=options["tenant"], project_id=options["project"] or None,
                name=options["name"] or path.name, content=content, reason=options["reason"],
            )  # fmt: skip
        return {"id": made}, made

    def _list(self, options: dict[str, Any]) -> tuple[Any, str]:
        names = ("tenant", "project", "type", "status", "name")
        rows = read.page(ArtifactFilter.parse({name: options[name] for name in names}), "", "").rows
        lines = [
            f"{row['id']}  {row['status']:<8} {row['doc_type'] or '–':<18} {row['tenant_id']}  {row['name']}"
            for row in rows
        ]
        return [_fit(row) for row in rows], "\n".join(lines) or "no artifacts"

    def _show(self, options: dict[str, Any]) -> tuple[Any, str]:
        row = read.find(options["id"])
        if row is None:
            raise ArtifactNotFound(options["id"])
        shown = _fit(row)
        return shown, "\n".join(
            f"{name}: {', '.join(value) if isinstance(value, list) else value}" for name, value in shown.items()
        )

    def _reprocess(self, options: dict[str, Any]) -> tuple[Any, str]:
        artifacts.reprocess(person(), options["id"], options["reason"])
        return {"id": options["id"], "queued": True}, "queued"

    def _clean(self, options: dict[str, Any]) -> tuple[Any, str]:
        removed = 0
        while some := artifacts.clean():
            removed += some
        return {"removed": removed}, f"removed: {removed}"


def _fit(row: dict[str, Any]) -> dict[str, Any]:
    """A row under the columns' own names."""
    names = {
        "id": "id", "tenantId": "tenant_id", "projectId": "project_id", "name": "name", "docType": "doc_type",
        "status": "status", "summary": "summary", "keywords": "keywords", "kind": "kind", "bytes": "size_bytes",
        "uploadedAt": "uploaded_at", "uploadedBy": "uploaded_by", "analysedAt": "analysed_at", "jobId": "job_id",
        "note": "note",
    }  # fmt: skip
    return {shown: row[name] for shown, name in names.items()}
