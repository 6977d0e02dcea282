"""What a worker says of a run that it has lost."""

import psycopg
import structlog

from jobs.handlers import registry
from jobs.queue import liveness
from jobs.workers.active import ActiveRun
from jobs.workers.link import Link

log = structlog.get_logger("jobs.worker")


def say_lost(link: Link, lost: list[ActiveRun]) -> None:
    """One line a run, whoever finds out first, with the worker that lost it and the one that has it now."""
    unsaid = [active for active in lost if not active.lost_said]
    if not unsaid:
        return
    for active in unsaid:
        active.lost_said = True
    holders: dict[str, str] = {}
    try:
        holders = link.call(lambda connection: liveness.holders([one.run.job_id for one in unsaid], connection))
    except psycopg.Error as error:
        log.info("run.holder_unknown", error=str(error).strip()[:300])
    for active in unsaid:
        job_id = active.run.job_id
        if registry.is_elsewhere(active.job.type) and (found := holders.get(job_id, "")).startswith("nobody: it is"):
            log.info("run.ended_elsewhere", job=job_id, worker=active.run.worker, found=found.removeprefix("nobody: "))
            continue
        log.warning("run.lost", job=job_id, worker=active.run.worker, now_with=holders.get(job_id, "unknown"))
