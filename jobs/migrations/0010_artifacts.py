import django.db.models.functions.datetime
from django.db import migrations, models

import jobs.models.artifact


class Migration(migrations.Migration):
    # The indexes of 0010_artifact_indexes.sql are added by `migrate` itself, as on adopted tables.
    dependencies = [("jobs", "0013_acting")]

    operations = [
        # Only how the column is read is another: in adopted tables it may be an array.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    "ProjectArtifact", "keywords", jobs.models.artifact.WordList(db_default=[], default=list)
                ),
            ],
        ),
        migrations.CreateModel(
            name="ArtifactFile",
            fields=[
                ("artifact_id", models.TextField(primary_key=True, serialize=False)),
                ("tenant_id", models.TextField()),
                ("storage_key", models.TextField()),
                ("size_bytes", models.BigIntegerField(db_default=0, default=0)),
                ("sha256", models.TextField(db_default="", default="")),
                ("uploaded_by", models.TextField(db_default="", default="")),
                ("uploaded_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("kind", models.TextField(null=True)),
                ("described_by", models.TextField(null=True)),
                ("note", models.TextField(null=True)),
                ("analysed_at", models.DateTimeField(null=True)),
                ("job_id", models.TextField(null=True)),
            ],
            options={"db_table": "artifact_file"},
        ),
        migrations.CreateModel(
            name="ProjectKnowledge",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant_id", models.TextField()),
                ("project_id", models.TextField(db_default="", default="")),
                ("artifacts", models.IntegerField(db_default=0, default=0)),
                ("ready", models.IntegerField(db_default=0, default=0)),
                ("failed", models.IntegerField(db_default=0, default=0)),
                ("types", models.JSONField(db_default={}, default=dict)),
                ("keywords", models.JSONField(db_default=[], default=list)),
                ("refreshed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "project_knowledge",
                "constraints": [
                    models.UniqueConstraint(fields=["tenant_id", "project_id"], name="project_knowledge_of")
                ],
            },
        ),
    ]
