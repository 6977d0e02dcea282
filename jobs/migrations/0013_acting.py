from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0009_ledger")]

    operations = [
        migrations.AddField("operation", "reached", models.IntegerField(default=0, db_default=0)),
        # Which operations touch a tenant's jobs, and how those fared.
        migrations.RunSQL(
            ["CREATE INDEX operation_item_tenant ON operation_item (operation_id, tenant_id)"],
            migrations.RunSQL.noop,
        ),
    ]
