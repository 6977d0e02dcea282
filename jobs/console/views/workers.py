"""Workers: processes, slots, what each runs, whether it knows the pauses in force, and who ended lately."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from jobs.console.queries import workers as read
from jobs.console.queries.db import database_now, limited
from jobs.console.queries.overview import Snapshot, shared
from jobs.console.queries.workers import WorkerLine
from jobs.console.views.render import show
from jobs.rows import Row

SHOWN_WORKERS = 500
SHOWN_RUNS = 8
SHOWN_SILENT = 20
SHOWN_INLINE = 20
SHOWN_ENDED = 8


@require_safe
def workers(request: HttpRequest) -> HttpResponse:
    """The registry: who runs what, who is silent, who stopped in the last days."""
    snapshot = shared.get()
    every = request.GET.get("ended") == "all"
    with limited():
        rows = read.lines(snapshot.live)
        ended, ended_count = read.ended(SHOWN_WORKERS if every else SHOWN_ENDED, {row.id for row in rows})
        runs = read.runs()
        now = database_now()
    alive = [row for row in rows if row.alive]
    silent = [row for row in rows if row.silent]
    silent_runs = [run for run in runs if run["silent"]]
    inline = [run for run in runs if run["inline"]]
    shown, of_worker = _shown(rows), _by_worker(runs)
    context: dict[str, Any] = {
        "rows": [worker(row, of_worker.get(row.id, []), snapshot) for row in shown],
        "server_now": now,
        "alive": len(alive),
        "silent": len(silent),
        "silent_runs": silent_runs[:SHOWN_SILENT],
        "silent_count": len(silent_runs),
        "inline": inline[:SHOWN_INLINE],
        "inline_count": len(inline),
        "ended": ended,
        "ended_count": ended_count,
        "left": len(rows) - len(shown),
        "region_url": request.get_full_path(),
        "used": sum(row.running for row in alive),
        "slots": sum(row.slots for row in alive),
        "silent_after": read.silent_after(),
        "versions": sorted({row.version for row in alive if row.version}),
        "pauses": snapshot.pauses,
        "newest_pause": newest_pause(snapshot),
    }
    return show(request, "console/workers.html", context)


def _shown(rows: list[WorkerLine]) -> list[WorkerLine]:
    """As many as a page bears, in their order; nobody who is silent is left out for who is not."""
    places = sorted(range(len(rows)), key=lambda place: (not rows[place].silent, place))
    return [rows[place] for place in sorted(places[:SHOWN_WORKERS])]


def _by_worker(runs: list[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for run in runs:
        if not run["inline"]:
            found.setdefault(run["worker_id"], []).append(run)
    return found


def newest_pause(snapshot: Snapshot) -> int | None:
    """The newest pause in force."""
    return max((line.pause.id for line in snapshot.pauses if line.pause.id is not None), default=None)


def worker(line: WorkerLine, runs: list[Row], snapshot: Snapshot) -> dict[str, Any]:
    """One worker, what it runs, and whether it confirms the pauses."""
    return {"line": line, "runs": runs[:SHOWN_RUNS], "more": len(runs) - SHOWN_RUNS,
            "pause": pause_word(line, newest_pause(snapshot))}  # fmt: skip


def pause_word(line: WorkerLine, newest: int | None) -> str:
    """Does it know the pauses in force? A silent worker's word is unknown, never a guess."""
    if newest is None or line.stopped_at:
        return ""
    if not line.known:
        return "obeys only the flag"
    if line.silent:
        return "unknown"
    return "confirmed" if (line.pause_seen or 0) >= newest else "not yet"
