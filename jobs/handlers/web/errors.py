"""What goes wrong with a site as a whole. A single page that fails is a recorded result and raises nothing.

Names and texts keep clear of the words that tell of a service of our own being down (refused, unreachable): failures are
classified by such words, and a customer's site that is down must not read like our database.
"""

from jobs.domain.errors import InvalidInput


class InvalidJobInput(InvalidInput):
    """A key of the job's config cannot be used; the text names it. Only another config can succeed."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"invalid input: {key}", problem)
        self.field = self.key = key


class AddressNotAllowed(ValueError):
    """This worker makes no connection to that address; the text names the host and says why."""

    def __init__(self, host: str, why: str) -> None:
        super().__init__(f"invalid input: host {host} is not allowed: {why}")
        self.host = host
        self.why = why


class RobotsDisallow(Exception):
    """The site's robots.txt does not let us fetch the page that the job starts from."""

    def __init__(self, url: str, agent: str) -> None:
        super().__init__(f"invalid input: url: robots.txt does not allow {agent} to fetch {url}")
        self.url = url


class SiteAnswered(Exception):
    """The site answered, but not with what the job needs. `status` is the HTTP status, `retry_after` seconds or
    None."""

    def __init__(self, what: str, url: str, status: int, retry_after: float | None = None) -> None:
        super().__init__(f"{what} answered HTTP {status}: {url}")
        self.url = url
        self.status = status
        self.retry_after = retry_after


class NoAnswer(ConnectionError):
    """The site gave no answer at all; another run may reach it. The reason says what the network said; the chain of
    the client's errors, which is long and tells no more, is left out."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"the site gave no answer ({reason}): {url}")
        self.url = url
        self.reason = reason
