"""Rows for tests, inserted as another program would. A factory fills what a state demands: no impossible row is tested."""

from datetime import UTC, datetime, timedelta
from typing import Any

import factory
from django.contrib.auth.models import Group, User
from django.utils import timezone

from jobs.domain.ids import new_id
from jobs.models import (
    Alert,
    AlertChannel,
    AlertDelivery,
    ArtifactFile,
    AuditEntry,
    FailureGroup,
    Job,
    JobLog,
    LifecycleEvent,
    Operation,
    Pause,
    ProjectArtifact,
    RemoteType,
    Worker,
)
from jobs.vault import CHANNELS, REMOTE_TYPES


class JobFactory(factory.django.DjangoModelFactory):
    """A queued job; `JobFactory(running=True)` and the other traits give the rest."""

    class Meta:
        model = Job

    class Params:
        running = factory.Trait(
            status="RUNNING",
            started_at=factory.LazyFunction(lambda: timezone.now() - timedelta(seconds=90)),
            heartbeat_at=factory.LazyFunction(timezone.now),
            worker_id="crawl-a1:4121:9f2c",
            progress=62,
            current_step="page 31 of 50",
        )
        cancel_requested = factory.Trait(
            status="CANCEL_REQUESTED",
            started_at=factory.LazyFunction(lambda: timezone.now() - timedelta(seconds=90)),
            heartbeat_at=factory.LazyFunction(timezone.now),
            worker_id="crawl-a1:4121:9f2c",
        )
        done = factory.Trait(
            status="DONE",
            started_at=factory.LazyFunction(lambda: timezone.now() - timedelta(minutes=2)),
            finished_at=factory.LazyFunction(lambda: timezone.now() - timedelta(minutes=1)),
            progress=100,
            result={"pages": 48},
        )
        retry_wait = factory.Trait(
            status="RETRY_WAIT",
            started_at=factory.LazyFunction(lambda: timezone.now() - timedelta(minutes=2)),
            finished_at=factory.LazyFunction(lambda: timezone.now() - timedelta(minutes=1)),
            next_retry_at=factory.LazyFunction(lambda: timezone.now() + timedelta(minutes=4)),
            retry_count=1,
            error="HTTP 502 from proxy px-07 on GET https://shop.example/",
            failure_type="TRANSIENT",
        )
        cancelled = factory.Trait(status="CANCELLED", finished_at=factory.LazyFunction(timezone.now))
        dead = factory.Trait(
            status="FAILED",
            dlq=True,
            dlq_at=factory.LazyFunction(timezone.now),
            dlq_reason=factory.SelfAttribute("error"),
            started_at=factory.LazyFunction(lambda: timezone.now() - timedelta(minutes=2)),
            finished_at=factory.LazyFunction(lambda: timezone.now() - timedelta(minutes=1)),
            retry_count=2,
            error="validation: template 412 has no title",
            failure_type="LOGICAL",
            fingerprint="v1:0f3a",
            result={"failureType": "LOGICAL"},
            checkpoint={"visitedUrls": ["https://shop.example/"], "pendingQueue": []},
            checkpoint_at=factory.LazyFunction(lambda: timezone.now() - timedelta(minutes=1)),
        )
        failed = factory.Trait(
            status="FAILED",
            finished_at=factory.LazyFunction(timezone.now),
            retry_count=5,
            error="out of memory",
        )

    id = factory.LazyFunction(new_id)
    tenant_id = "halden-bank"
    type = "CRAWL"
    name = "www.halden-bank.example"
    config = factory.LazyFunction(lambda: {"url": "https://www.halden-bank.example/", "maxPages": 50})
    queued_at = factory.LazyFunction(lambda: timezone.now() - timedelta(minutes=3))


class WorkerFactory(factory.django.DjangoModelFactory):
    """A live worker."""

    class Meta:
        model = Worker

    id = factory.Sequence(lambda n: f"crawl-a{n}:4121:9f2c")
    host = "crawl-a1"
    pid = 4121
    slots = 8
    types = factory.LazyFunction(lambda: ["CRAWL", "DISCOVER"])
    heartbeat_at = factory.LazyFunction(timezone.now)


class PauseFactory(factory.django.DjangoModelFactory):
    """A pause in force, without an end."""

    class Meta:
        model = Pause

    type = "CRAWL"
    reason = "proxies answer 502"
    owner = "dana"


class LogFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = JobLog

    level = "info"
    message = "fetched"


class AuditFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = AuditEntry

    actor = "dana"
    action = "cancel"
    target = "some-job"
    reason = "duplicate"


class OperationFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Operation

    kind = "redrive"
    actor = "dana"
    reason = "proxy rolled back"


