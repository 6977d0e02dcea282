"""`manage.py dlq` and `manage.py operation`: the same doors, for a shell."""

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from jobs.models import AuditEntry, Job, Operation
from tests.operations.bulk_helpers import dead, trash
from tests.queue.helpers import insert, row


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def refused(*arguments: str) -> tuple[int, str]:
    with pytest.raises(CommandError) as error:
        run(*arguments)
    return error.value.returncode, str(error.value)


def test_a_redrive_is_worked_on_at_once_and_audited_as_a_command(conn: Any) -> None:
    dead(conn, 5, tenants=5)
    said = run("dlq", "retry", "--tenant", "t1", "--tenant", "t2", "--reason", "proxy is back", "--yes")
    assert "done; 1 done, 0 skipped, 0 failed of 1" in said
    assert row(conn, "d2")["status"] == "QUEUED" and row(conn, "d1")["dlq"]
    entry = AuditEntry.objects.get(action="bulk_retry")
    assert entry.actor.startswith("command:") and entry.reason == "proxy is back"
    assert entry.filter == {"tenant": "t2", "state": "DEAD_LETTERED"}


def test_purge_and_restore_by_operation(conn: Any) -> None:
    dead(conn, 4)
    found = json.loads(run("dlq", "purge", "--all", "--reason", "test data", "--yes", "--json"))
    assert (found["kind"], found["state"], found["done"]) == ("purge", "DONE", 4) and len(trash(conn)) == 4
    said = run("operation", "start", "restore", "--filter", f"operation={found['id']}", "--reason", "no", "--yes")
    assert "4 done" in said and Job.objects.filter(dlq=True).count() == 4
    shown = run("operation", "list")
    assert "purge" in shown and "restore" in shown and "test data" in shown
    assert json.loads(run("operation", "show", str(found["id"]), "--json"))["reasons"] == []


def test_nothing_is_never_everything_and_nobody_is_asked_in_vain(conn: Any) -> None:
    dead(conn, 2)
    assert refused("dlq", "retry", "--reason", "x", "--yes")[0] == 2
    assert refused("dlq", "retry", "--all", "--type", "A", "--reason", "x", "--yes")[0] == 2
    assert refused("operation", "start", "cancel", "--reason", "x", "--yes")[0] == 2
    code, text = refused("dlq", "retry", "--all", "--reason", "x")
    assert code == 1 and "Redrive 2 jobs? Nobody can answer here, so nothing was done; add --yes" in text
    assert refused("dlq", "retry", "--type", "NONE", "--reason", "x", "--yes")[0] == 1
    assert refused("operation", "start", "cancel", "--filter", "colour=red", "--reason", "x", "--yes")[0] == 2
    assert refused("dlq", "retry", "--all", "--reason", "x", "--yes", "--brake", "many")[0] == 2
    assert refused("operation", "start", "priority", "--all", "--reason", "x", "--yes")[0] == 2
    assert not Operation.objects.exists()


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("dlq", "retry", "--all", "--reason", "x" * 2_001), "reason: it is longer than 2,000 characters"),
        (("dlq", "retry", "--all", "--reason", "\udcff"), "no UTF-8"),
        (("dlq", "retry", "--type", "\udcff", "--reason", "x"), "no UTF-8"),
        (("dlq", "retry", "--all", "--reason", "x", "--brake", "²"), "--brake"),
        (("dlq", "retry", "--all", "--reason", "x", "--brake-wait", "soon"), "--brake-wait"),
    ],
)
def test_what_cannot_be_kept_or_read_is_told_in_a_line(conn: Any, words: tuple[str, ...], names: str) -> None:
    dead(conn, 1)
    code, text = refused(*words, "--yes")
    assert code == 2 and names in text
    assert not Operation.objects.exists() and not AuditEntry.objects.exists()


def test_steering_and_its_refusals(conn: Any) -> None:
    dead(conn, 3)
    said = json.loads(run("dlq", "retry", "--all", "--reason", "x", "--yes", "--detach", "--json", "--rate", "5"))
    number = str(said["id"])
    assert said["state"] == "PENDING"
    assert run("operation", "pause", number, "--reason", "look").strip() == f"paused: {number}"
    assert refused("operation", "pause", number, "--reason", "look") == (
        1,
        f"operation {number} is Paused; nothing changed by pause",
    )
    run("operation", "resume", number, "--reason", "ok", "--rate", "60")
    run("operation", "stop", number, "--reason", "enough")
    assert "stopped" in run("operation", "show", number)
    assert refused("operation", "show", "999")[0] == 1


def test_the_queues_dead_letters_in_a_table_and_for_scripts(conn: Any) -> None:
    assert "The DLQ is empty." in run("dlq", "list")
    dead(conn, 3, tenants=2, fingerprint="v1:a", failureType="FATAL")
    insert(conn, "live")
    shown = run("dlq", "list")
    assert "v1:a" in shown and "FATAL" in shown and "boom" in shown
    assert json.loads(run("dlq", "list", "--json"))[0] | {"latest": ""} == {
        "type": "CRAWL", "group": "v1:a", "failure_type": "FATAL", "jobs": 3, "tenants": 2, "latest": "", "error": "boom",
    }  # fmt: skip


def test_a_redrive_that_leaves_every_row_is_an_exit_code(conn: Any) -> None:
    dead(conn, 1, uniqueKey="k")
    insert(conn, "live", uniqueKey="k")
    code, text = refused("dlq", "retry", "--all", "--reason", "x", "--yes")
    assert code == 1 and "nothing was done: 1 of 1 stay as they were; manage.py operation show" in text
    assert row(conn, "d1")["dlq"]
    dead(conn, 1, prefix="e")
    assert "1 done, 1 skipped" in run("dlq", "retry", "--all", "--reason", "x", "--yes")


def test_a_failed_row_is_an_exit_code(conn: Any) -> None:
    dead(conn, 3)
    conn.execute(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not this one'; END $$"
    )
    conn.execute("""CREATE TRIGGER refuse BEFORE UPDATE ON "PlatformJob" FOR EACH ROW WHEN (OLD.id = 'd2')
                    EXECUTE FUNCTION refuse()""")
    try:
        assert refused("dlq", "retry", "--all", "--reason", "x", "--yes") == (1, "1 rows failed")
    finally:
        conn.execute('DROP TRIGGER refuse ON "PlatformJob"')
        conn.execute("DROP FUNCTION refuse()")
