"""32 claimers in 4 processes, while caps and pauses change under them: no rule is broken, read from the history.

`DETIQ_CLAIMERS_SECONDS=300` lets them run for longer.
"""

import os
import random
import subprocess
import sys
import time
from datetime import timedelta
from typing import Any

import pytest

from jobs.queue import checker, pauses, transitions
from jobs.queue.sweep import Sweep
from tests.processes import ROOT, database_url
from tests.queue.claimers import TENANT_CAP, TYPE_CAPS

SECONDS = float(os.environ.get("DETIQ_CLAIMERS_SECONDS", "6"))
PROCESSES, THREADS = 4, 8
HOUR = timedelta(hours=1)
INSERT = """INSERT INTO "PlatformJob" (id, "tenantId", "projectId", type, config, priority)
            SELECT gen_random_uuid()::text, %s, %s, %s, '{}', %s FROM generate_series(1, %s)"""
FLAG = """INSERT INTO "SystemConfig" (key, value) VALUES ('queue.paused', %s)
          ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value"""
TENANT = """INSERT INTO tenant_setting (tenant_id, cap, unlimited, updated_by) VALUES (%s, %s, %s, 'kim')
            ON CONFLICT (tenant_id) DO UPDATE SET cap = EXCLUDED.cap, unlimited = EXCLUDED.unlimited"""
TYPE = """INSERT INTO type_setting (type, cap, updated_by) VALUES (%s, %s, 'kim')
          ON CONFLICT (type) DO UPDATE SET cap = EXCLUDED.cap"""


class Trouble:
    """What people and other programs do meanwhile, each thing by the door or by plain SQL."""

    def __init__(self, conn: Any) -> None:
        self.conn = conn
        self.rng = random.Random(7)
        self.sweep = Sweep(conn, HOUR, HOUR, 0.0, self.rng)
        self.ways = [
            self.burst,
            self.flood,
            self.cap,
            self.cap,
            self.type_cap,
            self.pause,
            self.flag,
            self.cancel,
            self.sweep.light,
        ]

    def one(self) -> None:
        self.rng.choice(self.ways)()

    def burst(self) -> None:
        self.conn.execute(INSERT, ["burst", None, "CRAWL", 1, 40])

    def flood(self) -> None:
        for n in range(4):
            self.conn.execute(INSERT, [f"t{n}", self.rng.choice(["p", None]), "DISCOVER", 0, 10])
            self.conn.execute(INSERT, [f"t{n}", self.rng.choice(["p", None]), "OTHER", self.rng.choice([0, -1]), 10])

    def cap(self) -> None:
        cap = self.rng.choice([0, 1, 2, 3, 8, None])
        unlimited = cap is None and self.rng.random() < 0.5
        self.conn.execute(TENANT, [self.rng.choice(["burst", "burst", "t1"]), cap, unlimited])

    def type_cap(self) -> None:
        self.conn.execute(TYPE, [self.rng.choice(["DISCOVER", "OTHER"]), self.rng.choice([0, 1, 3, None])])

    def pause(self) -> None:
        scope = self.rng.choice([{}, {"type": "CRAWL"}, {"tenant_id": "burst"}, {"project_id": "p"}])
        seconds = self.rng.choice([None, 0.02])
        id = pauses.pause(reason="r", owner="kim", ends_in_seconds=seconds, using=self.conn, **scope)
        time.sleep(self.rng.uniform(0, 0.04))
        pauses.lift(id, by="kim", reason="r", using=self.conn)

    def flag(self) -> None:
        self.conn.execute(FLAG, ["true"])
        time.sleep(self.rng.uniform(0, 0.04))
        self.conn.execute(FLAG, ["false"])

    def cancel(self) -> None:
        live = self.conn.execute(
            """SELECT id FROM "PlatformJob" WHERE status IN ('RUNNING', 'QUEUED') LIMIT 10"""
        ).fetchall()
        transitions.request_cancel([id for (id,) in live[:2]], actor="kim", reason="r", using=self.conn)


@pytest.mark.timeout(60 + 2 * SECONDS)
def test_no_claim_breaks_a_cap_or_a_pause(conn: Any) -> None:
    trouble = Trouble(conn)
    trouble.burst()
    trouble.flood()
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    claimers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.queue.claimers", database_url(), str(n), str(THREADS), str(SECONDS)],
            cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True,
        )
        for n in range(PROCESSES)
    ]  # fmt: skip
    try:
        while any(one.poll() is None for one in claimers):
            trouble.one()
            time.sleep(0.02)
        outputs = [one.communicate(timeout=10)[0] for one in claimers]
    finally:
        for one in claimers:
            one.kill()
            one.wait()
    assert [one.returncode for one in claimers] == [0] * PROCESSES, outputs
    terms = checker.Terms(TENANT_CAP, TYPE_CAPS, HOUR)
    assert checker.check(conn, terms) == []
    # That it was a trial at all: much ran, caps were full, and the gate changed under it.
    assert sum(int(output.split()[0]) for output in outputs) > 20 * SECONDS
    assert conn.execute("SELECT count(*) FROM gate_history").fetchone()[0] > SECONDS
