"""Secrets that the database holds: encrypted, the key made of `SECRET_KEY`, another one for each purpose.

Whoever reads the database alone, or a copy of it, cannot use them.
"""

import base64
from dataclasses import dataclass

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.views.decorators.debug import sensitive_variables

from jobs.domain.errors import JobsError


class Unreadable(JobsError):
    """The secret was saved under another `SECRET_KEY`."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"invalid configuration: {what} cannot be read: it was saved under another SECRET_KEY; enter it again"
        )


@dataclass(frozen=True)
class Vault:
    """Seals for one purpose; what one vault sealed no other opens."""

    purpose: bytes

    @sensitive_variables()
    def seal(self, text: str) -> str:
        """As it is stored; nothing stays nothing."""
        return self._cipher().encrypt(text.encode()).decode() if text else ""

    @sensitive_variables()
    def unseal(self, sealed: str, what: str) -> str:
        """As it is used. Raises `Unreadable`, which says of `what`."""
        try:
            return self._cipher().decrypt(sealed.encode()).decode() if sealed else ""
        except (InvalidToken, ValueError):
            raise Unreadable(what) from None

    def _cipher(self) -> MultiFernet:
        """The first key encrypts; those that `SECRET_KEY` was before still decrypt."""
        return MultiFernet([self._fernet(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])

    def _fernet(self, key: str | bytes) -> Fernet:
        secret = key if isinstance(key, bytes) else key.encode()
        derived = HKDF(SHA256(), length=32, salt=None, info=self.purpose).derive(secret)
        return Fernet(base64.urlsafe_b64encode(derived))


CHANNELS = Vault(b"detiq.alert-channels")
REMOTE_TYPES = Vault(b"detiq.remote-executors")
