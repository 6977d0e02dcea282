from django.db import migrations


class Migration(migrations.Migration):
    # `migrate` itself adds job_live_of_type (0014_indexes.sql), which replaces this one.
    dependencies = [("jobs", "0015_delivery")]

    operations = [migrations.RunSQL("DROP INDEX IF EXISTS job_live_type", migrations.RunSQL.noop)]
