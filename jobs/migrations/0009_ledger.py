from pathlib import Path

import django.db.models.functions.datetime
from django.db import migrations, models

SQL = Path(__file__).parent / "sql" / "0009_ledger.sql"


def run(apps, schema_editor):
    schema_editor.connection.cursor().execute(SQL.read_text())


class Migration(migrations.Migration):
    # The columns and the indexes of 0009_indexes.sql are added by `migrate` itself, as on adopted tables.
    dependencies = [("jobs", "0007_operations")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AddField("LifecycleEvent", "next_attempt_at", models.DateTimeField(null=True)),
                migrations.AddField("LifecycleEvent", "claim_token", models.TextField(null=True)),
                migrations.AddField("LifecycleEvent", "ran_with", models.TextField(null=True)),
                migrations.CreateModel(
                    name="LedgerJob",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "event_id", "job_id", blank=True, editable=False, primary_key=True, serialize=False
                            ),
                        ),
                        ("event_id", models.TextField()),
                        ("job_id", models.TextField()),
                        ("document_id", models.TextField()),
                        ("made_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                    ],
                    options={"db_table": "ledger_job"},
                ),
            ],
            database_operations=[migrations.RunPython(run, migrations.RunPython.noop)],
        ),
    ]
