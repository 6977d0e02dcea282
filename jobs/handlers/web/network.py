"""Sockets that never keep a job from stopping: every wait is cut into slices, and between two of them the run is
asked."""

import errno
import os
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import httpcore2

from jobs.handlers.web.addresses import Address
from jobs.handlers.web.guard import Guard

SLICE_SECONDS = 0.2
CONNECT_SECONDS = 5.0

type SocketOption = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]


class Patience:
    """How long one exchange may take, and whom to ask meanwhile. `check` raises when the run has to stop."""

    def __init__(self, total_seconds: float, check: Callable[[], None] = lambda: None) -> None:
        self.total_seconds = total_seconds
        self._check = check
        self._deadline = time.monotonic() + total_seconds

    def restart(self) -> None:
        """A new exchange begins: the whole time is there again."""
        self._deadline = time.monotonic() + self.total_seconds

    def ask(self, timeout: type[httpcore2.TimeoutException]) -> None:
        """Raises what `check` raises, or `timeout` once the time is used up."""
        self._check()
        if time.monotonic() >= self._deadline:
            raise timeout(f"no complete answer within {self.total_seconds:g} seconds")


class GuardedBackend(httpcore2.NetworkBackend):
    """Opens connections to judged addresses only: the address that was checked is the one connected to, so that a name
    which changes its mind between two look-ups gains nothing. TLS still sees and verifies the name."""

    def __init__(self, guard: Guard, patience: Patience) -> None:
        self._guard = guard
        self._patience = patience

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore2.NetworkStream:
        """Raises `AddressNotAllowed`, or `httpcore2.ConnectError` when no address of the host takes the connection."""
        last = ""
        for address in self._addresses(host, port):
            try:
                return PatientStream(self._connect(address, port), self._patience)
            except OSError as error:
                last = error.strerror or str(error)
        # The system's error stays out of the chain: its code means a service of our own to whoever classifies failures.
        raise httpcore2.ConnectError(last or "the name has no address") from None

    def _addresses(self, host: str, port: int) -> Sequence[Address]:
        try:
            return _in_background(lambda: self._guard.addresses(host, port), self._patience)
        except socket.gaierror as error:
            raise httpcore2.ConnectError(f"the name {host} does not resolve ({error.strerror})") from error

    def _connect(self, address: Address, port: int) -> socket.socket:
        sock = socket.socket(socket.AF_INET6 if address.version == 6 else socket.AF_INET, socket.SOCK_STREAM)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setblocking(False)
            code = sock.connect_ex((str(address), port))
            if code not in (0, errno.EINPROGRESS, errno.EWOULDBLOCK):
                raise OSError(code, _connect_words(code))
            self._finish_connect(sock)
        except BaseException:
            sock.close()
            raise
        return sock

    def _finish_connect(self, sock: socket.socket) -> None:
        until = time.monotonic() + CONNECT_SECONDS
        while not _is_ready(sock, SLICE_SECONDS, write=True):
            self._patience.ask(httpcore2.ConnectTimeout)
            if time.monotonic() > until:
                raise TimeoutError(f"no connection within {CONNECT_SECONDS:g} seconds")
        if code := sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise OSError(code, _connect_words(code))


class PatientStream(httpcore2.NetworkStream):
    """A connection whose reads and writes end when the patience does. The `timeout` arguments of the interface are not
    used: the time of the whole exchange counts, or a page that sends a byte now and then would never end."""

    def __init__(self, sock: socket.socket, patience: Patience) -> None:
        self._sock = sock
        self._patience = patience
        sock.settimeout(SLICE_SECONDS)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._again(lambda: self._sock.recv(max_bytes), httpcore2.ReadTimeout, httpcore2.ReadError)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        left = memoryview(buffer)
        while left:
            sent = self._again(partial(self._sock.send, left), httpcore2.WriteTimeout, httpcore2.WriteError)
            left = left[sent:]

    def close(self) -> None:
        self._sock.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        try:
            secure = ssl_context.wrap_socket(self._sock, server_hostname=server_hostname, do_handshake_on_connect=False)
            stream = PatientStream(secure, self._patience)
            stream._again(secure.do_handshake, httpcore2.ConnectTimeout, httpcore2.ConnectError)
        except BaseException:
            self.close()
            raise
        return stream

    def get_extra_info(self, info: str) -> Any:
        match info:
            case "ssl_object" if isinstance(self._sock, ssl.SSLSocket):
                return self._sock
            case "client_addr":
                return self._sock.getsockname()
            case "server_addr":
                return self._sock.getpeername()
            case "socket":
                return self._sock
            case "is_readable":
                return self._sock.fileno() < 0 or _is_ready(self._sock, 0, write=False)
        return None

    def _again[T](
        self, action: Callable[[], T], timeout: type[httpcore2.TimeoutException], failure: type[httpcore2.NetworkError]
    ) -> T:
        while True:
            self._patience.ask(timeout)
            try:
                return action()
            except TimeoutError:
                continue
            except OSError as error:
                raise failure(str(error)) from error


def _is_ready(sock: socket.socket, seconds: float, *, write: bool) -> bool:
    # poll, where there is one: select refuses file numbers above 1,023, and a worker may hold that many.
    if hasattr(select, "poll"):
        poller = select.poll()
        poller.register(sock, select.POLLOUT if write else select.POLLIN)
        return bool(poller.poll(seconds * 1000))
    ready = select.select([] if write else [sock], [sock] if write else [], [sock], seconds)
    return any(ready)


def _in_background[T](action: Callable[[], T], patience: Patience) -> T:
    """The result of a call that cannot be interrupted (a look-up of a name). If patience ends first, the call is left
    to end alone in its thread: the resolver has a time limit of its own."""
    results: list[T] = []
    errors: list[Exception] = []
    done = threading.Event()

    def call() -> None:
        try:
            results.append(action())
        except Exception as error:  # noqa: BLE001 - handed to the waiting thread, which raises it
            errors.append(error)
        finally:
            done.set()

    threading.Thread(target=call, name="resolve", daemon=True).start()
    while not done.wait(SLICE_SECONDS):
        patience.ask(httpcore2.ConnectTimeout)
    if errors:
        raise errors[0]
    return results[0]


def _connect_words(code: int) -> str:
    return "the target takes no connections" if code == errno.ECONNREFUSED else os.strerror(code)
