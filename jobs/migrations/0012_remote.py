import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0011_notifications")]

    operations = [
        migrations.CreateModel(
            name="RemoteType",
            fields=[
                ("type", models.TextField(primary_key=True, serialize=False)),
                ("url", models.TextField()),
                ("secret", models.TextField()),
                ("previous_secret", models.TextField(null=True)),
                ("previous_until", models.DateTimeField(null=True)),
                ("first_answer_seconds", models.IntegerField()),
                ("silence_seconds", models.IntegerField()),
                ("longest_run_seconds", models.IntegerField()),
                ("created_by", models.TextField()),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("updated_by", models.TextField()),
                ("updated_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={"db_table": "remote_type", "ordering": ["type"]},
        ),
        migrations.CreateModel(
            name="RemoteRun",
            fields=[
                ("id", models.TextField(primary_key=True, serialize=False)),
                ("job_id", models.TextField()),
                ("type", models.TextField()),
                ("worker", models.TextField()),
                ("started_at", models.DateTimeField()),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("deadline_at", models.DateTimeField()),
                ("heard_at", models.DateTimeField(null=True)),
                ("log_lines", models.IntegerField(db_default=0, default=0)),
                ("ended_at", models.DateTimeField(null=True)),
                ("end_digest", models.TextField(null=True)),
            ],
            options={
                "db_table": "remote_run",
                "indexes": [
                    models.Index(fields=["deadline_at"], name="remote_run_deadline"),
                    models.Index(fields=["job_id"], name="remote_run_job"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RemoteNonce",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "run_id", "nonce", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("run_id", models.TextField()),
                ("nonce", models.TextField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={"db_table": "remote_nonce"},
        ),
    ]
