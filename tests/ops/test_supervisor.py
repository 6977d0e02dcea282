"""The supervisor with small children: what it promises does not depend on what the parts do."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import psutil
import pytest

from detiq_admin.supervisor import Part, PartFailed, Supervisor
from tests.processes import ROOT

READY = "from detiq_admin import lifeline; lifeline.watch(1); lifeline.ready()\n"
SLEEPS = READY + "import time\nwhile True: time.sleep(0.05)"
NEEDS_TWO_SIGNALS = """
import signal, time
asked = []
signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
from detiq_admin import lifeline; lifeline.ready()
while len(asked) < 2: time.sleep(0.02)
print("asked twice", flush=True)
"""


class Said(list):
    def __call__(self, part: str, text: str) -> None:
        self.append((part, text))


class NeverAsked:
    """Stands for the signals of a process that nobody stops; `hurry` is a further Ctrl-C."""

    hurry = False

    def wait(self, seconds: float) -> bool:
        time.sleep(min(seconds, 0.02))
        return self.hurry


def part(tmp_path: Path, name: str, code: str, stop_seconds: float = 5) -> Part:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return Part(name, [sys.executable, "-c", code], env, tmp_path / f"{name}.log", stop_seconds=stop_seconds)


@pytest.fixture
def stop() -> NeverAsked:
    return NeverAsked()


@pytest.fixture
def supervisor(stop: NeverAsked):
    made = Supervisor(stop, Said())  # type: ignore[arg-type]
    yield made
    made.stop()


def test_a_part_that_ends_at_once_fails_the_start_with_its_last_line(supervisor, tmp_path):
    with pytest.raises(PartFailed, match=r"worker ended at once \(exit code 3\): no such setting"):
        list(supervisor.start(part(tmp_path, "worker", "print('no such setting'); raise SystemExit(3)")))


def test_a_dead_part_is_started_again(tmp_path, stop):
    said = Said()
    supervisor = Supervisor(stop, said)
    steady = part(tmp_path, "worker", SLEEPS)
    list(supervisor.start(steady))
    first = steady.pid
    os.kill(first, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while steady.pid == first and time.monotonic() < deadline:
        steady.restart_if_due(supervisor._lifeline, said)
        time.sleep(0.05)
    assert psutil.Process(steady.pid).is_running()
    assert "SIGKILL" in said[0][1]
    supervisor.stop()
    assert not psutil.pid_exists(steady.pid)


def test_parts_stop_in_turn_the_last_started_first(supervisor, tmp_path):
    log = tmp_path / "order"
    for name in ("worker", "console"):
        code = (
            f"import signal, sys, time\n"
            f"def end(*_):\n    open({str(log)!r}, 'a').write({name!r} + ' ')\n    sys.exit()\n"
            f"signal.signal(signal.SIGTERM, end)\n{READY}while True: time.sleep(0.05)"
        )
        list(supervisor.start(part(tmp_path, name, code)))
    supervisor.stop()
    assert log.read_text().split() == ["console", "worker"]


def test_a_second_signal_is_passed_on_as_a_second_signal(supervisor, stop, tmp_path):
    slow = part(tmp_path, "worker", NEEDS_TWO_SIGNALS, stop_seconds=60)
    list(supervisor.start(slow))
    threading.Timer(0.3, setattr, (stop, "hurry", True)).start()
    started = time.monotonic()
    supervisor.stop()
    assert time.monotonic() - started < 5
    assert "asked twice" in slow.log.read_text()


def test_a_part_that_will_not_stop_is_killed(supervisor, tmp_path):
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SLEEPS
    stubborn = part(tmp_path, "worker", deaf, stop_seconds=0.5)
    list(supervisor.start(stubborn))
    supervisor.stop()
    assert not psutil.pid_exists(stubborn.pid)


@pytest.mark.parametrize("child", [SLEEPS, "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SLEEPS])
def test_a_killed_parent_leaves_no_child(tmp_path, child):
    parent = textwrap.dedent(f"""
        import os, sys, time
        from pathlib import Path
        from detiq_admin.supervisor import Part, Supervisor
        s = Supervisor(None, print)
        p = Part("worker", [sys.executable, "-c", {child!r}], os.environ, Path({str(tmp_path / "log")!r}), stop_seconds=5)
        list(s.start(p))
        print(p.pid, flush=True)
        time.sleep(60)
    """)
    started = subprocess.Popen([sys.executable, "-c", parent], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    orphan = psutil.Process(int(started.stdout.readline()))
    started.kill()
    started.communicate()
    deadline = time.monotonic() + 6
    while _runs(orphan) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(orphan)


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
