"""The side that reads: `python -m jobs.artifacts.child NAME`, with the file as its standard input.

A process of its own, because a file was made by anybody: one that makes its reader loop, or fills its memory, ends this
process, which holds no connection and no secret.
"""

import ctypes
import json
import resource
import signal
import sys
from dataclasses import asdict

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Answers with one JSON object on standard output. Arguments: a JSON object with name, masked_keys and limits."""
    from jobs.artifacts.limits import Limits

    _end_with_the_worker()
    asked = json.loads(sys.argv[1])
    limits = Limits(**asked["limits"])
    seconds = max(1, int(limits.seconds) + 1)
    _limit(resource.RLIMIT_CPU, seconds)
    _limit(resource.RLIMIT_AS, limits.memory_bytes)
    _limit(resource.RLIMIT_FSIZE, 1 << 20)
    _limit(resource.RLIMIT_CORE, 0)

    from jobs.artifacts.analysis.analyse import analyse

    with open(0, "rb", closefd=False) as file:  # noqa: PTH123 - a descriptor, no path
        found = analyse(file, asked["name"], asked["masked_keys"], limits)
    sys.stdout.write(json.dumps(asdict(found)))


def _end_with_the_worker() -> None:
    """A worker that is killed takes this process with it. Where the system knows no such wish, the limits end it."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _limit(what: int, value: int) -> None:
    """As low as asked; where the system knows no such limit, the parent's clock still ends it."""
    try:
        _soft, hard = resource.getrlimit(what)
        resource.setrlimit(what, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
    except (ValueError, OSError) as error:
        sys.stderr.write(f"limit {what}: {error}\n")


if __name__ == "__main__":
    main()
