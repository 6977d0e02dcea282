"""A program that saves a document with its hooks and dies right after the commit, before it could tell anybody."""

import os

import django

django.setup()

from django.db import transaction  # noqa: E402

from jobs.ledger import outbox  # noqa: E402
from jobs.models import ProjectArtifact  # noqa: E402


def save() -> str:
    transaction.on_commit(lambda: os._exit(1))
    return ProjectArtifact.objects.create(id="a1", tenant_id="acme", name="plan.pdf").id


outbox.create_document_with_lifecycle(
    save, company_id="acme", hooks=[outbox.NewEvent("MAKES_A_JOB", {"from": "the dead"})]
)
