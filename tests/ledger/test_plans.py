"""A claim's cost does not grow with what waits, whatever the statistics were made of, or if there are none."""

from typing import Any

import pytest
from django.db import connection, transaction

from jobs.ledger.statements import _text, run


@pytest.mark.parametrize("document", [None, "d"])
@pytest.mark.parametrize("analyzed", ["before", "empty", "one", "now"])
@pytest.mark.parametrize("documents", [1, 5_000])
def test_a_claim_reads_little_more_than_it_takes(
    conn: Any, document: str | None, analyzed: str, documents: int
) -> None:
    if analyzed == "one":
        conn.execute(
            "INSERT INTO document_lifecycle_events (company_id, document_id, hook_type) VALUES ('acme', 'd', 'NOTE')"
        )
    if analyzed in {"empty", "one"}:
        conn.execute("VACUUM ANALYZE document_lifecycle_events")
    conn.execute(
        """INSERT INTO document_lifecycle_events (company_id, document_id, hook_type, payload_json)
           SELECT 'acme', CASE WHEN n %% %s = 0 THEN 'd' ELSE 'd' || n END, 'NOTE', json_build_object('n', n)::text
             FROM generate_series(1, 5000) n""",
        [documents],
    )
    if analyzed == "now":
        conn.execute("ANALYZE document_lifecycle_events")
    params = {"limit": 50, "max_attempts": 5, "document_id": document, "token": "x"}
    with transaction.atomic(), connection.cursor() as cursor:
        run("in_order", {})
        cursor.execute("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + _text("claim_events"), params)
        plan = cursor.fetchone()[0][0]["Plan"]
    assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < 5_000
