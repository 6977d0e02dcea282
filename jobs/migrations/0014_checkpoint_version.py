from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0010_artifacts")]

    operations = [
        # What wrote a checkpoint, where its handler declares a version. In adopted tables it may be there already.
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    ['ALTER TABLE "PlatformJob" ADD COLUMN IF NOT EXISTS "checkpointVersion" text'],
                    ['ALTER TABLE "PlatformJob" DROP COLUMN IF EXISTS "checkpointVersion"'],
                )
            ],
            state_operations=[
                migrations.AddField(
                    "Job",
                    "checkpoint_version",
                    models.TextField(blank=True, db_column="checkpointVersion", null=True),
                ),
            ],
        ),
        migrations.AddField("Worker", "versions", models.JSONField(default=dict, db_default={})),
    ]
