"""Sends one message by apprise, in a process of its own: the library has no time for a whole exchange, and a process can
be ended. Reads JSON from its input: `target`, `title`, `text`, `seconds`."""

import json
import signal
import sys

TAKEN, NOT_TAKEN, NOT_UNDERSTOOD = 0, 1, 3


def main() -> int:
    """Whether the service took it, as an exit code."""
    said = json.load(sys.stdin)
    signal.setitimer(signal.ITIMER_REAL, said["seconds"])  # also when nobody is left who would end this process

    import apprise

    service = apprise.Apprise.instantiate(said["target"], suppress_exceptions=True)
    if service is None:
        return NOT_UNDERSTOOD
    service.redirects = False
    return TAKEN if service.notify(body=said["text"], title=said["title"]) else NOT_TAKEN


if __name__ == "__main__":
    sys.exit(main())
