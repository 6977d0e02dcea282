"""Which URLs were visited and which wait, in order, each once. First come, first fetched: the site level by level."""

from collections import deque
from collections.abc import Iterable, Iterator

type Entry = tuple[str, int]
"""A URL and its depth: how many links lead from the start page to it."""


class Frontier:
    """Bounded: it never holds URLs of more than `most_chars` characters in all."""

    def __init__(self, most_chars: int) -> None:
        self._most_chars = most_chars
        self._chars = 0
        self._visited: dict[str, None] = {}
        self._waiting: deque[Entry] = deque()
        self._known: set[str] = set()
        self._out: list[Entry] = []

    def __len__(self) -> int:
        """How many URLs wait, those taken and not settled included."""
        return len(self._waiting) + len(self._out)

    @property
    def known(self) -> int:
        return len(self._known)

    def knows(self, url: str) -> bool:
        return url in self._known

    def was_visited(self, url: str) -> bool:
        return url in self._visited

    def add(self, url: str, depth: int) -> bool:
        """Whether `url` is new and was put at the end."""
        if url in self._known or not self._remember(url):
            return False
        self._waiting.append((url, depth))
        return True

    def has_space_for(self, url: str) -> bool:
        return self._chars + len(url) <= self._most_chars

    def take(self) -> Entry | None:
        """The next entry. Until it is settled or put back it still counts as waiting: a stop loses nothing."""
        while self._waiting:
            entry = self._waiting.popleft()
            if entry[0] not in self._visited:  # a redirect may have led there meanwhile
                self._out.append(entry)
                return entry
        return None

    def settle(self, entry: Entry, also: Iterable[str] = ()) -> None:
        """`entry` is done, and so are the URLs that its redirects led to."""
        self._out.remove(entry)
        self.mark_visited(entry[0])
        for url in also:
            self.mark_visited(url)

    def mark_visited(self, url: str) -> None:
        """Nothing more is fetched from `url`. It is kept even if there is no space: a page must not be fetched
        twice."""
        if url not in self._known:
            self._known.add(url)
            self._chars += len(url)
        self._visited[url] = None

    def begin_at(self, url: str) -> None:
        """Puts `url` at the end with depth 0, also when it was visited: its links are needed."""
        self._visited.pop(url, None)
        if not self.add(url, 0):
            self._waiting.append((url, 0))

    def visited(self) -> list[str]:
        return list(self._visited)

    def waiting(self) -> Iterator[Entry]:
        """Those taken first, then the others in order."""
        yield from self._out
        yield from (entry for entry in self._waiting if entry[0] not in self._visited)

    def _remember(self, url: str) -> bool:
        if not self.has_space_for(url):
            return False
        self._known.add(url)
        self._chars += len(url)
        return True
