"""`python -m tests.queue.claimers CONNINFO NUMBER THREADS SECONDS`: claimers in a process of their own, as fast as they can.

Each thread has its own connection and name, runs what it got for some milliseconds and ends it in every way there is.
Exits with 1 when a thread failed; stdout says how many runs it ended.
"""

import random
import sys
import threading
import time
from typing import Any

import psycopg
import structlog

from jobs.domain.outcomes import (
    Cancelled,
    ClaimedJob,
    ClaimRequest,
    Completed,
    DeadLettered,
    Ended,
    Failure,
    Outcome,
    Released,
    RetryLater,
)
from jobs.queue import transitions

TYPES = ["CRAWL", "DISCOVER", "OTHER"]
TENANT_CAP = 4
TYPE_CAPS = {"DISCOVER": 2}
BOOM = Failure("boom", "TRANSIENT", "v1:boom")


def work(conninfo: str, worker: str, seconds: float, ended: list[int]) -> None:
    rng = random.Random(worker)
    deadline = time.monotonic() + seconds
    with psycopg.connect(conninfo, autocommit=True) as conn:
        ends: list[Ended] = []
        while time.monotonic() < deadline:
            jobs = one_turn(conn, worker, rng, ends)
            if jobs:
                time.sleep(rng.uniform(0, 0.02))
            ended.append(len(ends))
            ends = [Ended(job.run, outcome(rng)) for job in jobs]
        transitions.finish(worker, ends, conn)


def one_turn(conn: Any, worker: str, rng: random.Random, ends: list[Ended]) -> list[ClaimedJob]:
    request = ClaimRequest(
        rng.choice([1, 1, 2, 4, 8]), TYPES, TENANT_CAP, TYPE_CAPS, rng.choice(["", "t1", "t3", "burst"]),
        relief=rng.choice([None, None, 0.5]), strict=rng.random() < STRICT,
    )  # fmt: skip
    if rng.random() < 0.9:
        return transitions.turn(worker, ends, request, conn).jobs
    transitions.finish(worker, ends, conn)
    waiting = conn.execute("""SELECT id FROM "PlatformJob" WHERE status = 'QUEUED' LIMIT 20""").fetchall()
    job = transitions.claim_job(rng.choice(waiting)[0], worker, request, conn) if waiting else None
    return [job] if job else []


# The source's order takes one lock for all claimers, which would hide what the others lack.
STRICT = 0.02


def outcome(rng: random.Random) -> Outcome:
    ways: list[Outcome] = [Completed("1"), Released("stops"), RetryLater(BOOM, 0), DeadLettered(BOOM), Cancelled()]
    return rng.choices(ways, [20, 2, 2, 1, 1])[0]


def main(conninfo: str, number: str, threads: str, seconds: str) -> int:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    failed: list[object] = []
    threading.excepthook = lambda args: failed.append(args.exc_value)
    ended: list[int] = []
    group = [
        threading.Thread(target=work, args=(conninfo, f"host:{number}:{n}", float(seconds), ended))
        for n in range(int(threads))
    ]
    for thread in group:
        thread.start()
    for thread in group:
        thread.join()
    print(sum(ended), *failed, sep="\n")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
