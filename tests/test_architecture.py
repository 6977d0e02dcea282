"""One door for each change of state: nothing outside it writes a job."""

import ast
import re
from pathlib import Path

import pytest

from jobs.domain.states import ACTIVE, ENDED, TRANSITIONS, WORDS, JobStatus
from jobs.queue import transitions

ROOT = Path(__file__).resolve().parent.parent
DOOR = ROOT / "jobs/queue/transitions"
SQL = ROOT / "jobs/queue/sql"
# The counterpart of the door in the database: what `turn`, `finish`, `claim_job` and `prune` call.
FUNCTIONS = {"30_claim.sql", "40_finish.sql", "50_retention.sql"}

WRITES_STATUS = re.compile(
    r'INSERT INTO "PlatformJob"|DELETE FROM "PlatformJob"|\bSET\s+(?:(?!\bWHERE\b|\bFROM\b).)*?\bstatus\s*=', re.DOTALL
)
WRITES_A_JOB = re.compile(r'(?:INSERT INTO|UPDATE|DELETE FROM|TRUNCATE|COPY)\s+\\?"PlatformJob\\?"', re.IGNORECASE)
ORM_WRITES = {"create", "bulk_create", "update", "bulk_update", "get_or_create", "update_or_create", "delete", "save",
              "acreate", "aupdate", "adelete", "asave"}  # fmt: skip


def product_files(pattern: str) -> list[Path]:
    return [
        path
        for folder in ("jobs", "detiq_admin")
        for path in sorted((ROOT / folder).rglob(pattern))
        if "migrations" not in path.parts
    ]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def sql_without_comments(path: Path) -> str:
    return re.sub(r"--[^\n]*", "", path.read_text())


def status_writers() -> set[str]:
    """The statements that make, move or remove a job."""
    return {
        path.stem
        for path in SQL.glob("*.sql")
        if '"PlatformJob"' in path.read_text() and WRITES_STATUS.search(sql_without_comments(path))
    }


def test_the_search_for_writers_finds_those_we_know() -> None:
    assert {"enqueue", "track", "request_cancel", "retry", "promote", "purge", "restore"} <= status_writers()
    assert not {"beat", "look", "report_progress", "save_checkpoint", "silent_runs"} & status_writers()


def test_only_the_door_runs_a_statement_that_writes_a_status() -> None:
    writers = status_writers() | {"turn", "finish", "claim_job", "prune"}
    for path in product_files("*.py"):
        if DOOR in path.parents:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("run", "statements.run", "statement"):
                first = node.args[0] if node.args else None
                used = first.value if isinstance(first, ast.Constant) else None
                assert used not in writers, f"{name(path)}:{node.lineno} runs {used}: that is the door's"


def test_only_the_doors_functions_write_a_status_in_the_database() -> None:
    for path in (SQL / "functions").glob("*.sql"):
        writes = re.search(r'(?:INSERT INTO|UPDATE|DELETE FROM) "PlatformJob"', sql_without_comments(path))
        assert not writes or path.name in FUNCTIONS, f"{name(path)} writes jobs"


def test_no_python_file_holds_sql_that_writes_a_job() -> None:
    for path in product_files("*.py"):
        assert not WRITES_A_JOB.search(path.read_text()), f"{name(path)} writes jobs with SQL of its own"


def test_nothing_writes_a_job_through_the_orm() -> None:
    for path in product_files("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ORM_WRITES:
                target = ast.unparse(node.func.value)
                assert (
                    not re.match(r"(Job|job|jobs|self\.job)\b(?!\w)", target) or "." not in target and target == "jobs"
                ), f"{name(path)}:{node.lineno} {target}.{node.func.attr}() writes a job"


def test_no_attribute_named_status_is_assigned_on_a_job() -> None:
    for path in product_files("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            targets = node.targets if isinstance(node, ast.Assign) else []
            for target in targets:
                if isinstance(target, ast.Attribute) and target.attr == "status":
                    assert "job" not in ast.unparse(target.value).lower(), f"{name(path)}:{node.lineno}"


# Outcomes that one function records: their names are the table's, their code is `finish`.
BY_FINISH = {"complete", "retry_later", "dead_letter", "release", "cancel"}


@pytest.mark.parametrize("transition", sorted({one.name for one in TRANSITIONS} - BY_FINISH - {"claim"}))
def test_every_transition_of_the_table_is_a_function_of_the_door(transition: str) -> None:
    assert callable(getattr(transitions, transition))


def test_every_status_has_a_word() -> None:
    assert set(JobStatus) <= set(WORDS)


# --- Every list of statuses comes from one place ----------------------------------------------------------------------
# In SQL they have to be written out; a list of ends that forgets one would keep its job open for ever.
STATUS_LIST = re.compile(r"\(\s*('[A-Z_]+'(?:\s*,\s*'[A-Z_]+')+)\s*\)")


def test_every_list_of_ends_in_sql_knows_all_of_them() -> None:
    seen = 0
    for path in product_files("*.sql"):
        for found in STATUS_LIST.findall(sql_without_comments(path)):
            statuses = set(re.findall(r"'([A-Z_]+)'", found))
            if statuses >= {"DONE", "FAILED"} and not statuses & ACTIVE:
                seen += 1
                assert statuses == ENDED, f"{name(path)}: {found}"
    assert seen, "the search finds none at all"


def test_no_python_file_but_the_domains_lists_ends_of_its_own() -> None:
    for path in product_files("*.py"):
        if path.name == "states.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Set | ast.Tuple | ast.List):
                words = {one.value for one in node.elts if isinstance(one, ast.Constant)}
                words |= {one.attr for one in node.elts if isinstance(one, ast.Attribute)}
                assert not words >= {"DONE", "FAILED"}, f"{name(path)}:{node.lineno} {ast.unparse(node)}"