class GroupFactory(factory.django.DjangoModelFactory):
    """A failure group that somebody has yet to look at."""

    class Meta:
        model = FailureGroup

    fingerprint = factory.Sequence(lambda n: f"v1:{n:024x}")
    type = "CRAWL"
    failure_type = "TRANSIENT"
    sample = "HTTP 502 from proxy px-07"
    job_id = factory.LazyFunction(new_id)
    first_at = factory.LazyFunction(lambda: timezone.now() - timedelta(hours=3))
    last_at = factory.LazyFunction(timezone.now)
    n = 12
    dead = 2


class EventFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = LifecycleEvent

    id = factory.LazyFunction(new_id)
    company_id = "halden-bank"
    document_id = factory.Sequence(lambda n: f"doc_{n}")
    hook_type = "crawl_site"
    status = "failed"
    last_error = "connection refused"


class ArtifactFactory(factory.django.DjangoModelFactory):
    """An uploaded file that was analysed; the file itself is not there."""

    class Meta:
        model = ProjectArtifact

    id = factory.LazyFunction(new_id)
    tenant_id = "halden-bank"
    project_id = "portal"
    name = "sign-in.md"
    storage_key = factory.LazyAttribute(lambda made: f"tenants/{made.tenant_id}/artifacts/{made.id}/content")
    doc_type = "USER_STORY"
    status = "READY"
    summary = "Markdown “Sign in”. As a customer, I want to sign in."
    keywords = factory.LazyFunction(lambda: ["sign-in", "customer"])


class ArtifactFileFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = ArtifactFile

    artifact_id = factory.LazyFunction(new_id)
    tenant_id = "halden-bank"
    storage_key = ""
    size_bytes = 1234
    uploaded_by = "dana"
    kind = "Markdown"
    described_by = "local"


class AlertFactory(factory.django.DjangoModelFactory):
    """An open alert about all tenants."""

    class Meta:
        model = Alert

    rule = "dlq_growth"
    subject = factory.Sequence(lambda n: f"subject-{n}")
    title = "24 jobs were dead-lettered in 15 min"
    detail = "Of 3 tenants; most of type CRAWL, 20."
    evidence_url = "/dlq/"
    action_url = "/pauses/new/?type=CRAWL"
    action_label = "Pause CRAWL…"
    opened_at = factory.LazyFunction(lambda: timezone.now() - timedelta(minutes=12))
    seen_at = factory.LazyFunction(timezone.now)


class ChannelFactory(factory.django.DjangoModelFactory):
    """A webhook that is on."""

    class Meta:
        model = AlertChannel

    name = factory.Sequence(lambda n: f"hook-{n}")
    kind = "webhook"
    target = factory.LazyFunction(lambda: CHANNELS.seal("https://hooks.example.org/x"))
    secret = factory.LazyFunction(lambda: CHANNELS.seal("a-secret-of-enough-characters"))
    shown = "https://hooks.example.org/••••••"
    updated_by = "dana"


class DeliveryFactory(factory.django.DjangoModelFactory):
    """A message that waits."""

    class Meta:
        model = AlertDelivery

    id = factory.LazyFunction(new_id)
    alert = factory.SubFactory(AlertFactory)
    channel = factory.SubFactory(ChannelFactory)
    event = "opened"


class RemoteTypeFactory(factory.django.DjangoModelFactory):
    """A type that a service runs, whose secret is `secret_text`."""

    class Meta:
        model = RemoteType

    class Params:
        secret_text = "dts_of-a-test"

    type = "FAR"
    url = "https://crawler.example.com/run"
    secret = factory.LazyAttribute(lambda row: REMOTE_TYPES.seal(row.secret_text))
    first_answer_seconds = 5
    silence_seconds = 30
    longest_run_seconds = 60
    created_by = "dana"
    updated_by = "dana"


def user(role: str, username: str = "") -> User:
    """A user with this role; the empty role is an account without one."""
    made, _ = User.objects.get_or_create(username=username or f"the-{role or 'nobody'}")
    if role:
        made.groups.add(Group.objects.get_or_create(name=role)[0])
    return made


def at(*parts: int) -> datetime:
    """A moment in UTC."""
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]


HOSTILE = "<svg/onload=window.pwn=1>\"'&{{7*7}}"
LONG = "a-tenant-with-a-very-long-name-" * 7


def everything(text: str = "", **more: Any) -> list[Job]:
    """One job of each state, with `text` in every text column where there is one."""
    texts: dict[str, Any] = {}
    if text:
        texts = {
            "tenant_id": text, "project_id": text, "type": text, "name": text, "error": text, "current_step": text,
            "worker_id": text, "failure_type": text, "dlq_reason": text, "submitted_by": text, "fingerprint": text,
            "origin_id": text, "config": {text: text}, "result": {text: [text]}, "checkpoint": [text],
        }  # fmt: skip
    traits = ["running", "cancel_requested", "done", "retry_wait", "cancelled", "dead", "failed"]
    jobs = [JobFactory(**texts, **more)] + [JobFactory(**{trait: True}, **texts, **more) for trait in traits]
    return [*jobs, JobFactory(status=text[:100] or "ON_HOLD", **texts, **more)]
