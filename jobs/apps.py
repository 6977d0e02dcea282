from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "jobs"
    verbose_name = "Detiq Admin"

    def ready(self) -> None:
        from jobs.ledger import outbox
        from jobs.notifications import deliveries
        from jobs.operations.bulk import wake

        deliveries.wake_by(_tell_of_messages)
        wake.register(_tell_a_worker)
        outbox.wake_by(_tell_of_an_event)


def _tell_a_worker(operation_id: int) -> None:
    from jobs.tasks import begin_operation

    begin_operation(operation_id)


def _tell_of_an_event(document_id: str) -> None:
    from jobs.tasks import ledger_drain

    ledger_drain(document_id)


def _tell_of_messages() -> None:
    from jobs.tasks import deliver_alerts

    deliver_alerts()
