"""What goes wrong with a site as a whole. A single page that fails is a recorded result and raises nothing."""


class InvalidConfig(ValueError):
    """A key of the job's config cannot be used; the text names it. Only another config can succeed."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"invalid input: {key}: {problem}")
        self.key = key


class AddressRefused(ValueError):
    """This worker makes no connection to that address; the text names the host and says why."""

    def __init__(self, host: str, why: str) -> None:
        super().__init__(f"invalid input: host {host} is refused: {why}")
        self.host = host
        self.why = why


class RobotsRefused(Exception):
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


class SiteUnreachable(ConnectionError):
    """The site gave no answer at all; another run may reach it. The network's own error is the cause."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"the site gave no answer ({reason}): {url}")
        self.url = url
        self.reason = reason
