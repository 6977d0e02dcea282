"""A new job from the console."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client

from jobs.models import AuditEntry, Job
from tests.factories import user

pytestmark = pytest.mark.django_db
FORM = {"type": "CRAWL", "tenant": "acme", "project": "web", "name": "", "priority": "5", "config": '{"url": "https://a"}',
        "reason": "", "token": "form-1"}  # fmt: skip


def test_a_job_is_made_with_what_node_handlers_read(operator: Client, empty_cache: None) -> None:
    response = operator.post("/enqueue/", FORM)
    job = Job.objects.get()
    assert response["Location"] == f"/jobs/{job.id}/"
    assert (job.status, job.priority, job.submitted_by, job.project_id) == ("QUEUED", 5, "the-operator", "web")
    assert job.config == {"url": "https://a", "tenantId": "acme", "projectId": "web", "submittedBy": "the-operator"}
    assert AuditEntry.objects.get().action == "enqueue"


@pytest.mark.parametrize(
    ("config", "said"),
    [("{", "JSON"), ("[]", "object"), ('{"a": {"b": "x\\u0000"}}', "$.a.b"), ('{"a\\u0000": 1}', "key"),
     ('{"a": "\\ud800"}', "$.a"), ('{"a": NaN}', "$.a"), ('{"a": [1, -Infinity]}', "$.a[1]"), ('{"a": 1e400}', "$.a"),
     ('{"a":' * 70 + "1" + "}" * 70, "deeper than 64"), ('{"a": "' + "x" * 1_100_000 + '"}', "too big"),
     ('{"a":' * 100_000 + "1" + "}" * 100_000, "deeper"), ('{"a": ' + "9" * 5000 + "}", "number"), ("\x00", "")],
    ids=range(13),
)  # fmt: skip
def test_what_cannot_be_stored_is_named_with_its_place(operator: Client, config: str, said: str) -> None:
    response = operator.post("/enqueue/", FORM | {"config": config})
    assert response.status_code == 422
    assert said.lower() in response.content.decode().replace("&#x27;", "'").lower()
    assert not Job.objects.exists() and not AuditEntry.objects.exists()


@pytest.mark.parametrize("field", ["type", "tenant", "project", "name"])
def test_each_text_is_checked(operator: Client, field: str) -> None:
    for value in ("a\x00b", "x" * 5000):
        assert operator.post("/enqueue/", FORM | {field: value}).status_code == 422
    assert operator.post("/enqueue/", FORM | {"priority": "9" * 30}).status_code == 422
    assert operator.post("/enqueue/", FORM | {"type": " "}).status_code == 422
    assert not Job.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_one_form_sent_many_times_makes_one_job() -> None:
    cache.clear()
    person = user("operator")

    def send() -> str:
        client = Client()
        client.force_login(person, "django.contrib.auth.backends.ModelBackend")
        try:
            return client.post("/enqueue/", FORM)["Location"]
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        answers = {answer.result() for answer in [pool.submit(send) for _ in range(4)]}
    assert len(answers) == 1 and Job.objects.count() == 1
