"""What a caller says of a job that it wants done."""

from dataclasses import dataclass
from typing import Any

from jobs.domain.errors import InvalidInput
from jobs.domain.text import NUL_OR_SURROGATE

# What a new job may be called, who it may be for. The claim's index holds the priority negated.
LONGEST_NAME = 300
MOST_PRIORITY = 2**31 - 1
LONGEST_DELAY_SECONDS = 10 * 366 * 86_400


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

    def check(self) -> None:
        """Raises `InvalidInput`, naming the field, for what cannot be stored."""
        _required("type", self.type)
        _required("tenantId", self.tenant_id)
        texts = {"type": self.type, "tenantId": self.tenant_id, "projectId": self.project_id, "name": self.name,
                 "submittedBy": self.submitted_by, "uniqueKey": self.unique_key}  # fmt: skip
        for field, text in texts.items():
            if text is not None and NUL_OR_SURROGATE.search(text):
                raise InvalidInput(field, "it holds a character that cannot be stored (NUL or half of a pair)")
            if text is not None and len(text) > LONGEST_NAME and field != "name":  # more does not fit into an index
                raise InvalidInput(field, f"it is longer than {LONGEST_NAME} characters")
        if not -MOST_PRIORITY <= self.priority <= MOST_PRIORITY:
            raise InvalidInput("priority", f"it must lie between {-MOST_PRIORITY} and {MOST_PRIORITY}")
        if self.delay_seconds is not None and not 0 <= self.delay_seconds <= LONGEST_DELAY_SECONDS:
            raise InvalidInput("delay", f"it must lie between 0 and {LONGEST_DELAY_SECONDS} seconds")


def _required(field: str, value: str) -> None:
    if not value.strip():
        raise InvalidInput(field, "it is empty")
