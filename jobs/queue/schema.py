"""The database's own functions: kept in files, installed by every `migrate`, so that they are those of the code."""

from pathlib import Path
from typing import Any

from django.db import transaction

FUNCTIONS = Path(__file__).parent / "sql" / "functions"


def install_functions(connection: Any) -> None:
    """Creates or replaces every function, on a Django connection of the tables' owner.

    Functions that keep a search path of their own keep the tables' schema and nothing else: neither the caller's path
    nor his temporary tables can divert what they write.
    """
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true)")
        for path in sorted(FUNCTIONS.glob("*.sql")):
            cursor.execute(path.read_text())
