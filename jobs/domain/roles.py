"""The console's roles."""

from enum import StrEnum


class Role(StrEnum):
    """Least first."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    SUPPORT = "support"
    ADMIN = "admin"


# Those whose users may be limited to some tenants: the others act on the whole queue.
LIMITABLE = frozenset({Role.VIEWER, Role.SUPPORT})
