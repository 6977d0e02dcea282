from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "jobs"
    verbose_name = "Detiq Admin"

    def ready(self) -> None:
        """Wires what lower parts need from above: once an event is committed, Huey brings the word to a worker."""
        from jobs.ledger import outbox

        outbox.wake_by(_wake)


def _wake(document_id: str) -> None:
    # Imported when it is needed: Huey makes its queue at import, and most commands need none.
    from jobs.tasks import ledger_drain

    ledger_drain(document_id)
