"""How long a real console takes for each page on a database of any size, while jobs arrive and are worked."""

import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import quote, urlencode

import httpx2
import psycopg
from django.conf import settings

from jobs.bench import data, statements
from jobs.bench.backlogs import Pause
from jobs.bench.fill import hold, release
from jobs.bench.handlers import NOOP
from jobs.bench.notes import SlotReader, new_notes
from jobs.bench.report import Cell, Section, percentile
from jobs.bench.server import Lab
from jobs.bench.statements import Connection
from jobs.bench.workers import Child, workers
from jobs.domain.errors import JobsError
from jobs.domain.new_job import NewJob
from jobs.queue import transitions

NAME = "bench"
PASSWORD = "the bench signs in"  # noqa: S105 - a user of a database that is dropped
TARGET_MS, SEARCH_MS = 50.0, 150.0
_LONGEST_SECONDS = 30.0
_BATCHES_A_SECOND = 10

type Progress = Callable[[str], None]


@dataclass(frozen=True)
class PagesOptions:
    """`url`: a database that is there already, filled by `bench data`. `per_second`: jobs that arrive meanwhile."""

    jobs: int = 100_000
    samples: int = 60
    per_second: int = 500
    url: str = ""


def run(lab: Lab, options: PagesOptions, progress: Progress = lambda text: None) -> Section:
    with ExitStack() as stack:
        url = options.url or stack.enter_context(lab.database())
        if not options.url:
            data.generate(url, options.jobs, progress)
        connection = stack.enter_context(psycopg.connect(url, autocommit=True))
        total = connection.execute("SELECT coalesce(sum(n), 0)::bigint FROM tally_state").fetchone()
        section = Section(
            "pages",
            f"Time to the first byte of each page at {total[0] if total else 0:,} jobs, {options.per_second} more a second",
            target=f"p95 at most {TARGET_MS:g} ms, a search by rare text {SEARCH_MS:g} ms",
        )
        notes = stack.enter_context(new_notes(lab.folder, 1))
        client = stack.enter_context(_console(lab, url))
        stack.enter_context(_at_work(lab, url, connection, notes, options.per_second))
        section.rows += _measured(client, _pages(connection), options.samples, progress)
    return section


# --- What is asked ----------------------------------------------------------------------------------------------------


def _pages(connection: Connection) -> dict[str, str]:
    """Title → address, with the largest tenant, the largest group and a failed job of this database."""
    tenant, group, job = connection.execute(statements.text("pages_examples")).fetchone() or ("", "", "")
    lists = {
        "all": {},
        "failed": {"state": "FAILED"},
        "a tenant's": {"tenant": tenant},
        "a tenant's failed": {"tenant": tenant, "state": "FAILED"},
        "a type's": {"type": "CRAWL"},
        "of a group": {"group": group},
        "rare text": {"error": "crawl-41"},
        "frequent text": {"error": "timeout"},
    }
    return {
        "overview": "/",
        **{f"jobs: {title}": f"/jobs/?{urlencode(query)}" for title, query in lists.items()},
        "one job": f"/jobs/{quote(job, safe='')}/",
        "why not": f"/why/?{urlencode({'tenant': tenant})}",
        "dlq": "/dlq/",
        "failures": "/failures/",
        "a group": f"/failures/group/?{urlencode({'id': group})}",
        "tenants": "/tenants/",
        "workers": "/workers/",
        "pauses": "/pauses/",
        "audit": "/audit/",
    }


def _measured(
    client: httpx2.Client, pages: dict[str, str], samples: int, progress: Progress
) -> Iterator[dict[str, Cell]]:
    times: dict[str, list[float]] = {title: [] for title in pages}
    said: dict[str, tuple[int, int]] = {}
    for number in range(samples + 1):
        progress(f"round {number} of {samples}")
        for title, address in pages.items():
            began = time.perf_counter()
            with client.stream("GET", address) as answer:
                first = time.perf_counter() - began
                said[title] = (answer.status_code, len(answer.read()))
            if number:  # the first round warms up
                times[title].append(first * 1000)
    for title, found in times.items():
        status, size = said[title]
        p95 = percentile(found, 0.95)
        yield {
            "page": title,
            "p50_ms": round(percentile(found, 0.5), 1),
            "p95_ms": round(p95, 1),
            "kB": round(size / 1000),
            "status": status,
            "ok": status == 200 and p95 <= (SEARCH_MS if "text" in title else TARGET_MS),
        }


