"""`manage.py bench` leaves nothing behind, however it ends."""

import json
import os
import signal
import time
from pathlib import Path

import psycopg
import pytest
from django.conf import settings

from jobs.bench.server import BenchRefused, open_lab, with_database
from tests.bench.conftest import bench_databases
from tests.processes import Process, environment, manage
from tests.settings import ROLE

TINY = ("--rows", "2500", "--samples", "3", "--backlog", "noisy")


def start(folder: Path, *arguments: str) -> Process:
    return Process(manage("bench", *arguments), environment(DATABASE_URL=settings.DATABASE_URL), folder / "bench.log")


def folders() -> set[str]:
    return {path.name for path in Path(settings.VAR_DIR).glob("bench-*")}


def test_json_has_the_machine_and_the_rows(tmp_path: Path, django_db_setup: None) -> None:
    before, there = set(bench_databases()), folders()
    process = start(tmp_path, "claim", *TINY, "--json", str(tmp_path / "out.json"))
    try:
        assert process.wait(60) == 0, process.output()
    finally:
        process.close()
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["machine"]["cores"] >= 1
    assert found["machine"]["fsync"] in ("on", "off")
    assert [section["name"] for section in found["sections"]] == ["claim"]
    assert found["sections"][0]["rows"][0]["detiq_p95_ms"] > 0
    assert "raw p95 ms" in process.output()
    assert set(bench_databases()) <= before
    assert folders() == there


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_half_way_it_drops_what_it_made(tmp_path: Path, number: int, django_db_setup: None) -> None:
    before, there = set(bench_databases()), folders()
    process = start(tmp_path, "claim", "--rows", "3000", "--samples", "100000", "--backlog", "even-10")
    try:
        deadline = time.monotonic() + 40
        while not any(name.endswith("_1") for name in set(bench_databases()) - before):
            assert time.monotonic() < deadline, process.output()
            time.sleep(0.1)
        process.signal(number)
        assert process.wait(30) != 0
    finally:
        process.close()
    assert set(bench_databases()) <= before
    assert folders() == there


@pytest.mark.skipif("DETIQ_TEST_DATABASE_URL" in os.environ, reason="that server's superuser is not ours")
def test_a_role_that_may_not_create_databases_is_told_so(monkeypatch, django_db_setup: None) -> None:
    superuser, poor = (settings.DATABASE_URL.replace(f"{ROLE}@", f"{one}@") for one in ("postgres", "detiq_bench_poor"))
    with psycopg.connect(superuser, autocommit=True) as connection:
        connection.execute("CREATE ROLE detiq_bench_poor LOGIN")
        monkeypatch.setattr(settings, "DATABASE_URL", poor)
        try:
            with pytest.raises(BenchRefused, match="detiq_bench_poor may not create databases"), open_lab():
                pass
        finally:
            connection.execute("DROP ROLE detiq_bench_poor")


def test_addresses_keep_server_and_role() -> None:
    assert with_database("postgresql:///a?host=/run/x", "b c") == "postgresql:///b%20c?host=/run/x"
    assert with_database("postgresql://u:p@h:1/a", "b") == "postgresql://u:p@h:1/b"
