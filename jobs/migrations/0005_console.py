import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    # The indexes of 0005_indexes.sql and the column are added by `migrate` itself, as on adopted tables.
    dependencies = [
        ("jobs", "0004_groups"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="SavedFilter",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.TextField()),
                ("query", models.TextField()),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "db_table": "saved_filter",
                "ordering": ["id"],
                "constraints": [models.UniqueConstraint(fields=("owner", "name"), name="saved_filter_name")],
            },
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AddField(
                    "Job", "progress_at", models.DateTimeField(blank=True, db_column="progressAt", null=True)
                ),
            ],
        ),
    ]
