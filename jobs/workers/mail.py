"""Mail with one deadline for the whole exchange.

Django's backend has a time for each answer of the server: a slow one with twenty recipients takes minutes, and one that
sends a byte now and then takes for ever. By then somebody else would send the same message.
"""

import contextlib
import smtplib
import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from django.core.mail import EmailMessage
from django.core.mail.backends.smtp import EmailBackend

MAIL_SECONDS = 20.0


def _connection(tls: bool, connected: Callable[[socket.socket], None]) -> type[smtplib.SMTP]:
    """smtplib's class, which hands over its connection as soon as there is one, before any word and any TLS on it."""

    class Plain(smtplib.SMTP):
        def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
            made: socket.socket = super()._get_socket(host, port, timeout)  # type: ignore[misc]
            connected(made)
            return made

    class Tls(smtplib.SMTP_SSL, Plain):
        pass

    return Tls if tls else Plain


class DeadlineBackend(EmailBackend):
    """Django's backend, whose connection is cut after `total_seconds`."""

    def __init__(self, *, total_seconds: float = MAIL_SECONDS, **options: Any) -> None:
        super().__init__(**options)
        self._total_seconds = total_seconds
        self._deadline = 0.0
        self._cut: threading.Timer | None = None
        self._wire: socket.socket | None = None

    @property
    def connection_class(self) -> type[smtplib.SMTP]:
        return _connection(self.use_ssl, self._watch)

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """As Django's; raises TimeoutError when the time is over before the server took them."""
        self._deadline = time.monotonic() + self._total_seconds
        try:
            return int(super().send_messages(email_messages) or 0)
        except (OSError, smtplib.SMTPException):
            if time.monotonic() < self._deadline:
                raise
            raise TimeoutError(f"it took no message within {self._total_seconds:g} s") from None
        finally:
            if self._cut is not None:
                self._cut.cancel()
            if self._wire is not None:
                self._wire.close()

    def _watch(self, connection: socket.socket) -> None:
        self._wire = connection.dup()  # another name of the connection, which TLS does not take away
        self._cut = threading.Timer(max(0.0, self._deadline - time.monotonic()), _shut, [self._wire])
        self._cut.daemon = True
        self._cut.start()


def _shut(wire: socket.socket) -> None:
    with contextlib.suppress(OSError):  # the server was first, or the mail just went out
        wire.shutdown(socket.SHUT_RDWR)
