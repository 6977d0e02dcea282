from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "jobs"
    verbose_name = "Detiq Admin"

    def ready(self) -> None:
        from jobs.operations.bulk import wake

        wake.register(_tell_a_worker)


def _tell_a_worker(operation_id: int) -> None:
    from jobs.tasks import begin_operation

    begin_operation(operation_id)
