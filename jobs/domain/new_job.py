"""What a caller says of a job that it wants done."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class NewJob:
    """One of many jobs to enqueue; the fields mean what they mean for a single one."""

    type: str
    tenant_id: str
    project_id: str | None = None
    config: dict[str, Any] | None = None
    name: str = ""
    priority: int = 0
    submitted_by: str | None = None
    unique_key: str | None = None
    delay_seconds: float | None = None

    def full_config(self) -> dict[str, Any]:
        """`config` with what Node handlers read there; the arguments win."""
        full = dict(self.config or {}) | {"tenantId": self.tenant_id}
        full |= {"projectId": self.project_id} if self.project_id else {}
        return full | ({"submittedBy": self.submitted_by} if self.submitted_by else {})
