"""The database's own functions: kept in files, installed by every `migrate`, so that they are those of the code."""

from pathlib import Path
from typing import Any

FUNCTIONS = Path(__file__).parent / "sql" / "functions"


def install_functions(connection: Any) -> None:
    """Creates or replaces every function, on a Django connection of the tables' owner."""
    with connection.cursor() as cursor:
        for path in sorted(FUNCTIONS.glob("*.sql")):
            cursor.execute(path.read_text())
