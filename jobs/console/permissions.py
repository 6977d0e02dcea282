"""Who may do what: one table, asked by views and templates alike. Roles are Django groups; a superuser is an admin.

Every role sees every tenant, unless its user is limited to some: then `jobs.console.scope` says which, and what is left to
do is `LIMITED`, on the pages of `LIMITED_PAGES` alone.
"""

from typing import Any

from jobs.console import rights, scope
from jobs.domain.roles import Role as Role

_ALL = frozenset(Role)
_JOBS = frozenset({Role.OPERATOR, Role.SUPPORT, Role.ADMIN})
_QUEUE = frozenset({Role.OPERATOR, Role.ADMIN})
_ADMIN = frozenset({Role.ADMIN})

TABLE: dict[str, frozenset[Role]] = {
    "read": _ALL,
    "export": _ALL,
    "enqueue": _JOBS,
    "cancel": _JOBS,
    "retry": _JOBS,
    "rerun": _JOBS,
    "run_now": _JOBS,
    "change_group": _JOBS,
    "set_priority": _JOBS,
    "ledger_retry": _JOBS,
    "ledger_purge": _ADMIN,
    "upload_artifact": _JOBS,
    "reprocess_artifact": _JOBS,
    "ledger_repair": _ADMIN,
    "pause": _QUEUE,
    "resume": _QUEUE,
    "pause_long": _ADMIN,
    "cap": _QUEUE,
    "type_cap": _QUEUE,
    "cap_long": _ADMIN,
    "force_cancel": _ADMIN,
    "purge": _ADMIN,
    "restore": _ADMIN,
    "reveal": _ADMIN,
    "export_audit": _ADMIN,
    "bulk_cancel": _QUEUE,
    "bulk_retry": _JOBS,
    "bulk_rerun": _QUEUE,
    "bulk_run_now": _QUEUE,
    "bulk_priority": _QUEUE,
    "bulk_purge": _ADMIN,
    "bulk_restore": _ADMIN,
    # Of an operation whose kind one may begin.
    "pause_operation": _JOBS,
    "resume_operation": _JOBS,
    "stop_operation": _JOBS,
    "people": _ADMIN,
    "create_person": _ADMIN,
    "change_person": _ADMIN,
    "link_person": _ADMIN,
    "end_sessions": _ADMIN,
    "acknowledge": _JOBS,
    "resend_delivery": _QUEUE,
    "alert_rule": _ADMIN,
    "alert_channel": _ADMIN,
    "remove_channel": _ADMIN,
    "test_channel": _ADMIN,
    "set_membership": _ADMIN,
    "set_remote": _ADMIN,
    "rotate_remote": _ADMIN,
    "remove_remote": _ADMIN,
}

# What somebody limited to some tenants may do to their jobs, if the role may. The rest touches all tenants.
LIMITED = frozenset({
    "read", "export", "enqueue", "cancel", "retry", "rerun", "run_now", "acknowledge", "bulk_retry", "pause_operation",
    "resume_operation", "stop_operation", "upload_artifact", "reprocess_artifact",
})  # fmt: skip
# The pages (names of routes) whose every figure is read for those tenants alone. A page that is not named here is not
# offered to them: a new one has to show first that it obeys the scope.
LIMITED_PAGES = frozenset({
    "overview", "jobs", "job", "job_by_id", "raw", "why", "export", "save_filter", "forget_filter", "enqueue", "dialog",
    "cancel", "retry", "rerun", "run_now", "failures", "failure_runs", "dlq", "tenants", "ledger", "live", "nav",
    "ledger_document", "pause_line", "alerts", "alert", "acknowledge", "notifications", "read_notifications", "tenant",
    "trash", "bulk", "bulk_retry", "operations", "operation", "operation_dialog", "export_operation", "pause_operation",
    "resume_operation", "stop_operation",
    "artifacts", "artifact", "artifact_new", "artifact_dialog", "upload_artifact", "reprocess_artifact",
})  # fmt: skip

# A pause by anyone but an admin ends within a day.
LONGEST_PAUSE_SECONDS = 24 * 3600


def roles(user: Any) -> frozenset[Role]:
    """The roles of a user."""
    if not getattr(user, "is_authenticated", False) or not user.is_active:
        return frozenset()
    names = rights.of(user).groups
    return frozenset(role for role in Role if role in names or (role is Role.ADMIN and user.is_superuser))


def role(user: Any) -> str:
    """The highest role, in a word; empty for none."""
    held = roles(user)
    return next((str(one) for one in reversed(Role) if one in held), "")


def can(user: Any, action: str, tenant_id: str | None = None) -> bool:
    """May this user do this (to a job of this tenant)? Unknown actions are refused."""
    if not TABLE.get(action, frozenset()) & roles(user):
        return False
    tenants = scope.of(user)
    return tenants is None or (action in LIMITED and (tenant_id is None or tenant_id in tenants))


def offered(user: Any, page: str) -> bool:
    """Is this page (a route's name) one that the user is offered?"""
    return scope.of(user) is None or page in LIMITED_PAGES


def who_may(action: str) -> str:
    """The roles that may, in words: `operator, support or admin`."""
    names = [str(one) for one in Role if one in TABLE.get(action, frozenset())]
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else "nobody"
