"""The guard of webhooks: that of jobs, which lets through the private hosts that an operator named."""

from jobs.conf import conf
from jobs.handlers.web.named_hosts import NamedHostsGuard


class WebhookGuard(NamedHostsGuard):
    """Judges as the settings say now: OUTBOUND_ALLOWED_NETWORKS, and WEBHOOK_ALLOWED_HOSTS by name."""

    def __init__(self) -> None:
        settings = conf()
        super().__init__(settings.webhook_allowed_hosts, allowed=settings.outbound_allowed_networks, needs_tls=False)
