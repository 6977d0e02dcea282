"""What a cap will do, in sentences, before it is set. No database: every figure is an argument."""

from jobs.console.words import plural


def effect(name: str, limit: int | None, running: int, queued: int, others: int = 0) -> list[str]:
    """What happens when `limit` (None: unlimited) comes into force while so many run and wait.

    `others`: runs of other programs' workers among them.
    """
    run, wait = "runs" if running == 1 else "run", "waits" if queued == 1 else "wait"
    said = [f"{plural(running, 'job')} of {name} {run} now, {queued:,} {wait}."]
    said.append(_then(name, limit, running, queued))
    if others:
        said.append(f"{plural(others, 'run')} of these {'is' if others == 1 else 'are'} another program’s.")
    return said


def _then(name: str, limit: int | None, running: int, queued: int) -> str:
    if limit == 0:
        ends = "The one that runs finishes" if running == 1 else f"The {running:,} that run finish"
        return f"A cap of 0 suspends {name}: nothing more of it starts. " + (f"{ends}." if running else "")
    if limit is not None and limit < running:
        start = f"nothing starts until fewer than {limit:,} run"
        return f"With {limit:,} nothing is stopped: all {running:,} finish, and {start}."
    more = queued if limit is None else min(queued, limit - running)
    with_ = "Without a limit" if limit is None else f"With {limit:,}"
    if not more:
        return f"{with_} nothing starts that could not start now."
    return (
        f"{with_} up to {running + more:,} run: {more:,} more may start at once, as slots, pauses and other caps allow."
    )


def default_words(default: int | None) -> str:
    """`4`, or that there is none."""
    return "unlimited" if default is None else f"{default:,}"
