"""Somebody limited to some tenants learns nothing of the others, by any address and any method."""

import asyncio
import html
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import AsyncClient, Client
from django.urls import get_resolver
from django.utils import timezone

from jobs.console import scope
from jobs.console.filters import JobFilter
from jobs.console.permissions import LIMITED, LIMITED_PAGES, TABLE, can, offered
from jobs.console.queries import groups, jobs
from jobs.console.queries.overview import forget
from jobs.models import (
    AuditEntry,
    Job,
    JobTrash,
    Notification,
    Operation,
    OperationItem,
    TenantLimit,
    TenantSetting,
)
from tests.console.addresses import ACTIONS, HTMX, JOB_PAGES, PAGES
from tests.console.test_export import whole
from tests.console.test_failures import fail, fold
from tests.factories import (
    AlertFactory,
    ArtifactFactory,
    ArtifactFileFactory,
    AuditFactory,
    DeliveryFactory,
    EventFactory,
    JobFactory,
    LogFactory,
    OperationFactory,
    PauseFactory,
    WorkerFactory,
    everything,
    user,
)

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = "zzforeignzz"
NOWHERE = "zznowherezz"  # as long, and nobody's
OWN = "acme"
METHODS = ["get", "head", "options", "post", "put", "patch", "delete"]


@pytest.fixture
def foreign(db: None) -> list[str]:
    """A tenant that is not to be seen, with its name in every column of everything that is its own. Its jobs' ids."""
    jobs = everything(TEXT)
    fail(2, tenant_id=TEXT, type=TEXT, failure_type=TEXT, fingerprint="v1:shared", error=TEXT, name=TEXT)
    fail(1, "FAILED", dlq=True, tenant_id=TEXT, fingerprint="v1:theirs", error=TEXT, name=TEXT)
    fail(1, tenant_id=OWN, fingerprint="v1:shared", error="ours alone")
    fail(1, tenant_id=OWN, fingerprint="v1:both", error="ours first")
    fail(4, tenant_id=TEXT, fingerprint="v1:both", error=TEXT)
    fold()
    for job in jobs:
        LogFactory(job_id=job.id, message=TEXT)
    EventFactory(company_id=TEXT, document_id=TEXT, hook_type=TEXT, last_error=TEXT)
    ArtifactFactory(id=f"{TEXT}-artifact", tenant_id=TEXT, name=TEXT, summary=TEXT, doc_type=TEXT, keywords=[TEXT])
    ArtifactFileFactory(artifact_id=f"{TEXT}-artifact", tenant_id=TEXT, uploaded_by=TEXT, note=TEXT)
    DeliveryFactory(alert=AlertFactory(tenant_id=TEXT, subject=TEXT, title=TEXT, detail=TEXT), last_error=TEXT)
    AlertFactory(title=f"about {TEXT} and all others")
    for name in ("the-viewer", "the-support", "lena"):
        Notification.objects.create(id=f"notif_{name}", tenant_id=TEXT, user_id=name, type=TEXT, title=TEXT, body=TEXT)
    PauseFactory(type=None, tenant_id=TEXT, reason=TEXT, owner=TEXT)
    PauseFactory(type=None, project_id=TEXT, reason=TEXT, owner=TEXT)
    PauseFactory(type="CRAWL", reason=f"because of {TEXT}")
    AuditFactory(target=TEXT, reason=TEXT, tenant_id=TEXT)
    own_share = JobFactory(id="own-share", tenant_id=OWN, dead=True)
    held_by_theirs = JobFactory(id="own-held", tenant_id=OWN, dead=True, unique_key="held")
    for state, mine in (("PAUSED", [own_share, held_by_theirs]), ("BRAKED", [])):
        operation = OperationFactory(
            kind="retry", state=state, reason=TEXT, note=TEXT, filter={"tenant": TEXT}, total=7_777, done=777,
            options={"rate": 60},
        )  # fmt: skip
        for position, job in enumerate([*jobs, *mine], 1):
            OperationItem.objects.create(
                operation=operation, position=position, job_id=job.id, tenant_id=job.tenant_id, type=job.type,
                state="DEAD_LETTERED", outcome="skipped", reason=TEXT if job in jobs else "held", detail=jobs[0].id,
            )  # fmt: skip
    TenantSetting.objects.create(tenant_id=TEXT, note=TEXT)
    JobTrash.objects.create(job_id="zz-thrown-away", tenant_id=TEXT, row={}, purged_by=TEXT)
    WorkerFactory(id=TEXT)
    forget()
    return [*Job.objects.filter(tenant_id=TEXT).values_list("id", flat=True), "zz-thrown-away"]


@pytest.fixture
def own(db: None) -> list[str]:
    """What may be seen: a job of each state."""
    return [job.id for job in everything(tenant_id=OWN)]


