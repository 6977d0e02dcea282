from django.db import migrations


class Migration(migrations.Migration):
    # The indexes of 0010_indexes.sql are added by `migrate` itself, as on adopted tables; four of them replace these.
    dependencies = [("jobs", "0009_ledger")]

    operations = [
        migrations.RunSQL(
            "DROP INDEX IF EXISTS job_list_dlq, job_list_status, job_list_tenant, job_list_type", migrations.RunSQL.noop
        )
    ]
