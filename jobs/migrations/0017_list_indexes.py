from django.db import migrations


class Migration(migrations.Migration):
    # `migrate` itself adds what replaces these: job_group_states (0005_indexes.sql) and job_list_of_all (0017_indexes.sql).
    dependencies = [("jobs", "0016_live_type")]

    operations = [
        migrations.RunSQL("DROP INDEX IF EXISTS job_group", migrations.RunSQL.noop),
        migrations.RunSQL("DROP INDEX IF EXISTS job_list", migrations.RunSQL.noop),
    ]
