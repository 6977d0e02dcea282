"""The writer of the audit trail; the sweep's ends of caps alone are written where they are made, in one statement."""

import re
from typing import Any

from jobs.models import AuditEntry

LONGEST_TEXT = 4_000
MOST_IDS = 200
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def record(
    *,
    actor: str,
    action: str,
    target: str = "",
    tenant_id: str | None = None,
    reason: str = "",
    numbers: dict[str, Any] | None = None,
    before: Any = None,
    after: Any = None,
    filter: dict[str, Any] | None = None,
    address: str | None = None,
    user_agent: str | None = None,
    operation_id: int | None = None,
) -> None:
    """Writes one entry in the caller's transaction: an action that cannot be audited is not done. Texts are cut."""
    AuditEntry.objects.create(
        actor=_text(actor),
        action=action,
        target=_text(target),
        tenant_id=tenant_id and _text(tenant_id),
        reason=_text(reason),
        numbers=numbers,
        before=before,
        after=after,
        filter=filter,
        address=address and _text(address),
        user_agent=user_agent and _text(user_agent),
        operation_id=operation_id,
    )


def _text(value: str) -> str:
    clean = _UNSTORABLE.sub("\ufffd", value)
    return clean if len(clean) <= LONGEST_TEXT else clean[:LONGEST_TEXT] + f"… [cut, {len(clean)} characters]"
