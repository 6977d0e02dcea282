from pathlib import Path

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

from jobs.queue.schema import install_functions

SQL = Path(__file__).parent / "sql" / "0004_groups.sql"


def functions(apps, schema_editor):
    install_functions(schema_editor.connection)


def tables(apps, schema_editor):
    schema_editor.connection.cursor().execute(SQL.read_text())


class Migration(migrations.Migration):
    dependencies = [("jobs", "0003_gate_history")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="FailureCause",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "grain",
                                "at",
                                "fingerprint",
                                "type",
                                "failure_type",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("grain", models.TextField()),
                        ("at", models.DateTimeField()),
                        ("type", models.TextField()),
                        ("failure_type", models.TextField()),
                        ("fingerprint", models.TextField()),
                        ("n", models.BigIntegerField()),
                        ("dead", models.BigIntegerField()),
                    ],
                    options={
                        "db_table": "failure_cause",
                    },
                ),
                migrations.CreateModel(
                    name="FailureDelta",
                    fields=[
                        ("at", models.DateTimeField(primary_key=True, serialize=False)),
                        ("fingerprint", models.TextField()),
                        ("type", models.TextField()),
                        ("failure_type", models.TextField()),
                        ("tenant_id", models.TextField()),
                        ("n", models.IntegerField()),
                        ("dead", models.IntegerField()),
                        ("started_at", models.DateTimeField(null=True)),
                        ("job_id", models.TextField()),
                        ("sample", models.TextField(db_default="", default="")),
                    ],
                    options={
                        "db_table": "failure_delta",
                    },
                ),
                migrations.CreateModel(
                    name="FailureGroup",
                    fields=[
                        ("fingerprint", models.TextField(primary_key=True, serialize=False)),
                        ("type", models.TextField()),
                        ("failure_type", models.TextField()),
                        ("sample", models.TextField(db_default="", default="")),
                        ("job_id", models.TextField()),
                        ("first_at", models.DateTimeField()),
                        ("last_at", models.DateTimeField()),
                        ("n", models.BigIntegerField()),
                        ("dead", models.BigIntegerField()),
                        ("state", models.TextField(db_default="NEW", default="NEW")),
                        ("owner", models.TextField(blank=True, db_default="", default="")),
                        ("note", models.TextField(blank=True, db_default="", default="")),
                        ("changed_at", models.DateTimeField(null=True)),
                        ("changed_by", models.TextField(blank=True, db_default="", default="")),
                    ],
                    options={
                        "db_table": "failure_group",
                    },
                ),
                migrations.CreateModel(
                    name="FailureGroupTenant",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "fingerprint",
                                "tenant_id",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("fingerprint", models.TextField()),
                        ("tenant_id", models.TextField()),
                        ("n", models.BigIntegerField()),
                        ("first_at", models.DateTimeField()),
                        ("last_at", models.DateTimeField()),
                    ],
                    options={
                        "db_table": "failure_group_tenant",
                    },
                ),
                migrations.CreateModel(
                    name="FailureTenant",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "grain",
                                "at",
                                "tenant_id",
                                "type",
                                "failure_type",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("grain", models.TextField()),
                        ("at", models.DateTimeField()),
                        ("tenant_id", models.TextField()),
                        ("type", models.TextField()),
                        ("failure_type", models.TextField()),
                        ("n", models.BigIntegerField()),
                        ("dead", models.BigIntegerField()),
                    ],
                    options={
                        "db_table": "failure_tenant",
                    },
                ),
                migrations.CreateModel(
                    name="TallyFlow",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "minute",
                                "type",
                                "from_state",
                                "to_state",
                                "bucket",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("minute", models.DateTimeField()),
                        ("type", models.TextField()),
                        ("from_state", models.TextField()),
                        ("to_state", models.TextField()),
                        ("bucket", models.SmallIntegerField()),
                        ("n", models.BigIntegerField()),
                    ],
                    options={
                        "db_table": "tally_flow",
                    },
                ),
                migrations.CreateModel(
                    name="TallyTenant",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "minute", "tenant_id", blank=True, editable=False, primary_key=True, serialize=False
                            ),
                        ),
                        ("minute", models.DateTimeField()),
                        ("tenant_id", models.TextField()),
                        ("started", models.BigIntegerField()),
                        ("seconds", models.FloatField()),
                    ],
                    options={
                        "db_table": "tally_tenant",
                    },
                ),
                migrations.CreateModel(
                    name="TallyType",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "type", "state", blank=True, editable=False, primary_key=True, serialize=False
                            ),
                        ),
                        ("type", models.TextField()),
                        ("state", models.TextField()),
                        ("n", models.BigIntegerField()),
                    ],
                    options={
                        "db_table": "tally_type",
                    },
                ),
                migrations.CreateModel(
                    name="FailureGroupChange",
                    fields=[
                        ("id", models.BigAutoField(primary_key=True, serialize=False)),
                        ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                        ("from_state", models.TextField()),
                        ("to_state", models.TextField()),
                        ("actor", models.TextField()),
                        ("reason", models.TextField(blank=True, db_default="", default="")),
                        (
                            "group",
                            models.ForeignKey(
                                db_column="fingerprint",
                                on_delete=django.db.models.deletion.CASCADE,
                                to="jobs.failuregroup",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "failure_group_change",
                    },
                ),
            ],
            database_operations=[
                migrations.RunPython(functions, migrations.RunPython.noop),
                migrations.RunPython(tables, migrations.RunPython.noop),
            ],
        ),
    ]
