"""A crawl's checkpoint: `visitedUrls` and `pendingQueue`, which another crawler reads and writes too, and a part of
our own.

What comes back may be another program's, or damaged. It is used as far as it can be understood; the rest is skipped
and logged.
"""

from collections.abc import Callable, Iterator
from typing import Any

from jobs.handlers.web.frontier import Entry, Frontier
from jobs.handlers.web.report import Log
from jobs.handlers.web.urls import canonical

OWN = "detiq"
_URL_KEYS = ("url", "href", "loc")
_MOST_ENTRIES = 100_000
_UNKNOWN_DEPTH = 1


def build(frontier: Frontier, own: dict[str, Any]) -> dict[str, Any]:
    """The JSON that `restore` reads. Pending entries are objects with `url` and `depth`."""
    return {
        "visitedUrls": frontier.visited(),
        "pendingQueue": [{"url": url, "depth": depth} for url, depth in frontier.waiting()],
        OWN: own,
    }


def restore(
    data: Any, frontier: Frontier, *, belongs: Callable[[str], bool], most_depth: int, log: Log
) -> dict[str, Any] | None:
    """Fills `frontier` from a checkpoint and returns our own part of it ({} if it has none); None if there is nothing
    to go on from, so that the job begins anew, though without the pages that are known as visited."""
    if data is None:
        return None
    if not isinstance(data, dict):
        log.warning("the checkpoint is a %s, not an object; the job begins anew", type(data).__name__)
        return None
    skipped = _fill_visited(data.get("visitedUrls"), frontier)
    pending = data.get("pendingQueue")
    if not isinstance(pending, list):
        log.warning("the checkpoint has no list pendingQueue; the job begins anew, %d pages known", frontier.known)
        return None
    skipped += _fill_waiting(pending, frontier, belongs, most_depth)
    if skipped:
        log.warning("%d entries of the checkpoint were not understood and are skipped", skipped)
    log.info("resumed from a checkpoint: %d visited, %d waiting", len(frontier.visited()), len(frontier))
    own = data.get(OWN)
    return own if isinstance(own, dict) else {}


def _fill_visited(value: Any, frontier: Frontier) -> int:
    if not isinstance(value, list):
        return 0 if value is None else 1
    skipped = 0
    for entry in value[:_MOST_ENTRIES]:
        url = _url_of(entry)
        if url is not None and frontier.has_space_for(url):
            frontier.mark_visited(url)
        else:
            skipped += 1
    return skipped + max(0, len(value) - _MOST_ENTRIES)


def _fill_waiting(value: list[Any], frontier: Frontier, belongs: Callable[[str], bool], most_depth: int) -> int:
    skipped = max(0, len(value) - _MOST_ENTRIES)
    for entry in _entries(value[:_MOST_ENTRIES]):
        if entry is None or not belongs(entry[0]) or entry[1] > most_depth:
            skipped += 1
        elif not frontier.was_visited(entry[0]):
            frontier.add(*entry)
    return skipped


def _entries(value: list[Any]) -> Iterator[Entry | None]:
    for entry in value:
        url = _url_of(entry)
        yield None if url is None else (url, _depth_of(entry))


def _url_of(entry: Any) -> str | None:
    if isinstance(entry, dict):
        entry = next((entry[key] for key in _URL_KEYS if key in entry), None)
    elif isinstance(entry, list):
        entry = entry[0] if entry else None
    return canonical(entry) if isinstance(entry, str) else None


def _depth_of(entry: Any) -> int:
    if isinstance(entry, dict):
        depth = entry.get("depth")
    else:
        depth = entry[1] if isinstance(entry, list) and len(entry) > 1 else None
    known = isinstance(depth, int) and not isinstance(depth, bool) and depth >= 0
    return depth if known and depth is not None else _UNKNOWN_DEPTH
