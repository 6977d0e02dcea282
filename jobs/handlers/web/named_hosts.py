"""The guard of calls to services that an operator runs: strict, but for hosts that a setting names."""

from collections.abc import Iterable
from urllib.parse import SplitResult

from jobs.handlers.web.addresses import Address, Network, why_refused
from jobs.handlers.web.errors import AddressNotAllowed
from jobs.handlers.web.guard import Guard, Resolver

METADATA = "a cloud metadata service"


class NamedHostsGuard(Guard):
    """A named host may have a private, loopback or link-local address, and be called without TLS. Cloud metadata services
    are refused under every name: whoever rules a name must not reach their credentials."""

    def __init__(
        self,
        hosts: Iterable[str],
        resolve: Resolver | None = None,
        *,
        allowed: Iterable[Network] = (),
        needs_tls: bool = True,
    ) -> None:
        """`allowed` as for `Guard`; `needs_tls` false: any host may be called without TLS."""
        super().__init__(allowed, resolve)
        self._hosts = frozenset(hosts)
        self._needs_tls = needs_tls

    def check_url(self, url: str) -> SplitResult:
        """As `Guard.check_url`; also refuses http to a host that is not named, where TLS is needed."""
        parts = super().check_url(url)
        if self._needs_tls and parts.scheme != "https" and not self._is_named(parts.hostname or ""):
            raise AddressNotAllowed(parts.hostname or "?", "only https, or a host that REMOTE_ALLOWED_HOSTS names")
        return parts

    def _check(self, host: str, address: Address) -> None:
        if self._is_named(host) and why_refused(address) != METADATA:
            return
        super()._check(host, address)

    def _is_named(self, host: str) -> bool:
        return host.lower().rstrip(".") in self._hosts
