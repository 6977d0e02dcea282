from pathlib import Path

import django.db.models.functions.datetime
from django.db import migrations, models

from jobs.queue.schema import install_functions

SQL = Path(__file__).parent / "sql" / "0002_retention_and_rules.sql"


def functions(apps, schema_editor):
    install_functions(schema_editor.connection)


def tables(apps, schema_editor):
    schema_editor.connection.cursor().execute(SQL.read_text())


class Migration(migrations.Migration):
    # django_session is one of the tables that retention keeps small.
    dependencies = [("jobs", "0001_initial"), ("sessions", "0001_initial")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AddField("SweepDuty", "rows_left", models.BigIntegerField(null=True)),
                migrations.CreateModel(
                    name="FailureRule",
                    fields=[
                        ("id", models.BigAutoField(primary_key=True, serialize=False)),
                        ("kind", models.TextField()),
                        ("pattern", models.TextField()),
                        ("failure_type", models.TextField()),
                        ("why", models.TextField()),
                        ("position", models.IntegerField(db_default=0, default=0)),
                        ("enabled", models.BooleanField(db_default=True, default=True)),
                        ("created_by", models.TextField()),
                        ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                        ("updated_by", models.TextField(null=True)),
                        ("updated_at", models.DateTimeField(null=True)),
                    ],
                    options={"db_table": "failure_rule"},
                ),
            ],
            database_operations=[
                migrations.RunPython(functions, migrations.RunPython.noop),
                migrations.RunPython(tables, migrations.RunPython.noop),
            ],
        ),
    ]
