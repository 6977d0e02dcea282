"""The guard of webhooks: that of jobs, which lets through the private hosts that an operator named."""

from ipaddress import ip_network

from jobs.conf import Network, conf
from jobs.handlers.web.addresses import Address
from jobs.handlers.web.guard import Guard

_EVERYWHERE: tuple[Network, ...] = (ip_network("0.0.0.0/0"), ip_network("::/0"))


class WebhookGuard(Guard):
    """Judges as the settings say now: OUTBOUND_ALLOWED_NETWORKS, and WEBHOOK_ALLOWED_HOSTS by name."""

    def __init__(self) -> None:
        super().__init__(conf().outbound_allowed_networks)
        self._named = frozenset(conf().webhook_allowed_hosts)
        self._open = Guard(_EVERYWHERE)

    def addresses(self, host: str, port: int) -> list[Address]:
        """Those of a named host are taken as they are."""
        return self._open.addresses(host, port) if self._is_named(host) else super().addresses(host, port)

    def _check_literal(self, host: str) -> None:
        if not self._is_named(host):
            super()._check_literal(host)

    def _is_named(self, host: str) -> bool:
        return host.lower().rstrip(".") in self._named
