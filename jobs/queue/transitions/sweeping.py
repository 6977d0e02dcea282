"""What the sweep does on its own: what is due, what was left in between, what is kept no longer."""

import structlog

from jobs.queue.statements import Connection, run

log = structlog.get_logger("jobs.door")


def promote(limit: int, *, actor: str, using: Connection | None = None) -> list[str]:
    """RETRY_WAIT → QUEUED for what is due."""
    return _sweep("promote", limit, actor, using)


def promote_failed(limit: int, *, actor: str, using: Connection | None = None) -> list[str]:
    """FAILED with a retry time that has passed → QUEUED: rows of release 1.1.25."""
    return _sweep("promote_failed", limit, actor, using)


def retry_unclassified(limit: int, *, actor: str, using: Connection | None = None) -> list[str]:
    """FAILED without failure type and with fewer than five retries → RETRY_WAIT."""
    return _sweep("retry_unclassified", limit, actor, using)


def dead_letter_failed(limit: int, *, actor: str, using: Connection | None = None) -> list[str]:
    """FAILED for good → the DLQ."""
    return _sweep("dead_letter_failed", limit, actor, using)


def repair(limit: int, *, actor: str, thorough: bool = False, using: Connection | None = None) -> list[str]:
    """Puts right columns that cannot be true together (see `jobs.queue.consistency`); no job changes its state by it.

    `thorough` reads every job for figures that are out of range.
    """
    ids = [row["id"] for row in run("repair", {"limit": limit, "actor": actor, "thorough": thorough}, using)]
    if ids:
        log.warning("job.repair", jobs=len(ids), first=ids[0], actor=actor)
    return ids


def prune(limit: int, *, keep_seconds: float, using: Connection | None = None) -> tuple[int, bool]:
    """Deletes jobs that ended longer ago than `keep_seconds`, with history and logs; not dead letters, not inline ones.

    Returns how many (at most `limit` and 1,000), and whether there may be more.
    """
    row = run("prune", {"limit": limit, "keep_seconds": keep_seconds}, using)[0]
    if row["pruned"]:
        log.info("job.prune", jobs=row["pruned"])
    return row["pruned"], row["more"]


def _sweep(name: str, limit: int, actor: str, using: Connection | None) -> list[str]:
    ids = [row["id"] for row in run(name, {"limit": limit, "actor": actor}, using)]
    if ids:
        log.info(f"job.{name}", jobs=len(ids), first=ids[0], actor=actor)
    return ids
