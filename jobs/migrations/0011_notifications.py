from pathlib import Path

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

from jobs.queue.schema import install_functions

SQL = Path(__file__).parent / "sql" / "0011_notifications.sql"
NOW = django.db.models.functions.datetime.Now()


def run(apps, schema_editor):
    schema_editor.connection.cursor().execute(SQL.read_text())


def functions(apps, schema_editor):
    install_functions(schema_editor.connection)


class Migration(migrations.Migration):
    # The columns of the shared table and the indexes of 0011_indexes.sql are added by `migrate` itself.
    dependencies = [("jobs", "0010_list_indexes")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AddField("Notification", "read", models.BooleanField(default=False, db_default=False)),
                migrations.AddField(
                    "Notification", "created_at", models.DateTimeField(db_column="createdAt", db_default=NOW)
                ),
                migrations.CreateModel(
                    name="AlertRule",
                    fields=[
                        ("name", models.TextField(primary_key=True, serialize=False)),
                        ("enabled", models.BooleanField()),
                        ("critical", models.BooleanField()),
                        ("threshold", models.IntegerField()),
                        ("minutes", models.IntegerField()),
                        ("version", models.IntegerField(default=1, db_default=1)),
                        ("updated_at", models.DateTimeField(db_default=NOW)),
                        ("updated_by", models.TextField()),
                    ],
                    options={"db_table": "alert_rule"},
                ),
                migrations.CreateModel(
                    name="Alert",
                    fields=[
                        ("id", models.BigAutoField(primary_key=True, serialize=False)),
                        ("rule", models.TextField()),
                        ("subject", models.TextField(default="", db_default="")),
                        ("tenant_id", models.TextField(null=True)),
                        ("critical", models.BooleanField(default=False, db_default=False)),
                        ("title", models.TextField()),
                        ("detail", models.TextField(default="", db_default="")),
                        ("evidence_url", models.TextField(default="", db_default="")),
                        ("action_url", models.TextField(default="", db_default="")),
                        ("action_label", models.TextField(default="", db_default="")),
                        ("opened_at", models.DateTimeField()),
                        ("seen_at", models.DateTimeField()),
                        ("closed_at", models.DateTimeField(null=True)),
                        ("acked_at", models.DateTimeField(null=True)),
                        ("acked_by", models.TextField(null=True)),
                        ("ack_note", models.TextField(null=True)),
                    ],
                    options={"db_table": "alert", "ordering": ["-opened_at", "-id"]},
                ),
                migrations.CreateModel(
                    name="AlertChannel",
                    fields=[
                        ("id", models.BigAutoField(primary_key=True, serialize=False)),
                        ("name", models.TextField(unique=True)),
                        ("kind", models.TextField()),
                        ("target", models.TextField()),
                        ("secret", models.TextField(default="", db_default="")),
                        ("shown", models.TextField()),
                        ("enabled", models.BooleanField(default=True, db_default=True)),
                        ("only_critical", models.BooleanField(default=False, db_default=False)),
                        ("quiet_from", models.TimeField(null=True)),
                        ("quiet_to", models.TimeField(null=True)),
                        ("zone", models.TextField(default="UTC", db_default="UTC")),
                        ("version", models.IntegerField(default=1, db_default=1)),
                        ("updated_at", models.DateTimeField(db_default=NOW)),
                        ("updated_by", models.TextField()),
                    ],
                    options={"db_table": "alert_channel"},
                ),
                migrations.CreateModel(
                    name="AlertDelivery",
                    fields=[
                        ("id", models.TextField(primary_key=True, serialize=False)),
                        ("event", models.TextField()),
                        ("state", models.TextField(default="PENDING", db_default="PENDING")),
                        ("attempts", models.IntegerField(default=0, db_default=0)),
                        ("created_at", models.DateTimeField(db_default=NOW)),
                        ("due_at", models.DateTimeField(db_default=NOW)),
                        ("sent_at", models.DateTimeField(null=True)),
                        ("last_error", models.TextField(null=True)),
                        (
                            "alert",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="deliveries",
                                to="jobs.alert",
                            ),
                        ),
                        (
                            "channel",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="deliveries",
                                to="jobs.alertchannel",
                            ),
                        ),
                    ],
                    options={"db_table": "alert_delivery"},
                ),
                migrations.CreateModel(
                    name="TypeHour",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "hour", "type", blank=True, editable=False, primary_key=True, serialize=False
                            ),
                        ),
                        ("hour", models.DateTimeField()),
                        ("type", models.TextField()),
                        ("done", models.BigIntegerField()),
                        ("came", models.BigIntegerField()),
                    ],
                    options={"db_table": "type_hour"},
                ),
            ],
            database_operations=[
                migrations.RunPython(run, migrations.RunPython.noop),
                migrations.RunPython(functions, migrations.RunPython.noop),
            ],
        ),
    ]
