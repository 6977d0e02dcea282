"""The workers' registry: who is there, with which handlers. What people see; no job's fate is decided by it."""

import json
from dataclasses import dataclass

from jobs.queue.statements import Connection, run


@dataclass(frozen=True)
class WorkerIdentity:
    """One process start of a worker. `id` is `host:pid:nonce`, unique also where every host and pid are alike.

    `versions`: by type, for the handlers that declare one.
    """

    id: str
    host: str
    pid: int
    slots: int
    types: list[str]
    version: str
    versions: dict[str, str]


def register(identity: WorkerIdentity, using: Connection) -> None:
    """Writes the worker down, or says that it still lives."""
    run("register_worker", vars(identity) | _versions(identity), using)


def beat(identity: WorkerIdentity, stopping: bool, using: Connection) -> None:
    """The worker's sign of life; registers again if somebody removed it."""
    params = vars(identity) | {"stopping": stopping} | _versions(identity)
    if not run("beat_worker", params, using):
        register(identity, using)


def _versions(identity: WorkerIdentity) -> dict[str, str]:
    return {"versions": json.dumps(identity.versions)}


def stop(identity: WorkerIdentity, using: Connection) -> None:
    """The worker says goodbye."""
    run("stop_worker", {"id": identity.id}, using)


def longest_runs(using: Connection) -> dict[str, int]:
    """Seconds that a job of a type may run, for the types that have a limit."""
    return {row["type"]: row["max_run_seconds"] for row in run("longest_runs", {}, using)}