@pytest.fixture
def limited(as_role: Callable[..., Client], empty_cache: None) -> Client:
    """Support staff who may see one tenant."""
    TenantLimit.objects.create(user=user("support", "lena"), tenant_id=OWN)
    return as_role("support", "lena")


def routes() -> Iterator[tuple[str, str]]:
    """Every route of the console with its name, a foreign job's id where there is one to put in.

    Those of an operation: of each that there is, if any.
    """
    numbers = list(Operation.objects.values_list("pk", flat=True)) or [1]
    for entry in get_resolver("jobs.console.urls").url_patterns:
        path = str(entry.pattern).replace("<path:job_id>", "{id}").replace("<slug:verb>", "cancel")
        for place, value in (
            ("<slug:value>", "config"),
            ("<slug:kind>", "tenant"),
            ("<slug:step>", "stop"),
        ):
            path = path.replace(place, value)
        for number in numbers if "<int:operation_id>" in path else [0]:
            yield str(entry.name), "/" + path.replace("<int:operation_id>", str(number))


def body(response: Any) -> str:
    if response.streaming:
        return "" if "event-stream" in response["Content-Type"] else asyncio.run(whole(response)).decode()
    return html.unescape(response.content.decode()) + str(dict(response.headers))


def test_nothing_of_other_tenants_is_in_any_answer(limited: Client, foreign: list[str], own: list[str]) -> None:
    for name, path in routes():
        for headers in ({}, HTMX):
            text = body(limited.get(path.format(id=own[0]), headers=headers))
            if name == "metrics":  # open to all who can reach it: it names types and states, and no tenant
                text = re.sub(r'(type|state)="[^"]*"', "", text)
            assert TEXT not in text, (name, path)
            assert not [one for one in foreign if one in text], (name, path)


def test_no_method_tells_or_changes_anything_of_a_foreign_job(limited: Client, foreign: list[str]) -> None:
    before = list(Job.objects.filter(tenant_id=TEXT).order_by("id").values())
    audited = AuditEntry.objects.count()
    for name, path in routes():
        for method in METHODS:
            address = path.format(id=foreign[0]) + f"?id={foreign[0]}"
            text = body(getattr(limited, method)(address, {"id": foreign[0], "reason": "x", "tenant": "x"}))
            assert name == "metrics" or TEXT not in text, (name, method)
    assert list(Job.objects.filter(tenant_id=TEXT).order_by("id").values()) == before
    assert not AuditEntry.objects.filter(target__in=foreign).exists()
    assert AuditEntry.objects.count() >= audited


def like_nothing(text: str) -> str:
    """An answer without what differs from one request to the next."""
    text = re.sub(r"[\w-]{16,}|\d\d:\d\d:\d\d(\.\d+)?|\d+", "", text)
    return re.sub(r"\s+", " ", text)


FOREIGN_PARTS = [
    "/jobs/?tenant={0}", "/jobs/?type={0}", "/jobs/?text={0}", "/jobs/?error={0}", "/jobs/?project={0}", "/jobs/?group={0}",
    "/jobs/?submitted={0}", "/jobs/?failure={0}", "/jobs/?worker={0}", "/jobs/?config={0}", "/jobs/?state={0}", "/jobs/?q={0}",
    "/dlq/?tenant={0}", "/why/?tenant={0}", "/why/?type={0}", "/failures/?tenant={0}", "/failures/?type={0}",
    "/failures/?failure={0}", "/failures/runs/?tenant={0}", "/failures/runs/?group={0}&span=30d", "/tenants/?name={0}",
    "/artifacts/?tenant={0}", "/artifacts/?name={0}", "/artifacts/?type={0}", "/artifacts/artifact/?id={0}-artifact",
    "/artifacts/reprocess/?id={0}-artifact", "/artifacts/new/?tenant={0}",
    "/failures/group/?id={0}", "/enqueue/?tenant={0}", "/pauses/effect/?tenant={0}",
    "/tenants/tenant/?id={0}", "/bulk/retry/?tenant={0}", "/bulk/retry/?id={0}", "/bulk/purge/?type={0}", "/bulk/restore/?id={0}",
]  # fmt: skip


def test_a_foreign_name_answers_as_one_that_does_not_exist(limited: Client, foreign: list[str]) -> None:
    for path in FOREIGN_PARTS:
        answers = [limited.get(path.format(one)) for one in (TEXT, NOWHERE)]
        found, nothing = [
            (
                one.status_code,
                one.headers.get("Location", "").replace(word, ""),
                like_nothing(one.content.decode().replace(word, "")),
            )
            for one, word in zip(answers, (TEXT, NOWHERE), strict=True)
        ]
        assert found == nothing, path


FOREIGN_IDS = [*JOB_PAGES, "/raw/error/?id={}", "/dialogs/cancel/?id={}", "/dialogs/retry/?id={}", "/jobs/?q={}"]


