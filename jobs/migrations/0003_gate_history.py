from pathlib import Path

import django.db.models.functions.datetime
from django.db import migrations, models

SQL = Path(__file__).parent / "sql"


def run(apps, schema_editor):
    schema_editor.connection.cursor().execute((SQL / "0003_gate_history.sql").read_text())


class Migration(migrations.Migration):
    dependencies = [("jobs", "0002_retention_and_rules")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="GateChange",
                    fields=[
                        ("id", models.BigAutoField(primary_key=True, serialize=False)),
                        ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                        ("source", models.TextField()),
                        ("key", models.TextField()),
                        ("row", models.JSONField(null=True)),
                    ],
                    options={"db_table": "gate_history"},
                ),
            ],
            database_operations=[migrations.RunPython(run, migrations.RunPython.noop)],
        ),
    ]
