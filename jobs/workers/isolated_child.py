"""The child's side of `jobs.workers.isolated`: `python -m jobs.workers.isolated_child`, started by a worker only."""

import json
import os
import random
import signal
import threading
from typing import IO, Any


def main() -> None:
    """Reads the job, runs it, writes its outcome, ends. Ends at once when the parent is gone."""
    asked, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a handler prints must not be taken for an answer
    # Nor may it, or a program that it starts, wait for what the parent has to say, or take it away.
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)  # the parent says when to stop

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "detiq_admin.settings")
    import django

    django.setup()
    from django.conf import settings

    from jobs.conf import conf
    from jobs.handlers import registry
    from jobs.handlers.remote import Elsewhere
    from jobs.queue.connections import connector
    from jobs.workers.active import ActiveRun
    from jobs.workers.isolated import job_from_json, outcome_as_json
    from jobs.workers.link import Link
    from jobs.workers.reports import Reports
    from jobs.workers.rulebook import Rulebook
    from jobs.workers.runner import Runner

    registry.load(conf().handler_modules)
    active = ActiveRun(job_from_json(json.loads(asked.readline())["job"]))
    threading.Thread(target=_listen, args=(asked, active), daemon=True).start()

    link = Link(connector(settings.DATABASES["default"]), "isolated")
    reports = Reports(active.run.worker or "")
    done = threading.Event()
    writer = threading.Thread(target=_write_reports, args=(reports, link, done), daemon=True)
    writer.start()
    rulebook = Rulebook(link, conf().poll_interval)
    rng = random.Random()  # noqa: S311 - jitter, guards nothing
    runner = Runner(reports, link, conf().retry_jitter, rng, rulebook.in_force)
    outcome = runner.run_here(active)
    assert not isinstance(outcome, Elsewhere)  # noqa: S101 - no type is done elsewhere in this process
    done.set()
    writer.join(5)
    answers.write(json.dumps(outcome_as_json(outcome)).encode() + b"\n")
    answers.close()
    os._exit(0)


def _listen(lines: IO[str], active: Any) -> None:
    from jobs.workers.isolated import stop_from_json

    for line in lines:
        active.stop.set(stop_from_json(json.loads(line)))
    os._exit(0)  # the parent is gone: nobody would hear the outcome


def _write_reports(reports: Any, link: Any, done: threading.Event) -> None:
    import structlog

    from jobs.workers.link import is_outage

    while True:
        last = done.wait(0.25)
        try:
            reports.write(link)
        except Exception as error:  # noqa: BLE001 - reports are kept and tried again; the run goes on
            if not is_outage(error):
                structlog.get_logger("jobs.worker").exception("run.reports_failed")
        if last:
            return


if __name__ == "__main__":
    main()
