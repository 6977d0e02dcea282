from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0006_people")]

    operations = [
        migrations.AddField("operation", "runner", models.TextField(null=True)),
        migrations.AddField("operation", "note", models.TextField(default="", db_default="")),
        migrations.AddField("operation", "paced_at", models.DateTimeField(null=True)),
        migrations.AddField("operationitem", "tenant_id", models.TextField(default="", db_default="")),
        migrations.AddField("operationitem", "type", models.TextField(default="", db_default="")),
        migrations.AddField("operationitem", "state", models.TextField(default="", db_default="")),
        migrations.AddField("operationitem", "redrives", models.IntegerField(default=0, db_default=0)),
        migrations.AddField("operationitem", "detail", models.TextField(null=True)),
        # Which operations touched a job, and what a purge put into the trash.
        migrations.RunSQL(
            [
                "CREATE INDEX operation_item_job ON operation_item (job_id)",
                "CREATE INDEX job_trash_operation ON job_trash (operation_id) WHERE operation_id IS NOT NULL",
                # One job is once in a set because one scan finds it once; the index on jobs alone serves both questions.
                "ALTER TABLE operation_item DROP CONSTRAINT operation_item_operation_id_job_id_key",
            ],
            migrations.RunSQL.noop,
        ),
    ]
