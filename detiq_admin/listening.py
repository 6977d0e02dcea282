"""The console's address: checked and taken before anything is started."""

import errno
import socket
from ipaddress import ip_address

from jobs.domain.errors import JobsError


class AddressRefused(JobsError):
    """The console cannot listen where it was told to."""


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on the first of the host's addresses that can be had. Raises `AddressRefused`."""
    last: OSError | None = None
    for family, *_, address in _addresses(host, port):
        candidate = socket.socket(family, socket.SOCK_STREAM)
        try:
            candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            candidate.bind(address)
            candidate.listen(256)
            return candidate
        except OSError as error:
            candidate.close()
            last = error
    raise AddressRefused(_why(host, port, last)) from last


def is_loopback(host: str) -> bool:
    """Whether every address of the host stays on this machine. Raises `AddressRefused` when it has none."""
    return all(ip_address(str(address[0]).split("%")[0]).is_loopback for *_, address in _addresses(host, 0))


def url(listener: socket.socket, host: str) -> str:
    """The address to open in a browser."""
    port = listener.getsockname()[1]
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)  # noqa: S104
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"


def _addresses(host: str, port: int) -> list[tuple[int, int, int, str, tuple[str, int]]]:
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError) as error:
        raise AddressRefused(f"--host {host}: this is no address of this machine ({error})") from error
    # IPv4 first: it is what most people type for a name such as localhost.
    return sorted(found, key=lambda info: info[0] != socket.AF_INET)  # type: ignore[arg-type]


def _why(host: str, port: int, error: OSError | None) -> str:
    if error is not None and error.errno == errno.EADDRINUSE:
        return f"port {port} on {host} is in use by another program; choose another with --port"
    if error is not None and error.errno == errno.EACCES:
        return f"port {port} needs more rights than this user has; choose one above 1023 with --port"
    return f"--host {host} --port {port} cannot be used: {error}"
