"""The demo: users, jobs, files and a marker, made once in a database that never had a job."""

from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

from jobs.demo import incidents
from jobs.demo.submissions import submit_all
from jobs.demo.uploads import upload_all
from jobs.demo.users import make_users
from jobs.models import Job, SystemConfig

MARKER = "demo.site_port"


@dataclass(frozen=True)
class Found:
    """What a database looked like before this start."""

    fresh: bool  # it never had a job
    site_port: int | None  # where the demo's site was served; None without demo data

    @property
    def demo(self) -> bool:
        return self.site_port is not None


def look() -> Found:
    """Looks at the database as it is, migrated or not."""
    tables = set(connection.introspection.table_names())
    if Job._meta.db_table not in tables:
        return Found(fresh=True, site_port=None)
    marker = _marker() if SystemConfig._meta.db_table in tables else None
    return Found(fresh=marker is None and not _ever_had_jobs(tables), site_port=marker)


def make(site: str, site_port: int) -> list[str]:
    """Users, jobs, a pause and the marker, all or nothing; then files. Returns the names of the users made."""
    with transaction.atomic():
        names = make_users()
        SystemConfig.objects.create(key=MARKER, value=str(site_port))
        submit_all(site)
        incidents.happen()
    upload_all()
    return names


def _marker() -> int | None:
    value: Any = SystemConfig.objects.filter(key=MARKER).values_list("value", flat=True).first()
    return int(value) if value is not None and value.isdecimal() else None


def _ever_had_jobs(tables: set[str]) -> bool:
    """Also when all of them are gone by now: their history is not."""
    if Job.objects.exists():
        return True
    if "job_history" not in tables:
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM job_history)")
        return bool(cursor.fetchone()[0])
