"""A primary that is lost while jobs are worked, and the standby that takes over: `python -m tests.ops.standby`.

Two real servers by streaming replication, a console and two workers with both hosts in DATABASE_URL. Says how often each
job ran, and what the console answered meanwhile. Exit code 1 when a job was lost or done twice. `--any` leaves
target_session_attrs out, so that everybody lands on the standby while it can only be read; `--asynchronous` lets the
standby lag, so that the last moments may be lost: then a job whose claim was lost runs once more.
"""

import contextlib
import http.client
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psycopg

from detiq_admin.listening import listen
from detiq_admin.postgres import EmbeddedServer, _binaries, set_up_roles
from detiq_admin.unprivileged import server_user
from jobs.handlers import JobContext, handler
from tests.processes import Process, manage

JOBS, WAIT_SECONDS = 300, 120
NOTES = "DETIQ_STANDBY_NOTES"


@handler("NOTED")
def noted(job: JobContext) -> str:
    """Writes down that it ran, where no database can lose it."""
    with Path(os.environ[NOTES]).open("a") as notes:
        notes.write(f"{job.id}\n")
    time.sleep(0.4)
    return "noted"


def free_port() -> int:
    with listen("127.0.0.1", 0) as listener:
        return int(listener.getsockname()[1])


@contextlib.contextmanager
def server(folder: Path, port: int, of: EmbeddedServer | None = None, **more: str) -> Iterator[EmbeddedServer]:
    """A primary, or the standby of one."""
    made = EmbeddedServer(folder, {"listen_addresses": "127.0.0.1", "port": str(port), "wal_level": "replica", **more})
    made._prepare_folders(server_user())
    if of is not None:
        copy = [
            str(_binaries(folder, server_user()) / "bin/pg_basebackup"),
            "-D",
            str(made.data),
            "-R",
            "-c",
            "fast",
            "-d",
        ]
        source = f"host=127.0.0.1 port={of.port} user=postgres application_name=standby"
        server_user().own(made.data)
        subprocess.run([*copy, source], check=True, cwd="/", **server_user().popen)
    made.start()
    try:
        yield made
    finally:
        made.stop()


def command(env: dict[str, str], *words: str) -> None:
    subprocess.run(manage(*words), env=env, check=True, stdout=subprocess.DEVNULL)


def watch(port: int, answers: list[tuple[float, int]], over: threading.Event) -> None:
    """What the console says, every half second: 0 for no answer."""
    while not over.wait(0.5):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            connection.request("GET", "/readyz")
            answers.append((time.monotonic(), connection.getresponse().status))
        except OSError:
            answers.append((time.monotonic(), 0))
        finally:
            connection.close()


def done(connect: str) -> int:
    with psycopg.connect(connect, connect_timeout=2) as connection:
        row = connection.execute("""SELECT count(*) FROM "PlatformJob" WHERE status = 'DONE'""").fetchone()
        assert row is not None
        return int(row[0])


def main(folder: Path) -> int:
    first, second = free_port(), free_port()
    attrs = "" if "--any" in sys.argv else "?target_session_attrs=read-write"
    both = f"@127.0.0.1:{first},127.0.0.1:{second}/detiq{attrs}"
    env = os.environ | {"DATABASE_URL": f"postgresql://detiq{both}", "DATABASE_OWNER_URL": f"postgresql://detiq_owner{both}",
                        "SECRET_KEY": "k" * 40, "DETIQ_VAR_DIR": str(folder / "var"), NOTES: str(folder / "notes"),
                        "JOB_HANDLER_MODULES": "tests.ops.standby", "JOB_WORKER_POLL_INTERVAL_MS": "2000",
                        "MAX_CONCURRENT_PER_TENANT": "8", "DETIQ_INSECURE_COOKIES": "1", "LOG_LEVEL": "INFO"}  # fmt: skip
    (folder / "notes").touch()
    direct = f"host=127.0.0.1 port={second} user=postgres dbname=detiq"
    with contextlib.ExitStack() as stack:
        primary = stack.enter_context(server(folder / "a", first))
        set_up_roles(primary)
        standby = stack.enter_context(server(folder / "b", second, of=primary))
        command(env, "migrate")
        with primary.superuser("detiq") as connection:
            if "--asynchronous" not in sys.argv:
                connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
                connection.execute("SELECT pg_reload_conf()")
            connection.execute("""INSERT INTO "PlatformJob" (id, "tenantId", type, config)
                                  SELECT 'j' || n, 't' || n %% 5, 'NOTED', '{}' FROM generate_series(1, %s) n""", [JOBS])  # fmt: skip
        listener = stack.enter_context(listen("127.0.0.1", 0))
        serve = [sys.executable, "-m", "detiq_admin.serve", "--fd", str(listener.fileno())]
        started = [
            Process(serve, env | {"DETIQ_PROCESS": "web"}, folder / "console.log", [listener.fileno()]),
            *(Process(manage("worker"), env, folder / f"worker-{n}.log") for n in (1, 2)),
        ]
        for process in started:
            stack.callback(process.close)
            process.wait_ready(60)
        answers: list[tuple[float, int]] = []
        over = threading.Event()
        stack.callback(over.set)
        threading.Thread(target=watch, args=(listener.getsockname()[1], answers, over), daemon=True).start()
        while done(direct) < JOBS // 4:
            time.sleep(0.2)
        lost = time.monotonic()
        primary.crash()
        time.sleep(6)
        with standby.superuser() as connection:
            connection.execute("SELECT pg_promote()")
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = ''")
            connection.execute("SELECT pg_reload_conf()")
        promoted, before = time.monotonic(), done(direct)
        while done(direct) == before and time.monotonic() - promoted < WAIT_SECONDS:
            time.sleep(0.1)
        resumed = time.monotonic()
        while done(direct) < JOBS and time.monotonic() - promoted < WAIT_SECONDS:
            time.sleep(0.2)
        return report(folder, direct, answers, (lost, promoted, resumed))


def report(folder: Path, direct: str, answers: list[tuple[float, int]], at: tuple[float, float, float]) -> int:
    lost, promoted, resumed = at
    runs = Counter((folder / "notes").read_text().split())
    with psycopg.connect(direct) as connection:
        states = connection.execute(
            """SELECT status, count(*), max("retryCount") FROM "PlatformJob" GROUP BY 1"""
        ).fetchall()
    ready = next((moment for moment, status in answers if moment > promoted and status == 200), float("nan"))
    print(f"jobs: {states}; runs of a job: {dict(Counter(runs.values()))}; never ran: {JOBS - len(runs)}")
    print(f"the standby was promoted after {promoted - lost:.1f} s; ends went on {resumed - promoted:.1f} s later")
    print(
        f"the console said {dict(Counter(status for _, status in answers))}; ready {ready - promoted:.1f} s after the promotion"
    )
    wrong = len(runs) != JOBS or (set(runs.values()) != {1} and "--asynchronous" not in sys.argv) or len(states) != 1
    if wrong:
        print(f"logs: {folder}")
    return int(wrong)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="detiq-standby-", delete="--keep" not in sys.argv) as name:
        Path(name).chmod(0o755)
        sys.exit(main(Path(name)))
