"""The walk over a site that DISCOVER and CRAWL share: take the next URL, fetch it, note what it says, remember where
we are."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from jobs.domain.errors import RunLost, StopRun
from jobs.handlers.context import JobContext
from jobs.handlers.web.checkpoint import build
from jobs.handlers.web.decode import decode
from jobs.handlers.web.fetch import Fetched
from jobs.handlers.web.frontier import Entry, Frontier
from jobs.handlers.web.page import Page, read_page
from jobs.handlers.web.site import ROBOTS, Site, raise_failure

NO_ROOM = "no room left"

type Room = Callable[[], int]


@dataclass(frozen=True, slots=True)
class Visit:
    """One URL that was fetched: `page` is None unless it is HTML that could be read."""

    entry: Entry
    fetched: Fetched
    page: Page | None


class Tally(Protocol):
    """What a job gathers from the visits, and how it goes into a checkpoint."""

    def add(self, visit: Visit) -> None: ...
    def skip(self, why: str) -> None: ...
    def to_json(self) -> dict[str, Any]: ...


class Walk:
    """`room` says for how many more URLs there is room; what is found beyond is counted as skipped."""

    def __init__(
        self, job: JobContext, site: Site, frontier: Frontier, tally: Tally, *, room: Room, checkpoint_every: int
    ) -> None:
        self._job = job
        self._site = site
        self._frontier = frontier
        self._tally = tally
        self._room = room
        self._every = checkpoint_every
        self._since = 0
        self._silent: list[Visit] = []

    def offer(self, url: str, depth: int) -> bool:
        """Whether `url` is new, belongs to the job, and found room."""
        if depth > self._site.config.max_depth or self._frontier.knows(url):
            return False
        if why := self._site.why_not(url):
            self._tally.skip(why)
            return False
        if self._room() <= 0 or not self._frontier.add(url, depth):
            self._tally.skip(NO_ROOM)
            return False
        return True

    def visits(self) -> Iterator[Visit]:
        """Fetches what waits, one page after another, noting each. The caller stops whenever it has enough."""
        while (entry := self._frontier.take()) is not None:
            visit = self._visit(entry)
            if visit is None:
                continue
            if visit.fetched.unreachable:
                self._wait_and_see(visit)
            else:
                yield from self._note_silent()
                self._note(visit)
                yield visit
            self._count()
        yield from self._note_silent()

    def save(self) -> None:
        """Stores a checkpoint now."""
        self._since = 0
        self._job.save_checkpoint(build(self._frontier, self._tally.to_json()))

    def _visit(self, entry: Entry) -> Visit | None:
        url, _depth = entry
        if (why := self._site.why_not(url)) is not None:
            if url == self._site.config.url and why == ROBOTS:
                self._site.check_start(self._site.start_rules())
            self._tally.skip(why)
            self._frontier.settle(entry)
            return None
        if url == self._site.config.url:
            fetched = self._site.fetch_page(url, lambda _target: False)  # its links are needed, wherever it leads
            _check_start_page(fetched)
        else:
            fetched = self._site.fetch_page(url, self._frontier.was_visited)
        return Visit(entry, fetched, self._read(fetched))

    def _read(self, fetched: Fetched) -> Page | None:
        if not (fetched.is_html and fetched.body and fetched.status is not None and fetched.status < 300):
            return None
        if fetched.cut:
            self._site.notices.note("cut", "read the first %d bytes only: %s", len(fetched.body), fetched.final_url)
        text, _encoding = decode(fetched.body, fetched.content_type)
        return read_page(text, fetched.final_url, most_links=self._site.limits.links_per_page)

    def _note(self, visit: Visit) -> None:
        # Links first: a stop in the middle of them finds the page still waiting, and none of them is lost.
        for link in visit.page.links if visit.page else ():
            if link not in visit.fetched.redirects:
                self.offer(link, visit.entry[1] + 1)
        self._frontier.settle(visit.entry, also=visit.fetched.redirects)
        self._tally.add(visit)

    def _count(self) -> None:
        self._since += 1
        if self._since >= self._every:
            self.save()

    def _wait_and_see(self, visit: Visit) -> None:
        """A page that could not be reached is noted once another one could. After several in a row the site is gone,
        and the job fails with all of them still waiting, for its next run."""
        self._silent.append(visit)
        if len(self._silent) >= self._site.limits.silent_pages:
            self.save()
            raise_failure(visit.fetched, f"{len(self._silent)} pages in a row, the last of which")

    def _note_silent(self) -> Iterator[Visit]:
        silent, self._silent = self._silent, []
        for visit in silent:
            self._note(visit)
            yield visit

    @contextmanager
    def saved_when_stopped(self) -> Iterator[None]:
        """Whatever stops the run inside, a checkpoint is stored first: the page under way still waits in it."""
        try:
            yield
        except RunLost:
            raise  # another worker has the job: its checkpoint is not ours to write
        except StopRun:
            self._save_while_stopping()
            raise

    def _save_while_stopping(self) -> None:
        try:
            self.save()
        except Exception:
            # What stops the run matters more than the last few pages; the checkpoint before this one still counts.
            self._job.log.exception("the checkpoint could not be saved while stopping")


def _check_start_page(fetched: Fetched) -> None:
    failed = fetched.status is None or fetched.status >= 400
    if failed or fetched.location is not None or (fetched.cause is not None and not fetched.body):
        raise_failure(fetched, "the start page")
