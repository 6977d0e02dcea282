import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "detiq_admin.settings")
os.environ.setdefault("DETIQ_PROCESS", "web")

from django.urls import get_resolver  # noqa: E402

from detiq_admin import loaded  # noqa: E402
from detiq_admin.body_limit import BodyLimit  # noqa: E402
from detiq_admin.handler import Handler  # noqa: E402
from jobs.conf import conf  # noqa: E402

django.setup(set_prefix=False)
application = BodyLimit(Handler(), 2 * conf().artifact_max_bytes + 1_000_000)


def _stand_in() -> None:
    """What outsiders wait for is done here while no worker does it: alerts, the end of pauses."""
    from jobs.workers.alerts import StandIn

    StandIn().start()


_ = get_resolver().url_patterns  # a mistake in a page shows now, not at the first request
_stand_in()
loaded.stays()
