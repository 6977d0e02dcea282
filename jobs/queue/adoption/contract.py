"""What the shared tables must have, as data: the columns of the first migration, and which shapes of them will do."""

from dataclasses import dataclass
from enum import Enum

from jobs.domain.failures import FailureType
from jobs.domain.states import JobStatus


class Kind(Enum):
    """What a column holds: the type it gets where it is missing, and the types that will do where it is there.

    Times without zone are taken as UTC. A WORD may be an enum, too, that has or gets our words; a NUMBER is only shown.
    """

    TEXT = ("text", "character varying")
    WORD = ("text", "character varying", "")
    TIME = ("timestamp with time zone", "timestamp without time zone")
    JSON = ("jsonb",)
    WHOLE = ("integer",)
    NUMBER = ("integer", "bigint", "smallint", "double precision", "real", "numeric")
    FLAG = ("boolean",)

    @property
    def made(self) -> str:
        """The type of our own making."""
        made: str = self.value[0]
        return made


NOW = "now"


@dataclass(frozen=True)
class Column:
    """`default`: SQL, or NOW. `filled`: never NULL with us. `emptied`: we write NULL into it. An enum must have `words`."""

    name: str
    kind: Kind
    default: str | None = None
    filled: bool = False
    emptied: bool = False
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """`essential`: without a usable one nothing works. `key`: what must be unique."""

    name: str
    key: str
    columns: tuple[Column, ...]
    essential: bool = False
    # The column whose type the table's missing times get, so that all of them are alike.
    clock: str = ""


def _filled(name: str, kind: Kind, default: str | None = None, words: tuple[str, ...] = ()) -> Column:
    return Column(name, kind, default, filled=True, words=words)


def _open(name: str, kind: Kind, words: tuple[str, ...] = ()) -> Column:
    return Column(name, kind, emptied=True, words=words)


JOBS = Table(
    "PlatformJob",
    "id",
    essential=True,
    clock="queuedAt",
    columns=(
        _filled("id", Kind.TEXT),
        _filled("tenantId", Kind.TEXT),
        Column("projectId", Kind.TEXT),
        _filled("type", Kind.TEXT),
        _filled("name", Kind.TEXT, "''"),
        _filled("status", Kind.WORD, "'QUEUED'", tuple(JobStatus)),
        _filled("priority", Kind.WHOLE, "0"),
        _filled("config", Kind.JSON, "'{}'"),
        _open("result", Kind.JSON),
        _open("error", Kind.TEXT),
        _filled("progress", Kind.NUMBER, "0"),
        _open("currentStep", Kind.TEXT),
        _filled("queuedAt", Kind.TIME, NOW),
        Column("requeuedAt", Kind.TIME),
        _open("startedAt", Kind.TIME),
        _open("finishedAt", Kind.TIME),
        _open("heartbeatAt", Kind.TIME),
        _open("workerId", Kind.TEXT),
        _filled("retryCount", Kind.WHOLE, "0"),
        _open("nextRetryAt", Kind.TIME),
        _open("failureType", Kind.WORD, tuple(FailureType)),
        _filled("dlq", Kind.FLAG, "false"),
        _open("dlqAt", Kind.TIME),
        _open("dlqReason", Kind.TEXT),
        _filled("inline", Kind.FLAG, "false"),
        Column("submittedBy", Kind.TEXT),
        _open("checkpoint", Kind.JSON),
        _open("checkpointAt", Kind.TIME),
        # Ours.
        _open("uniqueKey", Kind.TEXT),
        _open("fingerprint", Kind.TEXT),
        _open("originId", Kind.TEXT),
        _filled("redriveCount", Kind.WHOLE, "0"),
        _filled("lostCount", Kind.WHOLE, "0"),
        Column("progressAt", Kind.TIME),
        _open("checkpointVersion", Kind.TEXT),
    ),
)

CONFIG = Table(
    "SystemConfig",
    "key",
    essential=True,
    columns=(_filled("key", Kind.TEXT), _filled("value", Kind.TEXT), _filled("updatedAt", Kind.TIME, NOW)),
)

LEDGER = Table(
    "document_lifecycle_events",
    "id",
    clock="created_at",
    columns=(
        _filled("id", Kind.TEXT, "gen_random_uuid()::text"),
        _filled("company_id", Kind.TEXT),
        _filled("document_id", Kind.TEXT),
        _filled("hook_type", Kind.TEXT),
        _filled("status", Kind.TEXT, "'pending'"),
        _filled("attempts", Kind.WHOLE, "0"),
        _open("last_error", Kind.TEXT),
        _filled("payload_json", Kind.TEXT, "'{}'"),
        _filled("created_at", Kind.TIME, NOW),
        _filled("updated_at", Kind.TIME, NOW),
        _open("completed_at", Kind.TIME),
        # Ours.
        Column("next_attempt_at", Kind.TIME),
        Column("claim_token", Kind.TEXT),
        Column("ran_with", Kind.TEXT),
    ),
)

ARTIFACTS = Table(
    "ProjectArtifact",
    "id",
    columns=(
        _filled("id", Kind.TEXT),
        _filled("tenantId", Kind.TEXT),
        Column("projectId", Kind.TEXT),
        _filled("name", Kind.TEXT, "''"),
        Column("storageKey", Kind.TEXT),
        Column("docType", Kind.TEXT),
        _filled("status", Kind.TEXT, "'PENDING'"),
        Column("summary", Kind.TEXT),
        _filled("keywords", Kind.JSON, "'[]'"),
    ),
)

MEMBERS = Table(
    "Membership",
    "id",
    columns=(
        _filled("id", Kind.TEXT, "gen_random_uuid()::text"),
        _filled("tenantId", Kind.TEXT),
        _filled("userId", Kind.TEXT),
        _filled("role", Kind.TEXT),
    ),
)

NOTIFICATIONS = Table(
    "Notification",
    "id",
    columns=(
        _filled("id", Kind.TEXT, "'notif_' || gen_random_uuid()::text"),
        _filled("tenantId", Kind.TEXT),
        _filled("userId", Kind.TEXT),
        _filled("type", Kind.TEXT),
        _filled("title", Kind.TEXT),
        _filled("body", Kind.TEXT, "''"),
        Column("metadata", Kind.JSON),
        # Ours.
        _filled("read", Kind.FLAG, "false"),
        _filled("createdAt", Kind.TIME, NOW),
    ),
)

TABLES = (JOBS, CONFIG, LEDGER, ARTIFACTS, MEMBERS, NOTIFICATIONS)
