from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0012_remote")]

    operations = [
        migrations.AddField("operation", "reached", models.IntegerField(default=0, db_default=0)),
        # Which operations touch a tenant's jobs, and how those fared.
        migrations.RunSQL(
            ["CREATE INDEX operation_item_tenant ON operation_item (tenant_id, operation_id)"],
            migrations.RunSQL.noop,
        ),
        # An outcome is written without touching an index, into the room that each page leaves: where an operation is, its
        # `reached` says, so that no index of open rows is needed.
        migrations.RunSQL(
            [
                "DROP INDEX IF EXISTS operation_item_open",
                "ALTER TABLE operation_item SET (fillfactor = 50)",
            ],
            migrations.RunSQL.noop,
        ),
    ]
