"""Many jobs at once in the console: what is shown is what is done, to no row more, and once."""

import csv
import io
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.core.cache import caches
from django.core.management import CommandError, call_command
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from jobs.console import previews
from jobs.console.bulk import Ask, preview_url
from jobs.console.queries import bulk as read
from jobs.domain.bulk import Kind, Options
from jobs.models import AuditEntry, Job, Operation, OperationItem
from jobs.operations import bulk
from jobs.operations.actions import Person
from jobs.queue import transitions
from tests.console.addresses import ACTIONS, BULK_PAGES, HTMX
from tests.factories import HOSTILE, JobFactory, OperationFactory, everything
from tests.operations.bulk_helpers import work

pytestmark = pytest.mark.django_db


def form(page: str, **more: str) -> dict[str, str]:
    """The fields of a preview's form as a browser would send them, with a reason."""
    names = re.findall(r'<input[^>]*\bname="(\w+)"[^>]*?\bvalue="([^"]*)"', page)
    hidden = {
        name: value.replace("&amp;", "&") for name, value in names if name not in ("checkpoint", "csrfmiddlewaretoken")
    }
    return hidden | {"reason": "proxy rolled back"} | more


def text(response: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


async def whole(response: Any) -> bytes:
    return b"".join([part async for part in response])


# --- The preview ------------------------------------------------------------------------------------------------------
def test_a_preview_says_what_will_happen_split_and_sampled(operator: Client) -> None:
    for tenant, number in (("acme", 3), ("globex", 2)):
        JobFactory.create_batch(number, dead=True, tenant_id=tenant)
    JobFactory(dead=True, tenant_id="globex", redrive_count=1)
    JobFactory(dead=True, tenant_id="globex", unique_key="k")
    JobFactory(unique_key="k", tenant_id="globex")
    JobFactory(done=True, tenant_id="other")
    response = operator.get("/bulk/retry/?type=CRAWL")
    shown = text(response)
    assert "Redrive 5 of 7 jobs" in shown
    assert "1 stay: came back to the DLQ after a redrive" in shown and "1 stay: another active job holds" in shown
    assert "acme 3" in shown and "globex 4" in shown
    assert "match the filter and are not in the set: Queued" in shown and "not in the set: Done" in shown
    assert re.search(
        "manage.py operation start [0-9a-f]{16} --ramp --brake 20/50 --brake-wait 2700s --rate 120 --reason", shown
    )
    assert response.context["acts"] == 5 and len(response.context["found"].sample) == 7


def test_of_more_than_can_be_looked_at_the_counters_say_how_many(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read, "LOOKS", ((3, 2.0),))
    JobFactory.create_batch(5, dead=True, tenant_id="acme")
    JobFactory(dead=True, tenant_id="acme", name="odd")
    shown = text(operator.get("/bulk/retry/?tenant=acme"))
    assert (
        "Redrive ≥ 3 of 6 jobs" in shown and "6 match; the first 3 were looked at" in shown and "6 more then" in shown
    )
    unknown = text(operator.get("/bulk/retry/?tenant=acme&priority=0"))
    assert "Redrive ≥ 3 jobs" in unknown and "the first 3 were looked at" in unknown
    page = operator.get("/bulk/retry/?tenant=acme").content.decode()
    operator.post(ACTIONS["bulk_retry"], form(page, rate=""))
    work(Operation.objects.get().pk)
    assert Job.objects.filter(status="QUEUED").count() == 6


def test_the_preview_and_the_outcomes_are_the_same_numbers(operator: Client) -> None:
    JobFactory.create_batch(4, dead=True)
    JobFactory.create_batch(3, dead=True, redrive_count=2)
    JobFactory(dead=True, unique_key="k")
    JobFactory(unique_key="k")
    page = operator.get("/bulk/retry/?type=CRAWL")
    acts, skips = page.context["acts"], sum(n for n, *_ in page.context["skips"])
    operator.post(ACTIONS["bulk_retry"], form(page.content.decode(), rate=""))
    done = work(Operation.objects.get().pk)
    assert (done.done, done.skipped, done.total) == (acts, skips, acts + skips) == (4, 4, 8)


@pytest.mark.parametrize("address", BULK_PAGES)
def test_previews_of_hostile_rows_and_of_none(admin: Client, address: str) -> None:
    assert admin.get(address).status_code == 200
    for job in everything(HOSTILE):
        if job.status in ("DONE", "CANCELLED"):
            transitions.purge([job.id], actor=HOSTILE, reason=HOSTILE)
    answer = admin.get(address, {"tenant": HOSTILE} if address != "/bulk/restore/" else {})
    assert answer.status_code == 200
    assert "<svg/onload" not in answer.content.decode()


@pytest.mark.parametrize(
    "query",
    [
        "tenant=", "colour=red", "state=", "age=yesterday", "operation=x", "outcome=lost&operation=1", "type=a%00b",
        "state=,", "outcome=failed", "type=CRAWL&type=A", "operation=1&operation=2", "kept=true", "redrives=5&redrives=0",
    ],
)  # fmt: skip
def test_a_part_of_the_filter_that_cannot_be_used_is_never_read_as_everything(operator: Client, query: str) -> None:
    JobFactory.create_batch(3, dead=True)
    assert operator.get(f"/bulk/retry/?{query}").status_code == 422
    response = operator.post(ACTIONS["bulk_retry"], {"query": query, "reason": "x", "typed": "3", "expected": "3"})
    assert response.status_code == 422
    assert not Operation.objects.exists() and not AuditEntry.objects.exists()


@pytest.mark.parametrize("query", ["kept=1", "held=1", "boomerangs=1", "redrives=2"])
def test_what_only_a_redrive_leaves_out_is_refused_elsewhere(admin: Client, query: str) -> None:
    JobFactory.create_batch(2, dead=True)
    assert admin.get(f"/bulk/purge/?type=CRAWL&{query}").status_code == 422
    assert admin.get(f"/bulk/retry/?type=CRAWL&{query}").status_code == 200


def test_a_post_without_its_filter_is_refused(operator: Client) -> None:
    JobFactory.create_batch(3, dead=True)
    assert operator.post(ACTIONS["bulk_retry"], {"reason": "x"}).status_code == 422
    assert not Operation.objects.exists()


def test_only_the_rows_of_the_filter_change(operator: Client) -> None:
    JobFactory.create_batch(40, dead=True, tenant_id="acme")
    JobFactory.create_batch(26, dead=True, tenant_id="other")
    page = operator.get("/bulk/retry/?tenant=acme").content.decode()
    response = operator.post(ACTIONS["bulk_retry"], form(page, rate=""))
    operation = Operation.objects.get()
    assert response["Location"] == f"/operations/{operation.pk}/"
    assert work(operation.pk).done == 40
    assert Job.objects.filter(dlq=True, tenant_id="other").count() == 26
    assert not Job.objects.filter(dlq=True, tenant_id="acme").exists()


def test_everything_needs_the_typed_number(operator: Client) -> None:
    JobFactory.create_batch(12, dead=True)
    page = operator.get("/bulk/retry/").content.decode()
    assert "Type the number of jobs, 12" in page
    for typed in ("", "11", "yes"):
        answer = operator.post(ACTIONS["bulk_retry"], form(page, typed=typed))
        assert answer.status_code == 422 and "type the number" in answer.content.decode()
    assert not Operation.objects.exists()
    assert operator.post(ACTIONS["bulk_retry"], form(page, typed="12")).status_code == 302


def test_a_reason_is_asked_for_and_what_was_typed_stays(operator: Client) -> None:
    JobFactory(dead=True)
    page = operator.get("/bulk/retry/?type=CRAWL").content.decode()
    answer = operator.post(ACTIONS["bulk_retry"], form(page, reason=" ", rate="7"))
    assert answer.status_code == 422
    assert "Write why" in answer.content.decode() and 'value="7"' in answer.content.decode()


def test_the_same_form_twice_is_one_operation(operator: Client) -> None:
    JobFactory.create_batch(3, dead=True)
    sent = form(operator.get("/bulk/retry/?type=CRAWL").content.decode())
    first, second = operator.post(ACTIONS["bulk_retry"], sent), operator.post(ACTIONS["bulk_retry"], sent)
    assert first["Location"] == second["Location"]
    assert Operation.objects.count() == 1 and AuditEntry.objects.count() == 1


def test_a_preview_that_is_kept_no_more_is_still_confirmed_once(operator: Client) -> None:
    JobFactory.create_batch(3, dead=True)
    sent = form(operator.get("/bulk/retry/?type=CRAWL").content.decode())
    first = operator.post(ACTIONS["bulk_retry"], sent)
    caches[previews.CACHE].clear()
    assert operator.post(ACTIONS["bulk_retry"], sent)["Location"] == first["Location"]
    assert Operation.objects.count() == 1


def test_jobs_that_arrive_after_the_look_do_not_join(operator: Client) -> None:
    JobFactory.create_batch(3)
    page = operator.get("/bulk/cancel/?type=CRAWL").content.decode()
    JobFactory.create_batch(2, queued_at=timezone.now() + timedelta(seconds=1))
    operator.post(ACTIONS["bulk_cancel"], form(page))
    assert Operation.objects.get().total == 3


def test_a_set_that_grew_is_shown_again(operator: Client) -> None:
    JobFactory.create_batch(3, dead=True)
    page = operator.get("/bulk/retry/?type=CRAWL").content.decode()
    JobFactory.create_batch(30, dead=True)
    answer = operator.post(ACTIONS["bulk_retry"], form(page))
    assert answer.status_code == 409 and "33 jobs match by now, 3 were shown" in answer.content.decode()
    assert not Operation.objects.exists()


def test_ticked_rows_get_an_answer_each(operator: Client) -> None:
    JobFactory(id="a,b", dead=True)
    JobFactory(id="q")
    page = operator.get("/bulk/retry/", {"id": ["a,b", "q"]})
    assert "1 stay: Queued: not touched" in text(page)
    operator.post(ACTIONS["bulk_retry"], form(page.content.decode()))
    operation = Operation.objects.get()
    work(operation.pk)
    rows = {item.job_id: (item.outcome, item.reason) for item in OperationItem.objects.all()}
    assert rows == {"a,b": ("done", None), "q": ("skipped", "it is Queued")}


def test_support_redrives_and_does_no_other_bulk_work(as_role: Callable[..., Client]) -> None:
    client, job = as_role("support"), JobFactory(dead=True)
    answer = client.get("/bulk/purge/?type=CRAWL")
    assert "For admin" in answer.content.decode()
    assert client.post(ACTIONS["bulk_purge"], {"query": f"id={job.id}", "reason": "x"}).status_code == 403
    purge = OperationFactory(kind="purge", state="RUNNING")
    assert client.post(ACTIONS["stop_operation"], {"id": purge.pk, "reason": "x"}).status_code == 403
    assert Operation.objects.get(pk=purge.pk).state == "RUNNING"


# --- The operation ----------------------------------------------------------------------------------------------------
def finished(kind: Kind = Kind.RETRY, query: str = "type=CRAWL", **more: Any) -> Operation:
    ask = Ask.parse(kind, QueryDict(query))
    begun = bulk.start(Person("kim"), kind, ask.selection(), reason="proxy rolled back", options=Options(**more))
    return work(begun.id)


def test_an_operations_page_shows_numbers_reasons_rows_and_what_they_are_now(operator: Client) -> None:
    JobFactory.create_batch(3, dead=True, name="shop.example")
    JobFactory(dead=True, redrive_count=1)
    operation = finished()
    shown = text(operator.get(f"/operations/{operation.pk}/"))
    assert "All 4 decided. 3 redriven, 1 left as they were." in shown
    assert "1 skipped: came back to the DLQ after a redrive" in shown
    assert "kim" in shown and "proxy rolled back" in shown and "type CRAWL" in shown
    assert shown.count("shop.example") == 3 and "Queued" in shown
    assert "Not yet 0" in text(operator.get(f"/operations/{operation.pk}/?outcome=skipped"))
    assert text(operator.get(f"/operations/{operation.pk}/?outcome=skipped")).count("shop.example") == 0


def test_rows_are_paged_by_position(operator: Client) -> None:
    JobFactory.create_batch(120, dead=True)
    operation = finished()
    first = operator.get(f"/operations/{operation.pk}/?outcome=done")
    assert "Rows 1–50 of 120" in text(first)
    older = first.context["pager"]["older_url"]
    assert "Rows 51–100 of 120" in text(operator.get(older))
    assert "Rows 101–120" in text(operator.get(operator.get(older).context["pager"]["older_url"]))


@pytest.mark.django_db(transaction=True)  # a stream gives its connection back after each read
def test_the_outcomes_are_a_file_without_formulas(operator: Client) -> None:
    JobFactory(id="=1+1", dead=True)
    operation = finished()
    assert operator.get(f"/operations/{operation.pk}/export/").status_code == 405
    answer = operator.post(f"/operations/{operation.pk}/export/")
    rows = list(csv.DictReader(io.StringIO(async_to_sync(whole)(answer).decode())))
    assert [(row["job_id"], row["outcome"]) for row in rows] == [("'=1+1", "done")]
    assert AuditEntry.objects.get(action="export").filter == {"operation": operation.pk}


def test_again_for_the_failed_only(operator: Client) -> None:
    JobFactory.create_batch(3, dead=True)
    operation = finished()
    Job.objects.filter(id=Job.objects.order_by("id")[0].id).update(status="FAILED", dlq=True, dlq_at=timezone.now())
    url = operator.get(f"/operations/{operation.pk}/").context["again_url"]
    page = operator.get(url)
    assert "Redrive 1 job" in text(page) and f"rows of operation {operation.pk}" in text(page)
    operator.post(ACTIONS["bulk_retry"], form(page.content.decode(), rate=""))
    assert work(Operation.objects.latest("id").pk).done == 1


def test_pause_and_resume_at_another_rate(operator: Client) -> None:
    operation = OperationFactory(kind="retry", state="RUNNING", total=9)
    dialog = operator.get(f"/operations/{operation.pk}/pause/", headers={"HX-Request": "true"}).content.decode()
    assert f"manage.py operation pause {operation.pk} --reason" in dialog
    assert operator.post(ACTIONS["pause_operation"], {"id": operation.pk, "reason": ""}).status_code == 422
    assert operator.post(ACTIONS["pause_operation"], {"id": operation.pk, "reason": "look"}).status_code == 302
    assert operator.post(ACTIONS["pause_operation"], {"id": operation.pk, "reason": "look"}).status_code == 409
    answer = operator.post(ACTIONS["resume_operation"], {"id": operation.pk, "reason": "ok", "rate": "nine"})
    assert answer.status_code == 422
    assert (
        operator.post(ACTIONS["resume_operation"], {"id": operation.pk, "reason": "ok", "rate": "9"}).status_code == 302
    )
    found = Operation.objects.get(pk=operation.pk)
    assert (found.state, found.options["rate"]) == ("PENDING", 9)
    assert operator.get("/operations/999999999999999999/").status_code == 404
    assert operator.post(ACTIONS["stop_operation"], {"id": "x", "reason": "y"}).status_code == 422


def test_the_command_of_a_step_does_what_the_dialog_proposes(operator: Client) -> None:
    number = OperationFactory(kind="retry", state="BRAKED", total=5, options={"rate": 120}).pk
    dialog = operator.get(f"/operations/{number}/resume/", headers=HTMX)
    assert dialog.context["rate"] == 60
    assert dialog.context["command"] == f"manage.py operation resume {number} --rate 60 --reason '…'"
    assert operator.get(f"/operations/{number}/stop/").context["command"].endswith(f"stop {number} --reason '…'")


def test_a_braked_operation_says_why_on_list_and_page(operator: Client) -> None:
    operation = OperationFactory(kind="retry", state="BRAKED", total=9, done=3, note="12 of the last 50 failed again")
    assert "Stopped by its brake: 12 of the last 50 failed again." in text(operator.get(f"/operations/{operation.pk}/"))
    assert "Braked" in text(operator.get("/operations/"))


def test_an_operation_goes_on_without_whoever_began_it_and_others_stop_it(
    operator: Client, as_role: Callable[..., Client]
) -> None:
    JobFactory.create_batch(3, dead=True)
    page = operator.get("/bulk/retry/?type=CRAWL").content.decode()
    operator.post(ACTIONS["bulk_retry"], form(page))
    operation = Operation.objects.get()
    User.objects.filter(username=operation.actor).delete()
    sent = {"id": operation.pk, "reason": "whose is this?"}
    assert operator.post(ACTIONS["pause_operation"], sent).status_code == 302  # to the login
    assert Operation.objects.get().state == "PENDING"
    other = as_role("support", "lena")
    assert other.post(ACTIONS["pause_operation"], sent).status_code == 302
    assert other.post(ACTIONS["resume_operation"], sent | {"rate": "6000"}).status_code == 302
    assert work(operation.pk).done == 3


def test_operations_of_other_releases_break_no_page(viewer: Client) -> None:
    operation = OperationFactory(kind="defragment", state="DONE", filter={"new": [1]}, options={"odd": True, "rate": 5})
    assert viewer.get("/operations/").status_code == 200
    assert "defragment" in text(viewer.get(f"/operations/{operation.pk}/"))


# --- Purge and its undo -----------------------------------------------------------------------------------------------
def test_a_purge_is_undone_once_it_no_longer_moves(admin: Client) -> None:
    JobFactory.create_batch(3, dead=True)
    operation = finished(Kind.PURGE)
    for state, offered in (("RUNNING", False), ("PENDING", False), ("PAUSED", True), ("STOPPED", True)):
        Operation.objects.update(state=state)
        assert bool(admin.get(f"/operations/{operation.pk}/").context["undo_url"]) is offered, state


def test_a_purge_is_undone_from_its_page_and_by_row(admin: Client) -> None:
    JobFactory.create_batch(3, dead=True)
    JobFactory(id="one", dead=True)
    operation = finished(Kind.PURGE)
    page = admin.get(f"/operations/{operation.pk}/")
    assert page.context["undo_url"] == f"/bulk/restore/?operation={operation.pk}"
    trash = admin.get("/dlq/trash/")
    assert "4 purged jobs can be restored" in text(trash) and f"operation {operation.pk}" in text(trash)
    one = admin.get("/bulk/restore/?id=one")
    admin.post(ACTIONS["bulk_restore"], form(one.content.decode()))
    work(Operation.objects.latest("id").pk)
    assert list(Job.objects.values_list("id", flat=True)) == ["one"]
    rest = admin.get(page.context["undo_url"])
    assert "Restore 3 jobs" in text(rest)
    admin.post(ACTIONS["bulk_restore"], form(rest.content.decode()))
    work(Operation.objects.latest("id").pk)
    assert Job.objects.filter(dlq=True).count() == 4
    assert "Nothing was purged" in text(admin.get("/dlq/trash/"))


# --- Where it begins --------------------------------------------------------------------------------------------------
def test_lists_offer_what_their_rows_allow(as_role: Callable[..., Client]) -> None:
    JobFactory(dead=True)
    page = as_role("operator").get("/jobs/?state=DEAD_LETTERED&type=CRAWL").content.decode()
    assert 'href="/bulk/retry/?type=CRAWL&amp;state=DEAD_LETTERED"' in page and "/bulk/cancel/" not in page
    dlq = as_role("admin").get("/dlq/").content.decode()
    assert "/bulk/retry/?type=CRAWL&amp;group=v1%3A0f3a" in dlq and "/bulk/purge/?type=CRAWL" in dlq
    assert "/bulk/purge/?type=CRAWL" not in as_role("operator").get("/dlq/").content.decode()


def previewed(client: Client, url: str, **more: str) -> tuple[list[str], dict[str, str]]:
    """What confirms one preview: the words of its command, and the fields of its form."""
    page = client.get(url)
    return [*(word.text for word in page.context["command"][1:-1]), "proxy rolled back"], form(
        page.content.decode(), **more
    )


@pytest.mark.parametrize(
    ("kind", "query", "dead_letters"),
    [(Kind.RETRY, "type=CRAWL&tenant=halden-bank", True), (Kind.CANCEL, "state=QUEUED&tenant=halden-bank", False),
     (Kind.PRIORITY, "type=CRAWL", False), (Kind.PURGE, "type=CRAWL", True)],
)  # fmt: skip
def test_a_previews_command_confirms_the_same_preview_once(
    admin: Client, empty_cache: None, kind: Kind, query: str, dead_letters: bool
) -> None:
    """By page and shell it is the same set, the same choices, the same row of the audit; the second is told."""
    JobFactory.create_batch(3, dead=dead_letters, type="CRAWL")
    url, more = preview_url(kind, query), {"priority": "4"} if kind is Kind.PRIORITY else {}
    options = [word for name, value in more.items() for word in (f"--{name}", value)]
    shell_first, page_first = previewed(admin, url, **more), previewed(admin, url, **more)
    call_command(*shell_first[0], *options, "--detach", stdout=io.StringIO())
    admin.post(ACTIONS[f"bulk_{kind.value}"], page_first[1])
    one, other = Operation.objects.order_by("id")
    assert (one.kind, one.total, one.options, one.reason) == (other.kind, other.total, other.options, other.reason)
    by_shell, by_page = AuditEntry.objects.filter(action=f"bulk_{kind.value}").order_by("id")
    assert (by_shell.numbers, by_shell.after, by_shell.reason) == (by_page.numbers, by_page.after, by_page.reason)
    assert by_shell.filter | {"to": ""} == by_page.filter | {"to": ""} and by_shell.operation_id == one.id
    assert by_shell.actor.startswith("command:") and by_page.actor == "the-admin"
    with pytest.raises(CommandError, match=f"operation {other.id} has already begun") as refused:
        call_command(*page_first[0], *options, stdout=io.StringIO())
    answer = admin.post(ACTIONS[f"bulk_{kind.value}"], shell_first[1], follow=True)
    assert f"Operation {one.id} has already begun" in answer.content.decode()
    assert refused.value.returncode == 1 and Operation.objects.count() == 2


def test_a_preview_that_is_gone_or_unclear_begins_nothing(admin: Client, empty_cache: None) -> None:
    JobFactory.create_batch(2, dead=True)
    everything = previewed(admin, "/bulk/retry/")[0]
    for words, code, said in (
        (["operation", "start", "0123456789abcdef"], 1, "there is no preview"),
        (["operation", "start", "everything", "--all"], 2, "neither a preview's id nor one of"),
        ([*everything, "--boomerangs"], 2, "which jobs are meant"),
        (everything, 1, "Nobody can answer here"),
    ):
        with pytest.raises(CommandError, match=said) as refused:
            call_command(*words, *([] if "--reason" in words else ["--reason", "x"]), stdout=io.StringIO())
        assert refused.value.returncode == code and not Operation.objects.exists()
    caches[previews.CACHE].clear()
    with pytest.raises(CommandError, match="one holds for 10 minutes"):
        call_command(*everything, "--yes", stdout=io.StringIO())
    page = admin.get("/bulk/retry/")
    assert admin.get(page.context["permalink"]).context["query"] == page.context["query"]


def test_times_of_the_viewers_clocks_are_the_same_moments_elsewhere(operator: Client) -> None:
    operator.cookies["detiq_zone"] = "Asia/Kolkata"
    page = operator.get("/bulk/cancel/?from=2026-11-01T00:00&to=2026-11-02")
    assert "from=2026-11-01T00%3A00%3A00%2B05%3A30&to=2026-11-02T00%3A00%3A00%2B05%3A30" in page.context["permalink"]
    assert page.context["ask"].filter.texts["from"] == "2026-11-01T00:00:00+05:30"


def test_dead_letters_without_a_group_are_a_set_of_their_own(admin: Client) -> None:
    JobFactory.create_batch(2, dead=True, fingerprint=None)
    JobFactory.create_batch(3, dead=True, fingerprint="v1:a")
    for group in admin.get("/dlq/").context["groups"]:
        for url in (group["redrive_url"], group["purge_url"]):
            assert admin.get(url).context["found"].n == group["n"] == (3 if group["fingerprint"] else 2)


def test_the_history_of_a_job_names_the_operation(operator: Client) -> None:
    job = JobFactory(dead=True)
    operation = finished()
    assert f"proxy rolled back (operation {operation.pk})" in text(operator.get(f"/jobs/{job.id}/"))
