from django.db import migrations


class Migration(migrations.Migration):
    # `migrate` itself adds job_group_states (0005_indexes.sql), which replaces this one.
    dependencies = [("jobs", "0016_live_type")]

    operations = [migrations.RunSQL("DROP INDEX IF EXISTS job_group", migrations.RunSQL.noop)]