# --- Who answers, and who works -----------------------------------------------------------------------------------------


@contextmanager
def _console(lab: Lab, url: str) -> Iterator[httpx2.Client]:
    """A console process on this database, and a client that is signed in as an admin."""
    env = lab.environment(url, DETIQ_PROCESS="web", DETIQ_INSECURE_COOKIES="1", ALLOWED_HOSTS="127.0.0.1")
    person = {"DJANGO_SUPERUSER_USERNAME": NAME, "DJANGO_SUPERUSER_PASSWORD": PASSWORD, "DJANGO_SUPERUSER_EMAIL": ""}
    made = subprocess.run(
        [sys.executable, "manage.py", "createsuperuser", "--noinput"],
        cwd=settings.BASE_DIR,
        env={**env, **person},
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode != 0 and "already taken" not in made.stderr:
        raise JobsError(f"no user could be made: {made.stderr.strip()[-500:]}")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        fd = listener.fileno()
        child = Child([sys.executable, "-m", "detiq_admin.serve", "--fd", str(fd)], env, lab.folder / "pages.log", [fd])
        try:
            child.wait_ready()
            address = f"http://127.0.0.1:{listener.getsockname()[1]}"
            with httpx2.Client(base_url=address, timeout=_LONGEST_SECONDS, headers={"Accept": "text/html"}) as client:
                _sign_in(client)
                yield client
        finally:
            child.close()


def _sign_in(client: httpx2.Client) -> None:
    page = client.get("/accounts/login/")
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
    form = {"login": NAME, "password": PASSWORD, "csrfmiddlewaretoken": token[1] if token else ""}
    answer = client.post("/accounts/login/", data=form, headers={"Referer": str(page.url)})
    if answer.status_code != 302:
        raise JobsError(f"the bench could not sign in: {answer.status_code}")


@contextmanager
def _at_work(lab: Lab, url: str, connection: Connection, notes: SlotReader, per_second: int) -> Iterator[None]:
    """Jobs arrive, and a worker does them; what the database was filled with is held."""
    types = [row[0] for row in connection.execute("SELECT DISTINCT type FROM tally_state").fetchall()]
    release(connection)  # of a run that was killed
    hold(connection, [Pause(type=one) for one in types if one != NOOP])
    stop = threading.Event()
    feeder = threading.Thread(target=_feed, args=(url, per_second, stop), daemon=True)
    try:
        with workers(lab, url, notes, 1 if per_second else 0):
            feeder.start()
            try:
                _until_counted(connection)
                yield
            finally:
                stop.set()
                feeder.join()
    finally:
        release(connection)


def _until_counted(connection: Connection) -> None:
    """The first sweep after a long silence compares the counters with all jobs, which is no usual minute."""
    until = time.monotonic() + _LONGEST_SECONDS
    while time.monotonic() < until and connection.execute(statements.text("pages_counting")).fetchone():
        time.sleep(0.2)


def _feed(url: str, per_second: int, stop: threading.Event) -> None:
    count = per_second // _BATCHES_A_SECOND
    with psycopg.connect(url, autocommit=True) as connection:
        number = 0
        while not stop.wait(1 / _BATCHES_A_SECOND) and count:
            jobs = [NewJob(NOOP, f"arriving-{(number + n) % 50}", config={"n": 0}) for n in range(count)]
            with suppress(psycopg.errors.LockNotAvailable):
                transitions.enqueue_many(jobs, actor="bench", using=connection)
            number += count
