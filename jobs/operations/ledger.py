"""What people do to events of the ledger: retry and purge, one or many under a filter, audited."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from jobs import audit
from jobs.conf import conf
from jobs.domain.errors import InvalidInput, JobsError
from jobs.domain.masking import mask_text
from jobs.ledger import outbox
from jobs.ledger.outbox import Moved
from jobs.operations.actions import Person, audited, required

# What one action moves at most: it is one transaction, and its locks are short.
MOST_AT_ONCE = 1_000
STATES = ("failed", "exhausted", "stuck")


class EventNotFound(JobsError):
    """There is no such event."""

    def __init__(self, event_id: str) -> None:
        super().__init__(f"there is no event {event_id[:200]}")


class EventRefused(JobsError):
    """The event is neither failed nor exhausted; nothing was changed."""

    def __init__(self, event_id: str, found: str, verb: str) -> None:
        super().__init__(f"event {event_id[:200]} is {found}; only a failed or exhausted one can be {verb}")


@dataclass(frozen=True)
class Chosen:
    """Which stuck events: a state (failed, exhausted, or stuck for both), and what they are of."""

    state: str = "stuck"
    company_id: str | None = None
    document_id: str | None = None
    hook_type: str | None = None

    def as_json(self) -> dict[str, str]:
        """What is set, for the audit trail."""
        return {name: value for name, value in vars(self).items() if value}


def retry(person: Person, event_id: str, reason: str) -> None:
    """One failed or exhausted event waits again. Raises `EventNotFound`, `EventRefused`, `InvalidInput`."""
    _one(person, "ledger_retry", "retried", event_id, reason, outbox.retry)


def purge(person: Person, event_id: str, reason: str) -> None:
    """One failed or exhausted event goes for good; the audit trail keeps what it was."""
    _one(person, "ledger_purge", "purged", event_id, reason, outbox.purge)


def retry_chosen(
    person: Person, chosen: Chosen, reason: str, *, limit: int = MOST_AT_ONCE, seen: datetime | None = None
) -> int:
    """Events under a filter wait again: those that have not changed since `seen`, `limit` at most. Returns how many."""
    return _chosen(person, "ledger_retry", chosen, reason, limit, seen, outbox.retry)


def purge_chosen(
    person: Person, chosen: Chosen, reason: str, *, limit: int = MOST_AT_ONCE, seen: datetime | None = None
) -> int:
    """The same for going for good. Returns how many went."""
    return _chosen(person, "ledger_purge", chosen, reason, limit, seen, outbox.purge)


type _Move = Callable[[Sequence[str], int], list[Moved]]


def _one(person: Person, action: str, verb: str, event_id: str, reason: str, move: _Move) -> None:
    required(reason)
    with transaction.atomic():
        answer = move([event_id], conf().ledger_max_attempts)[0]
        if answer.found is None:
            raise EventNotFound(event_id)
        if not answer.changed:
            raise EventRefused(event_id, answer.found, verb)
        company = answer.row["company_id"]
        audited(person, action, f"event {event_id}", reason, tenant_id=company, before=_kept(answer))


def _chosen(
    person: Person, action: str, chosen: Chosen, reason: str, limit: int, seen: datetime | None, move: _Move
) -> int:
    required(reason)
    if chosen.state not in STATES:
        raise InvalidInput("state", f"it must be one of {', '.join(STATES)}")
    if not 1 <= limit <= MOST_AT_ONCE:
        raise InvalidInput("limit", f"it must lie between 1 and {MOST_AT_ONCE}")
    most = conf().ledger_max_attempts
    with transaction.atomic():
        ids = outbox.stuck_ids(
            chosen.state, most, limit, company_id=chosen.company_id, document_id=chosen.document_id,
            hook_type=chosen.hook_type, seen=seen,
        )  # fmt: skip
        done = [answer for answer in move(ids, most) if answer.changed]
        if done:
            audited(
                person, action, f"{len(done)} events", reason, tenant_id=chosen.company_id,
                numbers={"done": len(done)}, filter=chosen.as_json(),
                before={answer.event_id: _kept(answer) for answer in done[: audit.MOST_IDS]},
            )  # fmt: skip
    return len(done)


def _kept(answer: Moved) -> dict[str, Any]:
    """What the audit trail keeps of an event, for ever: without the secrets that its texts may hold."""
    kept = {name: value for name, value in answer.row.items() if name not in ("id", "changed")}
    keys = conf().masked_keys
    for name in kept.keys() & {"last_error", "payload_json"}:
        kept[name] = kept[name] and mask_text(kept[name], keys)
    return kept
