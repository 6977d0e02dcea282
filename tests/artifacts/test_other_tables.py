"""Artifacts in a table that another program made: its keywords are an array of text."""

import pytest
from django.db import connection

from jobs.artifacts import records
from jobs.console.queries import artifacts as read
from jobs.console.queries.artifacts import ArtifactFilter
from jobs.models import ProjectArtifact, ProjectKnowledge
from tests.artifacts.helpers import analysed, uploaded

pytestmark = pytest.mark.django_db


def test_keywords_in_an_array_are_written_and_read() -> None:
    with connection.cursor() as cursor:
        cursor.execute('ALTER TABLE "ProjectArtifact" DROP COLUMN keywords, ADD COLUMN keywords text[]')
    artifact = uploaded(project_id="shop")
    assert artifact.keywords == []
    result = analysed(artifact)
    assert result["keywords"] and ProjectArtifact.objects.get().keywords == result["keywords"]
    records.refresh_project("acme", "shop")
    assert set(ProjectKnowledge.objects.get().keywords) == set(result["keywords"])
    assert read.page(ArtifactFilter(), "", "").rows[0]["keywords"] == result["keywords"]
    ProjectArtifact.objects.update(summary="x")
    found = read.find(artifact.id)
    assert found is not None and found["keywords"] == result["keywords"]
