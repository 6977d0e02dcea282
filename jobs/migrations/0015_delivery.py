from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("jobs", "0014_checkpoint_version")]

    operations = [
        migrations.RunSQL(
            [
                # When a channel last sent something; and all of a channel that is removed.
                "CREATE INDEX alert_delivery_channel ON alert_delivery (channel_id, sent_at)",
                # Tests have no alert to be pruned with.
                "CREATE INDEX alert_delivery_test ON alert_delivery (created_at) WHERE event = 'test'",
            ],
            migrations.RunSQL.noop,
        ),
    ]
