"""Jobs are worked while somebody holds an old snapshot: `python -m tests.ops.old_snapshot [MINUTES]` (10).

Dead rows cannot be cleaned away meanwhile. Says for each minute how long a job waited for its start, by the rows themselves,
with the machine's load beside, then two minutes more after the snapshot was let go. Exit code 1 when the last minute's p95 is
more than 50 ms and more than three times the first's.
"""

import contextlib
import os
import sys
import tempfile
import time
from pathlib import Path

import psycopg

from detiq_admin.postgres import set_up_roles
from jobs.handlers import JobContext, handler
from tests.ops.standby import command, free_port, server
from tests.processes import Process, manage

PER_SECOND, AFTER_MINUTES, MOST_MS = 100, 2, 50

_FIGURES = """
SELECT count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY wait), percentile_cont(0.95) WITHIN GROUP (ORDER BY wait)
FROM (SELECT extract(epoch FROM "startedAt" - "queuedAt") * 1000 AS wait FROM "PlatformJob"
      WHERE "queuedAt" BETWEEN clock_timestamp() - interval '62 s' AND clock_timestamp() - interval '2 s') w
"""
_DEAD = "SELECT n_dead_tup, 100 * n_tup_hot_upd / greatest(n_tup_upd, 1) FROM pg_stat_user_tables WHERE relname = 'PlatformJob'"
_INSERT = """
INSERT INTO "PlatformJob" (id, "tenantId", type, config)
SELECT gen_random_uuid()::text, 't' || (random() * 50)::int, 'SHORT', '{}' FROM generate_series(1, %s)
"""


@handler("SHORT")
def short(job: JobContext) -> str:
    """Does next to nothing, and says so."""
    job.progress(50, "half")
    return "done"


def feed(connection: psycopg.Connection[tuple[object, ...]], seconds: float) -> None:
    """A tenth of a second's jobs at a time."""
    until = time.monotonic() + seconds
    at = time.monotonic()
    while at < until:
        connection.execute(_INSERT, [PER_SECOND // 10])
        at += 0.1
        time.sleep(max(0, at - time.monotonic()))


def minute(connection: psycopg.Connection[tuple[object, ...]], name: str) -> float:
    """One minute's work, told in a line; its p95 in milliseconds."""
    feed(connection, 60)
    jobs, half, most = connection.execute(_FIGURES).fetchone() or (0, 0, 0)
    dead, hot = connection.execute(_DEAD).fetchone() or (0, 0)
    load = os.getloadavg()[0]
    print(f"{name:<10} {jobs:>6} {half:>8.1f} {most:>8.1f} {dead:>9} {hot:>5} {load:>6.1f}", flush=True)
    return float(str(most))


def main(folder: Path, minutes: int) -> int:
    port = free_port()
    at = f"@127.0.0.1:{port}/detiq"
    env = os.environ | {"DATABASE_URL": f"postgresql://detiq{at}", "DATABASE_OWNER_URL": f"postgresql://detiq_owner{at}",
                        "SECRET_KEY": "k" * 40, "DETIQ_VAR_DIR": str(folder / "var"), "LOG_LEVEL": "WARNING",
                        "JOB_HANDLER_MODULES": "tests.ops.old_snapshot", "MAX_CONCURRENT_PER_TENANT": "8"}  # fmt: skip
    with contextlib.ExitStack() as stack:
        # No checkpoint in between: what a disk does then is another question.
        made = stack.enter_context(server(folder / "a", port, checkpoint_timeout="1h", max_wal_size="8GB"))
        set_up_roles(made)
        command(env, "migrate")
        worker = Process(manage("worker"), env, folder / "worker.log")
        stack.callback(worker.close)
        worker.wait_ready(60)
        connection = stack.enter_context(made.superuser("detiq"))
        print(f"{'minute':<10} {'jobs':>6} {'p50 ms':>8} {'p95 ms':>8} {'dead rows':>9} {'hot %':>5} {'load':>6}")
        minute(connection, "before")
        holder = stack.enter_context(made.superuser("detiq"))
        holder.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        holder.execute("SELECT 1")
        held = [minute(connection, f"held {number + 1}") for number in range(minutes)]
        holder.execute("ROLLBACK")
        for number in range(AFTER_MINUTES):
            minute(connection, f"after {number + 1}")
        return int(held[-1] > MOST_MS and held[-1] > 3 * held[0])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="detiq-snapshot-") as name:
        Path(name).chmod(0o755)
        sys.exit(main(Path(name), int(sys.argv[1]) if sys.argv[1:] else 10))
