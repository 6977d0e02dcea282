"""Everything the overview and the frame show, a module for each question, read at once for all open pages of a process."""

from jobs.console.queries.overview.caps import tenant_caps, type_caps
from jobs.console.queries.overview.detail import Detail, read_detail
from jobs.console.queries.overview.drain import Minute, TypeLine, heads
from jobs.console.queries.overview.failing import GroupLine, Kind
from jobs.console.queries.overview.held import Overdue, PauseLine
from jobs.console.queries.overview.sharing import Shared, acted, forget_all
from jobs.console.queries.overview.snapshot import TOP, Snapshot, read
from jobs.console.queries.overview.tenants import TenantLine

# What every page's frame needs: as fresh as the last change that was announced, and where none is, a second old at most.
shared: Shared[Snapshot] = Shared(lambda: read(), ahead=0.5)  # noqa: PLW0108  (the name is looked up when it is asked)
# Charts and comparisons, which a second more or less does not change.
detail: Shared[Detail] = Shared(read_detail, longest=10.0, shortest=2.0, ahead=3.0, draws=True)


def forget() -> None:
    """What was read no longer serves anybody: after an action of this process, and between tests."""
    forget_all()
    heads.clear()


__all__ = [
    "TOP",
    "Detail",
    "GroupLine",
    "Kind",
    "Minute",
    "Overdue",
    "PauseLine",
    "Shared",
    "Snapshot",
    "TenantLine",
    "TypeLine",
    "acted",
    "detail",
    "forget",
    "read",
    "read_detail",
    "shared",
    "tenant_caps",
    "type_caps",
]