def test_a_foreign_id_answers_as_one_that_does_not_exist(limited: Client, foreign: list[str]) -> None:
    for page in FOREIGN_IDS:
        for one, headers in zip((foreign[0], foreign[-1]), ({}, HTMX), strict=True):
            other = "0" * (len(one) - 1) + "x"
            answers = [limited.get(page.format(name), headers=headers) for name in (one, other)]
            assert answers[0].status_code == answers[1].status_code
            assert answers[0].status_code == (302 if "q=" in page else 404)
            texts = [answer.content.decode() for answer in answers]
            assert like_nothing(texts[0].replace(one, "")) == like_nothing(texts[1].replace(other, ""))


def test_an_action_on_a_foreign_job_is_one_on_no_job(limited: Client, foreign: list[str]) -> None:
    for action in ["cancel", "retry", "rerun", "run_now"]:
        texts = []
        for one in (*foreign, "nowhere-at-all"):
            answer = limited.post(ACTIONS[action], {"id": one, "reason": "x"})
            texts.append((answer.status_code, like_nothing(answer.content.decode().replace(one, ""))))
        assert {status for status, _ in texts} == {404}
        assert len({text for _, text in texts}) == 1, action


def test_a_unique_key_does_not_tell_who_else_holds_it(limited: Client, foreign: list[str]) -> None:
    holder = JobFactory(tenant_id=TEXT, unique_key="k")
    mine = JobFactory(tenant_id=OWN, dead=True, unique_key="k")
    answer = limited.post(ACTIONS["retry"], {"id": mine.id, "reason": "x"})
    assert answer.status_code == 409 and "holds its unique key" in answer.content.decode()
    assert holder.id not in answer.content.decode()


def test_their_own_jobs_are_theirs_as_ever(limited: Client, foreign: list[str], own: list[str]) -> None:
    page = limited.get("/jobs/").content.decode()
    assert all(job_id in page for job_id in own)
    assert limited.get(f"/jobs/{own[0]}/").status_code == 200
    assert limited.post(ACTIONS["cancel"], {"id": own[0], "reason": "duplicate"}).status_code == 302
    assert Job.objects.get(pk=own[0]).status == "CANCELLED"
    form = {"type": "CRAWL", "config": "{}", "token": "x"}
    assert limited.post("/enqueue/", form | {"tenant": OWN}).status_code == 302
    refused = [limited.post("/enqueue/", form | {"tenant": one}) for one in (TEXT, NOWHERE)]
    assert [one.status_code for one in refused] == [422, 422]
    assert "none of the tenants of this account" in refused[0].content.decode()


def test_counts_are_of_their_tenants(limited: Client, foreign: list[str], own: list[str]) -> None:
    total = Job.objects.filter(tenant_id=OWN).count()
    assert f"{total} jobs" in limited.get("/jobs/").content.decode()
    queued = Job.objects.filter(tenant_id=OWN, status="QUEUED").count()
    assert f"{queued} queued job" in limited.get("/why/").content.decode()
    cells = limited.get("/").content.decode()
    assert f'<span class="key-number">{queued}</span>' in cells
    failures = html.unescape(limited.get("/failures/").content.decode())
    assert "2 failed runs in" in failures and "ours alone" in failures and "ours first" in failures
    assert set(re.findall(r"group=(v1%3A\w+)", failures)) == {"v1%3Ashared", "v1%3Aboth"}
    counts = re.findall(r'<a class="link" href="[^"]*group=v1%3A\w+[^"]*">([\d,]+)</a>', failures)
    assert counts == ["1", "1"]
    assert "per hour" not in failures and re.findall(r'<td class="r">1</td>', failures)
    assert "1 failed run" in limited.get("/failures/runs/?group=v1:shared&span=30d").content.decode()
    assert "Nothing is stuck" in limited.get("/ledger/").content.decode()
    EventFactory(company_id=OWN)
    assert "1 failed, 0 exhausted" in limited.get("/ledger/").content.decode()


def test_what_is_not_folded_yet_and_what_waits_are_counted_for_their_tenants_too(db: None) -> None:
    fail(1, tenant_id=OWN, fingerprint="v1:a")
    fold()
    for name in (TEXT, NOWHERE):
        fail(3, tenant_id=name, fingerprint="v1:a")
    JobFactory.create_batch(3, tenant_id=TEXT)
    JobFactory(tenant_id=OWN)
    with scope.request():
        scope.bind(frozenset({OWN}))
        line = groups.of_span(groups.SPANS["24h"], timezone.now(), most=5)[0]
        assert (line.n, line.tenants, line.hours, line.usual) == (1, 1, [], None)
        waiting = jobs.lanes(JobFilter(), by_project=False)
        assert [(lane.tenant_id, lane.n) for lane in waiting.lanes] == [(OWN, 2)]  # the failed one waits again


