import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "detiq_admin.settings")
os.environ.setdefault("DETIQ_PROCESS", "web")
application = get_asgi_application()


def _stand_in() -> None:
    """Alerts are evaluated here while no worker does it: else nobody would say that none is there."""
    from jobs.workers.alerts import StandIn

    StandIn().start()


_stand_in()
