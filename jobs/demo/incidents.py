"""What the demo's people do, so that alerts and notifications have something to say: who belongs to which tenant, and a
pause that is about to end. Done as the console does it; what fails by itself is told to them minutes later."""

from jobs.operations import actions, alerts
from jobs.operations.actions import Person

_MEMBERS = (
    ("harbor-bank", "admin", "OWNER"),
    ("lumen-health", "admin", "OWNER"),
    ("lumen-health", "support", "ADMIN"),
    ("pinecrest-retail", "support", "OWNER"),
    ("quarry-logistics", "admin", "OWNER"),
    ("quarry-logistics", "operator", "ADMIN"),
)
PAUSE_SECONDS = 540.0  # within the time in which an alert says that a pause is about to end


def happen() -> None:
    """In the caller's transaction, after the users were made."""
    admin, operator = Person("admin"), Person("operator")
    for tenant, user, role in _MEMBERS:
        alerts.add_membership(admin, tenant, user, role, "looks after this tenant")
    actions.pause(
        operator,
        reason="Baseline images are being replaced",
        type="VISUAL_REGRESSION",
        tenant_id="lumen-health",
        ends_in_seconds=PAUSE_SECONDS,
    )
