from django.db import migrations


class Migration(migrations.Migration):
    # The indexes of 0010_indexes.sql are added by `migrate` itself, as on adopted tables; job_list_dead replaces this one.
    dependencies = [("jobs", "0009_ledger")]

    operations = [migrations.RunSQL("DROP INDEX IF EXISTS job_list_dlq", migrations.RunSQL.noop)]
