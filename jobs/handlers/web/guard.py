"""The guard on every outbound connection: where may a job that a customer configured connect to?

Used by the crawler and by anything else that calls an address a person typed (webhooks, a remote executor). `Guard`
judges; the client of `transport.py` connects only to addresses that it judged, and does so again for every redirect.
"""

import socket
from collections.abc import Callable, Iterable, Sequence
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from jobs.handlers.web.addresses import Address, Network, why_refused
from jobs.handlers.web.errors import AddressNotAllowed

NO_NAME = "it is no valid host name"

type Resolver = Callable[[str, int], Sequence[str]]


def system_resolver(host: str, port: int) -> Sequence[str]:
    """Every address that the system's resolver knows for `host`. Blocks. Raises `socket.gaierror`.

    It also reads the spellings of an IPv4 address that browsers read (`0x7f.1`, `0177.0.0.1`, `2130706433`), so they
    are judged by what they mean.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return [str(entry[4][0]) for entry in found]


class Guard:
    """Judges URLs, hosts and addresses. `allowed` are networks which are open although they are private."""

    def __init__(self, allowed: Iterable[Network] = (), resolve: Resolver | None = None) -> None:
        self._allowed = tuple(allowed)
        self._resolve = resolve

    def check_url(self, url: str) -> SplitResult:
        """The parts of `url`, if its form is one we fetch. Resolves nothing. Raises `AddressNotAllowed`."""
        try:
            parts = urlsplit(url)
            host, _port = parts.hostname, parts.port
        except ValueError as error:
            raise AddressNotAllowed(_printable(url), f"the address cannot be read ({error})") from None
        if parts.scheme not in ("http", "https"):
            raise AddressNotAllowed(
                host or _printable(url), f"only http and https are fetched, not {parts.scheme or '?'}"
            )
        if not host:
            raise AddressNotAllowed(_printable(url), "the address has no host")
        if parts.username is not None or parts.password is not None:
            raise AddressNotAllowed(host, "the address holds a user name or password")
        _check_name(host)
        self._check_literal(host)
        return parts

    def addresses(self, host: str, port: int) -> list[Address]:
        """The addresses of `host`, each of them judged: one refused address refuses the host, since the side that
        names them also chooses which we would connect to. Blocks while resolving.

        Raises `AddressNotAllowed`; `socket.gaierror` when the name does not resolve.
        """
        try:
            # Looked up when called, so that a test may put another resolver in the module's place.
            found = [ip_address(text) for text in (self._resolve or system_resolver)(host, port)]
        except UnicodeError:
            raise AddressNotAllowed(_printable(host), NO_NAME) from None
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "the name has no address")
        for address in found:
            self._check(host, address)
        return list(dict.fromkeys(found))

    def _check_literal(self, host: str) -> None:
        try:
            address = ip_address(host)
        except ValueError:
            return
        self._check(host, address)

    def _check(self, host: str, address: Address) -> None:
        if (why := why_refused(address, self._allowed)) is not None:
            named = why if host == str(address) else f"it is {address}, {why}"
            raise AddressNotAllowed(_printable(host), named)


def _check_name(host: str) -> None:
    """Refuses what no resolver takes: an empty or endless part, a space, a sign."""
    name = host.partition("%")[0].removesuffix(".")
    try:
        name.encode("idna")
    except UnicodeError:
        raise AddressNotAllowed(_printable(host), NO_NAME) from None
    if not name or any(char.isspace() or not char.isprintable() or char in "<>\"'" for char in name):
        raise AddressNotAllowed(_printable(host), NO_NAME)


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text[:200])