def test_an_export_holds_their_rows_alone(limited: Client, foreign: list[str], own: list[str]) -> None:
    whole_list = body(limited.post("/export/", {"form": "csv"}))
    assert all(job_id in whole_list for job_id in own) and TEXT not in whole_list
    assert AuditEntry.objects.filter(action="export").latest("id").filter == {"within": [OWN]}
    assert TEXT not in body(limited.post(f"/export/?tenant={TEXT}", {"form": "json"}))
    assert body(limited.post(f"/export/?tenant={TEXT}", {"form": "json"})).replace(" ", "").startswith("[\n]")


def test_what_is_about_all_tenants_is_not_offered(limited: Client) -> None:
    nav = limited.get("/frame/nav/").content.decode()
    for name, path in routes():
        if name not in LIMITED_PAGES | {"healthz", "readyz", "metrics", "remote_callback"}:
            response = limited.get(path)
            assert response.status_code == 403, name
            assert "limited to some" in response.content.decode()
            assert f'href="{path}"' not in nav
    assert 'href="/workers/"' not in nav and 'href="/jobs/"' in nav


def test_a_pause_says_what_it_holds_and_names_no_other(limited: Client, foreign: list[str]) -> None:
    PauseFactory(type=None, tenant_id=OWN, reason="their own trouble")
    forget()
    line = limited.get("/frame/pauses/").content.decode()
    assert (
        "2 pauses in force" in line
        and "their own trouble" in line
        and "/pauses/" not in line.replace("/frame/pauses/", "")
    )


def test_several_tenants_and_none(as_role: Callable[..., Client], foreign: list[str], own: list[str]) -> None:
    person = user("viewer", "lena")
    client = as_role("viewer", "lena")
    assert TEXT in client.get("/jobs/").content.decode()
    TenantLimit.objects.create(user=person, tenant_id=OWN)
    assert TEXT not in client.get("/jobs/").content.decode()
    TenantLimit.objects.create(user=person, tenant_id=TEXT)
    page = client.get("/jobs/?state=RUNNING,QUEUED").content.decode()
    assert TEXT in page and own[0] in page


def test_the_real_server_binds_the_scope_too(limited: Client, foreign: list[str], own: list[str]) -> None:
    """By way of threads and coroutines, one request after the other."""
    client = AsyncClient()
    client.cookies = limited.cookies

    async def ask() -> list[str]:
        first = await asyncio.gather(*(client.get("/jobs/") for _ in range(4)))
        exported = await client.post("/export/", {"form": "csv"})
        texts = [one.content.decode() for one in first] + [(await whole(exported)).decode()]
        await sync_to_async(connections.close_all)()
        return texts

    for text in asyncio.run(ask()):
        assert own[0] in text and TEXT not in text
    assert scope.current() is None


def test_a_filter_carries_its_scope() -> None:
    with scope.request():
        scope.bind(frozenset({OWN}))
        kept = JobFilter().with_text("type", "CRAWL").with_states("QUEUED")
    assert kept.within == frozenset({OWN})
    assert JobFilter().within is None


def test_the_table_of_a_limited_user(limited: Client) -> None:
    person = user("support", "lena")
    assert {name for name in TABLE if can(person, name)} == LIMITED
    assert can(person, "cancel", OWN) and not can(person, "cancel", TEXT)
    assert offered(person, "jobs") and not offered(person, "a_page_of_tomorrow")


# Routes whose right has another name.
RIGHTS = {"save_filter": "read", "forget_filter": "read", "export_operation": "export"}


@pytest.mark.parametrize("name", ["viewer", "operator", "support", "admin", "", None])
def test_every_address_by_every_method_as_every_role(
    as_role: Callable[..., Client], client: Client, foreign: list[str], name: str | None
) -> None:
    """Nobody and those without a role see nothing; whoever lacks a right is refused; nothing breaks."""
    asking = client if name is None else as_role(name)
    for route, path in routes():
        for method in METHODS:
            response = getattr(asking, method)(path.format(id=foreign[0]), {"id": foreign[0]})
            assert response.status_code < 500, (route, method)
            right = RIGHTS.get(route, route)
            if route == "remote_callback":  # signed, without a session: tests of the remote executor
                continue
            if method not in {"get", "head"} and name not in TABLE.get(right, frozenset({"admin"})):
                assert response.status_code in {302, 401, 403, 405}, (route, method)
            if not name and route not in {"healthz", "readyz", "metrics"}:
                assert response.status_code in {302, 401, 403, 405}, (route, method)
                assert TEXT not in body(response)
    assert not AuditEntry.objects.exclude(action__in=["cancel", "export", "export_ended"]).exists()


def test_pages_are_known(limited: Client) -> None:
    assert {path.split("?")[0] for path in PAGES} <= {path for _, path in routes()}
