"""Artifacts, newest id first, and what is known of them. Every read is bounded."""

import json
from dataclasses import dataclass, replace
from typing import Any, Self
from urllib.parse import urlencode

from jobs.console import scope
from jobs.console.paging import Cursor, Page, storable
from jobs.console.queries.db import fetch, fetch_one
from jobs.rows import Row

PAGE = 50
STATES = {"PENDING": "Waiting", "READY": "Ready", "ERROR": "Failed"}
FIELDS = {"tenant": '"tenantId"', "project": '"projectId"', "type": '"docType"', "name": "name"}
# Rows of other programs may hold anything: cut here, and whatever their keywords are, they are JSON on the way out.
_COLUMNS = """a.id, left(a."tenantId", 300) AS tenant_id, a."tenantId" AS whole_tenant,
    left(a."projectId", 300) AS project_id, a."projectId" AS whole_project,
    left(a.name, 400) AS name, left(a."docType", 60) AS doc_type, left(a.status::text, 40) AS status,
    left(a.summary, 2000) AS summary, to_jsonb(a.keywords) AS keywords, a."storageKey" IS NOT NULL AS has_file,
    f.size_bytes, f.sha256, left(f.uploaded_by, 300) AS uploaded_by, f.uploaded_at, left(f.kind, 100) AS kind,
    left(f.described_by, 200) AS described_by, left(f.note, 500) AS note, f.analysed_at, f.job_id"""


@dataclass(frozen=True)
class ArtifactFilter:
    """Which artifacts: a status, whose they are, their type, a text in the name."""

    status: str = ""
    tenant: str = ""
    project: str = ""
    type: str = ""
    name: str = ""

    @classmethod
    def parse(cls, query: Any) -> Self:
        """From an address; what cannot be used is left out."""
        texts = {name: query.get(name, "").strip()[:300] for name in (*FIELDS, "status")}
        return cls(**{name: text for name, text in texts.items() if storable(text)})

    @property
    def texts(self) -> dict[str, str]:
        """What it is narrowed to, the status left out."""
        return {name: value for name in FIELDS if (value := getattr(self, name))}

    def url(self, path: str = "/artifacts/", **more: str) -> str:
        """Its address."""
        words = ({"status": self.status} if self.status else {}) | self.texts | more
        return path + ("?" + urlencode(words) if words else "")

    def but(self, **changes: str) -> "ArtifactFilter":
        """The same with something else."""
        return replace(self, **changes)

    def where(self) -> tuple[str, Row]:
        """Its condition and parameters."""
        parts, params = [scope.only('a."tenantId"')], dict[str, Any](scope.params())
        if self.status:
            parts.append("a.status::text = %(status)s")
            params["status"] = self.status
        for name, value in self.texts.items():
            column = f"a.{FIELDS[name]}"
            parts.append(
                f"strpos(lower({column}), lower(%({name})s)) > 0" if name == "name" else f"{column} = %({name})s"
            )
            params[name] = value
        return " AND ".join(parts), params


def page(filter_: ArtifactFilter, after: str, before: str) -> Page:
    """Artifacts under a filter, the newest id first; after or before an id."""
    clause, params = filter_.where()
    if cursor := before or after:
        clause += f" AND a.id {'>' if before else '<'} %(at_id)s"
        params["at_id"] = cursor
    rows = fetch(
        f"""SELECT {_COLUMNS} FROM "ProjectArtifact" a LEFT JOIN artifact_file f ON f.artifact_id = a.id
             WHERE {clause} ORDER BY a.id {"" if before else "DESC"} LIMIT {PAGE + 1}""",  # noqa: S608
        params,
    )
    more, shown = len(rows) > PAGE, [_read(row, "keywords") for row in rows[:PAGE]]
    if before:
        shown.reverse()
    newer, older = (more or not shown, True) if before else (bool(after), more)
    return Page(shown, not newer, Cursor("", shown[0]["id"]) if newer and shown else None,
                Cursor("", shown[-1]["id"]) if older and shown else None)  # fmt: skip


def _read(row: Row, *names: str) -> Row:
    """JSON comes as text."""
    return row | {name: json.loads(row[name]) if isinstance(row[name], str) else row[name] for name in names}


def find(artifact_id: str) -> Row | None:
    """One artifact of the tenants that may be seen."""
    row = fetch_one(
        f"""SELECT {_COLUMNS} FROM "ProjectArtifact" a LEFT JOIN artifact_file f ON f.artifact_id = a.id
             WHERE a.id = %(id)s AND {scope.only('a."tenantId"')}""",  # noqa: S608
        {"id": artifact_id} | scope.params(),
    )
    return None if row is None else _read(row, "keywords")


def knowledge(tenant_id: str, project_id: str | None) -> Row | None:
    """What a project's artifacts say together, as of their last analysis."""
    row = fetch_one(
        f"""SELECT artifacts, ready, failed, types, keywords, refreshed_at FROM project_knowledge
             WHERE tenant_id = %(tenant)s AND project_id = %(project)s AND {scope.only("tenant_id")}""",  # noqa: S608
        {"tenant": tenant_id, "project": project_id or ""} | scope.params(),
    )
    return None if row is None else _read(row, "types", "keywords")


def jobs(ids: list[str]) -> dict[str, Row]:
    """The state of these jobs, by id; what is gone or another tenant's is not there."""
    rows = fetch(
        f"""SELECT id, left(type, 200) AS type, status::text AS status, dlq, progress, left("currentStep", 200) AS step
              FROM "PlatformJob" WHERE id = ANY (%(ids)s) AND {scope.only('"tenantId"')}""",  # noqa: S608
        {"ids": ids} | scope.params(),
    )
    return {row["id"]: row for row in rows}
