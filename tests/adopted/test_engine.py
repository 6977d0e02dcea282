"""The engine's own tests and those of the main pages, run again on databases whose tables another program made."""

import os
import subprocess
import sys

import pytest

from tests.adopted.other_program import VARIABLE
from tests.processes import ROOT, database_url

# What depends on the tables' making, on each of the two; what a whole worker does on them is shown by a few.
# `DETIQ_TEST_ADOPTED=all` runs all of tests/queue on both.
ENGINE = ["tests/queue/test_transitions.py", "tests/queue/test_claim.py", "tests/queue/test_sweep.py"]
MODULES = {
    "text": ["tests/queue/test_transitions.py"],
    "enum": [
        *ENGINE,
        "tests/console/test_overview.py",
        "tests/console/test_jobs_list.py",
        "tests/console/test_filters.py",
        "tests/console/test_export.py::test_numbers_stay_numbers_times_are_iso_and_nothing_is_empty",
        "tests/queue/test_waiting.py",
        "tests/operations/test_bulk.py::test_each_kind_does_what_it_says_to_each_row",
        "tests/operations/test_bulk.py::test_a_purge_can_be_undone_in_every_column",
        "tests/console/test_bulk.py::test_a_preview_says_what_will_happen_split_and_sampled",
        "tests/workers/test_worker.py::test_a_killed_workers_job_goes_on_from_its_checkpoint",
    ],
}
if os.environ.get("DETIQ_TEST_ADOPTED") == "all":
    MODULES = {schema: ["tests/queue", *modules] for schema, modules in MODULES.items()}
LEFT_OUT = [
    "longest_wait",  # compares microseconds with a column of milliseconds
    "offset_of_their_own_day",  # writes in a session that is not in UTC, which a column without zone cannot bear
    "as_if_enqueued_alone",  # compares every column, the other program's "updatedAt" too
    "hostile",  # writes a text into every column, which no enum takes; the same of the two below
    "begins_like_a_formula",
    "another_programs_making",
    "never_sought_among_all",  # the other program's own indexes are there to choose from
    "huge_job",  # nothing in it depends on the tables' making
]


@pytest.mark.timeout(400)
@pytest.mark.parametrize("schema", list(MODULES))
def test_the_engine_works_on_tables_that_another_program_made(schema: str, db: None) -> None:
    name = f"adopted_{schema}"
    env = {
        **{key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "DATABASE_"))},
        VARIABLE: schema,
        "DETIQ_TEST_DATABASE_URL": database_url(name),
        "DETIQ_TEST_DIR": f"{os.environ['DETIQ_TEST_DIR']}-{name}",
    }
    chosen = " and ".join(f"not {one}" for one in LEFT_OUT)
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "-k", chosen]
    run = subprocess.run(
        [*command, *MODULES[schema]],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert run.returncode == 0, "\n".join(run.stdout.splitlines()[-80:])
