"""Makes a worker from the settings."""

from collections.abc import Callable

from django.conf import settings
from huey import PostgresHuey

from jobs.conf import conf
from jobs.ledger import hooks
from jobs.queue.connections import connector
from jobs.workers.consumer import JobsConsumer
from jobs.workers.engine import Engine

BUILT_IN_HOOKS = ("jobs.handlers.hooks",)


def new_consumer(
    huey: PostgresHuey, concurrency: int | None = None, on_ready: Callable[[], None] = lambda: None
) -> JobsConsumer:
    """A worker of so many slots; None: `JOB_WORKER_CONCURRENCY`."""
    hooks.load([*BUILT_IN_HOOKS, *conf().ledger_handler_modules])
    engine = Engine(conf(), connector(settings.DATABASES["default"]), concurrency or conf().concurrency, on_ready)
    return JobsConsumer(huey, engine)
