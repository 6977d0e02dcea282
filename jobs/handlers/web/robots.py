"""robots.txt (RFC 9309): what may be fetched, how fast, and where the sitemaps are.

An answer in the 400s means that there are no rules. No answer, or one in the 500s or 429, means that nothing may be
fetched until the rules are known: the standard asks for it, and a site in trouble is not made worse.
"""

from dataclasses import dataclass

from protego import Protego

from jobs.handlers.web.fetch import Fetched, Fetcher
from jobs.handlers.web.limits import MAX_URL_CHARS, USER_AGENT_TOKEN, Limits
from jobs.handlers.web.pace import Pace
from jobs.handlers.web.urls import host, origin, resolve

_MOST_ORIGINS = 8


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one origin. `answer` is how its robots.txt was answered."""

    answer: Fetched
    parsed: Protego | None

    @property
    def known(self) -> bool:
        return self.parsed is not None

    def allow(self, url: str) -> bool:
        return self.parsed is not None and bool(self.parsed.can_fetch(url, USER_AGENT_TOKEN))

    @property
    def delay_seconds(self) -> float:
        """The pause that the rules ask for: a Crawl-delay or a Request-rate, whichever is longer; 0 for none."""
        if self.parsed is None:
            return 0.0
        rate = self.parsed.request_rate(USER_AGENT_TOKEN)
        per_request = rate.seconds / rate.requests if rate and rate.requests else 0.0
        return max(0.0, self.parsed.crawl_delay(USER_AGENT_TOKEN) or 0.0, per_request)

    @property
    def sitemaps(self) -> list[str]:
        """Canonical URLs of the sitemaps that are named, each once."""
        if self.parsed is None:
            return []
        named = (str(entry) for entry in self.parsed.sitemaps)
        found = (resolve(self.answer.url, entry) for entry in named if len(entry) <= MAX_URL_CHARS)
        return list(dict.fromkeys(url for url in found if url))


class Robots:
    """The rules of each origin of a site, fetched once."""

    def __init__(self, fetcher: Fetcher, pace: Pace, limits: Limits) -> None:
        self._fetcher = fetcher
        self._pace = pace
        self._limits = limits
        self._rules: dict[str, Rules] = {}

    def rules(self, url: str) -> Rules:
        """The rules for `url`. Fetches them if they are not known yet, and slows down if they ask for it."""
        where = origin(url)
        if where not in self._rules:
            if len(self._rules) >= _MOST_ORIGINS:
                self._rules.pop(next(iter(self._rules)))
            self._rules[where] = self._fetch(where)
        return self._rules[where]

    def allow(self, url: str) -> bool:
        return self.rules(url).allow(url)

    def _fetch(self, where: str) -> Rules:
        answer = self._fetcher.fetch(f"{where}/robots.txt", most_bytes=self._limits.robots_bytes)
        rules = Rules(answer, _parse(answer))
        if rules.delay_seconds:
            self._pace.ask_for(host(where), rules.delay_seconds)
        return rules


def _parse(answer: Fetched) -> Protego | None:
    if answer.ok:
        return Protego.parse(answer.body.decode("utf-8-sig", "replace"))
    # A robots.txt that redirects for ever, or into nowhere, is taken as not there.
    if answer.status is not None and 300 <= answer.status < 500 and answer.status != 429:
        return Protego.parse("")
    return None
