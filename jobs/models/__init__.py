from jobs.models.alert import Alert, AlertChannel, AlertDelivery, AlertRule, TypeHour
from jobs.models.artifact import ArtifactFile, ProjectArtifact, ProjectKnowledge
from jobs.models.audit import AuditEntry
from jobs.models.failure import (
    FailureCause,
    FailureDelta,
    FailureGroup,
    FailureGroupChange,
    FailureGroupTenant,
    FailureTenant,
)
from jobs.models.job import Job, JobHistory, JobLog, JobTrash
from jobs.models.ledger import LedgerJob, LifecycleEvent, Membership, Notification
from jobs.models.operation import Operation, OperationItem
from jobs.models.pause import GateChange, Pause, SystemConfig
from jobs.models.people import TenantLimit
from jobs.models.remote import RemoteNonce, RemoteRun, RemoteType
from jobs.models.rule import FailureRule
from jobs.models.saved_filter import SavedFilter
from jobs.models.settings import TenantSetting, TypeSetting
from jobs.models.tally import TallyDelta, TallyFlow, TallyMinute, TallyState, TallyTenant, TallyTotal, TallyType
from jobs.models.worker import SweepDuty, Worker

__all__ = [
    "ArtifactFile",
    "Alert",
    "AlertChannel",
    "AlertDelivery",
    "AlertRule",
    "AuditEntry",
    "FailureCause",
    "FailureDelta",
    "FailureGroup",
    "FailureGroupChange",
    "FailureGroupTenant",
    "FailureRule",
    "FailureTenant",
    "GateChange",
    "Job",
    "JobHistory",
    "JobLog",
    "JobTrash",
    "LedgerJob",
    "LifecycleEvent",
    "Membership",
    "Notification",
    "Operation",
    "OperationItem",
    "Pause",
    "ProjectArtifact",
    "ProjectKnowledge",
    "RemoteNonce",
    "RemoteRun",
    "RemoteType",
    "SavedFilter",
    "SweepDuty",
    "SystemConfig",
    "TallyDelta",
    "TallyFlow",
    "TallyMinute",
    "TallyState",
    "TallyTenant",
    "TallyTotal",
    "TallyType",
    "TenantLimit",
    "TenantSetting",
    "TypeHour",
    "TypeSetting",
    "Worker",
]
