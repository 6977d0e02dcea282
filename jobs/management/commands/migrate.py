"""`manage.py migrate`: Django's, as the owner of the tables, one at a time, and with what Django does not make."""

import time
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.core.management.commands.migrate import Command as DjangoMigrate
from django.db import InternalError, OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from huey import PostgresHuey

from jobs.management.grants import grant
from jobs.management.owner import as_owner, one_at_a_time, owner_settings, serving_role
from jobs.queue.adoption import AdoptionRefused, Report, adopt_whole
from jobs.queue.connections import ONLY_READ, connector, only_reads
from jobs.queue.schema import install_functions

_LOCK_NOT_AVAILABLE = "55P03"
# A statement that waits for a lock makes everybody else wait behind it: give up early, and come back.
_LOCK_TIMEOUT = "5s"
_PAUSES_SECONDS = (1, 2, 4, 8, 15)


class Command(DjangoMigrate):
    """1. Wait for other migrations of this database, refuse an old server. 2. Django's migrations, as the owner; again
    after a lock timeout. 3. Functions, what shared tables lack, the cache's and Huey's tables. 4. Grants
    to the role that serves."""

    help = "Brings the database up to date: tables, functions, and the serving role's rights."

    def execute(self, *args: Any, **options: Any) -> str | None:
        connection = connections[options["database"]]
        with one_at_a_time(connection):
            served_by = serving_role(connection)
            with as_owner(connection, lock_timeout=_LOCK_TIMEOUT):
                for pause in _PAUSES_SECONDS:
                    try:
                        return self._once(connection, served_by, *args, **options)
                    except OperationalError as error:
                        if getattr(error.__cause__, "sqlstate", None) != _LOCK_NOT_AVAILABLE:
                            raise
                    self.stderr.write(f"a table is in use; trying again in {pause} s")
                    connection.close()
                    time.sleep(pause)
                return self._once(connection, served_by, *args, **options)

    def _once(self, connection: BaseDatabaseWrapper, served_by: str, *args: Any, **options: Any) -> str | None:
        try:
            output = super().execute(*args, **options)
            if _brings_up_to_date(options):
                self._tell(_finish(connection, served_by, verbosity=options["verbosity"]), options["verbosity"])
        except AdoptionRefused as error:
            raise CommandError(str(error), returncode=1) from error
        except InternalError as error:
            if not only_reads(error):
                raise
            raise CommandError(ONLY_READ, returncode=1) from error
        return output

    def _tell(self, report: Report, verbosity: int) -> None:
        for line in report.lines if verbosity else []:
            self.stdout.write(line)


def _brings_up_to_date(options: dict[str, Any]) -> bool:
    only_looks = options.get("plan") or options.get("check_unapplied") or options.get("prune")
    return not only_looks and not options.get("migration_name")


def _finish(connection: BaseDatabaseWrapper, served_by: str, verbosity: int) -> Report:
    install_functions(connection)
    report = adopt_whole(connection)
    call_command("createcachetable", database=connection.alias, verbosity=verbosity)
    _make_huey_tables(connection)
    grant(connection, served_by)
    return report


def _make_huey_tables(connection: BaseDatabaseWrapper) -> None:
    huey = PostgresHuey(  # the tables are those of every kind of it
        name=settings.HUEY["name"],
        immediate=False,
        connection=connector(owner_settings(connection)),
        create_tables=False,
    )
    huey.storage.initialize_schema()
    huey.storage.close()
