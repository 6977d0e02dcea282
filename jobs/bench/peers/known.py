"""Which peers there are, and which of them are installed."""

from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

from jobs.bench.server import BenchRefused


@dataclass(frozen=True)
class Known:
    """`distribution`: the Python package it is. `command`: how to start one that lives elsewhere."""

    title: str
    module: str
    distribution: str = ""
    env: dict[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()

    @property
    def ours(self) -> bool:
        return not self.distribution and not self.command

    @property
    def name(self) -> str:
        return f"{self.title} {version(self.distribution)}" if self.distribution else self.title


OURS = Known("detiq", "detiq", env={"JOB_HANDLER_MODULES": "jobs.bench.handlers"})
OURS_BY_SQL = Known("detiq, plain INSERT", "detiq_sql", env=OURS.env)
PEERS = (
    Known("pgqueuer", "pgqueuer", "pgqueuer"),
    Known("pgqueuer (batch 50)", "pgqueuer", "pgqueuer", {"DETIQ_BENCH_PGQUEUER_BATCH": "50"}),
    Known("procrastinate", "procrastinate", "procrastinate"),
    Known("oban", "oban", "oban"),
)


def peers() -> tuple[Known, ...]:
    """All peers. Raises `BenchRefused` when they are not installed."""
    for peer in PEERS:
        try:
            version(peer.distribution)
        except PackageNotFoundError as error:
            raise BenchRefused(
                f"{peer.distribution} is not installed. Peers are an optional group: "
                "`uv run --group peers manage.py bench --peers`."
            ) from error
    return PEERS
