"""Who changes a job. The history keeps these texts."""

SWEEP = "sweep"


def operator(username: str) -> str:
    """A person, by the console."""
    return username


def command(os_user: str) -> str:
    """A person, by the shell."""
    return f"command:{os_user}"


def worker(worker_id: str) -> str:
    """A worker process."""
    return worker_id


def ledger(event_id: str) -> str:
    """A hook of the document ledger."""
    return f"ledger:{event_id}"


def remote(job_type: str) -> str:
    """The service that runs a job type elsewhere."""
    return f"remote:{job_type}"
