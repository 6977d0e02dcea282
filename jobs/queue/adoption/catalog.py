"""What a table is like now, from PostgreSQL's catalog."""

from dataclasses import dataclass, field
from typing import Any

from jobs.rows import Row, as_dicts


@dataclass(frozen=True)
class Found:
    """One column as it is. `type` is the type's bare name, `full` with its length or precision; `collation` is one of its
    own, if it has not the database's."""

    name: str
    type: str
    full: str
    length: int | None
    collation: str | None
    is_enum: bool
    owns_enum: bool
    labels: tuple[str, ...]
    castable: bool
    not_null: bool
    default: str | None
    generated: bool


@dataclass(frozen=True)
class Existing:
    """A table as it is."""

    oid: int
    kind: str
    owner: str
    owned: bool
    bytes: int
    row_security: bool
    options: tuple[str, ...]
    columns: dict[str, Found]
    unique: frozenset[tuple[str, ...]]
    references: list[Row] = field(default_factory=list)
    checks: list[Row] = field(default_factory=list)


_TABLE = """
SELECT c.oid::bigint AS oid, c.relkind::text AS kind, c.relowner::regrole::text AS owner,
       pg_has_role(c.relowner, 'USAGE') AS owned, pg_table_size(c.oid) AS bytes, c.relrowsecurity AS row_security,
       coalesce(c.reloptions, '{}') AS options
  FROM pg_class c
 WHERE c.oid = to_regclass(quote_ident(%s)) AND c.relkind NOT IN ('i', 'I')
"""
_COLUMNS = """
SELECT a.attname AS name, format_type(a.atttypid, NULL) AS type, format_type(a.atttypid, a.atttypmod) AS "full",
       CASE WHEN t.typname IN ('varchar', 'bpchar') AND a.atttypmod > 4 THEN a.atttypmod - 4 END AS length,
       CASE WHEN a.attcollation NOT IN (0, t.typcollation) THEN a.attcollation::regcollation::text END AS collation,
       t.typtype = 'e' AS is_enum, pg_has_role(t.typowner, 'USAGE') AS owns_enum,
       ARRAY(SELECT e.enumlabel::text FROM pg_enum e WHERE e.enumtypid = t.oid ORDER BY e.enumsortorder) AS labels,
       EXISTS (SELECT 1 FROM pg_cast k WHERE k.castsource = 'text'::regtype AND k.casttarget = t.oid
                  AND k.castcontext IN ('a', 'i')) AS castable,
       a.attnotnull AS not_null, pg_get_expr(d.adbin, d.adrelid) AS "default",
       a.attgenerated <> '' OR a.attidentity = 'a' AS generated
  FROM pg_attribute a
  JOIN pg_type t ON t.oid = a.atttypid
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
 WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped
 ORDER BY a.attnum
"""
_UNIQUE = """
SELECT ARRAY(SELECT a.attname::text FROM unnest(i.indkey) WITH ORDINALITY AS k (attnum, place)
               JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
              WHERE k.place <= i.indnkeyatts ORDER BY a.attname) AS columns
  FROM pg_index i
 WHERE i.indrelid = %s AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
"""
_REFERENCES = """
SELECT conrelid::regclass::text AS "table", confdeltype = 'c' AS cascades FROM pg_constraint
 WHERE confrelid = %s AND contype = 'f' AND conparentid = 0 ORDER BY 1
"""
_CHECKS = """
SELECT conname AS name, pg_get_constraintdef(oid) AS text FROM pg_constraint WHERE conrelid = %s AND contype = 'c' ORDER BY 1
"""


def look(cursor: Any, table: str) -> Existing | None:
    """The table of this name that the search path finds; None when there is none."""
    found = next(iter(rows(cursor, _TABLE, [table])), None)
    if found is None:
        return None
    oid = found["oid"]
    columns = {row["name"]: Found(**row | {"labels": tuple(row["labels"])}) for row in rows(cursor, _COLUMNS, [oid])}
    return Existing(
        **found | {"options": tuple(found["options"])},
        columns=columns,
        unique=frozenset(tuple(row["columns"]) for row in rows(cursor, _UNIQUE, [oid])),
        references=rows(cursor, _REFERENCES, [oid]),
        checks=rows(cursor, _CHECKS, [oid]),
    )


def rows(cursor: Any, sql: str, params: list[Any] | None = None) -> list[Row]:
    """The rows as dicts."""
    cursor.execute(sql, params)
    return as_dicts(cursor)
