"""Whatever is done to the queue, in any order: every column, the history and the counters are what the rules say.

`DETIQ_MODEL_EXAMPLES=500` looks for longer, with other examples every time, and shrinks what fails.
"""

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.machine import QueueMachine
from tests.model.reference import COLUMNS

EXAMPLES = int(os.environ.get("DETIQ_MODEL_EXAMPLES", "0"))
PROFILE = settings(
    max_examples=EXAMPLES or 50,
    stateful_step_count=100 if EXAMPLES else 50,
    derandomize=not EXAMPLES,
    phases=[Phase.generate, Phase.shrink] if EXAMPLES else [Phase.generate],  # shrinking takes minutes
    deadline=None,
    database=None,
    print_blob=False,
    suppress_health_check=list(HealthCheck),
)


def test_the_model_knows_every_column(conn: Any) -> None:
    stored = conn.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = '\"PlatformJob\"'::regclass AND attnum > 0"
    )
    assert {name for (name,) in stored.fetchall()} == set(COLUMNS)


@pytest.mark.timeout(max(300, EXAMPLES * 30))
def test_the_queue_does_what_the_rules_say(conn: Any) -> None:
    QueueMachine.conn = conn
    run_state_machine_as_test(QueueMachine, settings=PROFILE)
