"""Channels' addresses and secrets lie in the database encrypted; the key is made of `SECRET_KEY`."""

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from jobs.domain.errors import JobsError


class Unreadable(JobsError):
    """The channel was saved under another SECRET_KEY; enter its address and secret again."""

    def __init__(self) -> None:
        super().__init__("the channel was saved under another SECRET_KEY; enter its address and secret again")


def seal(text: str) -> str:
    """Encrypts with the first key."""
    return _cipher().encrypt(text.encode()).decode() if text else ""


def unseal(text: str) -> str:
    """Decrypts, also with the keys that `SECRET_KEY` was before. Raises `Unreadable`."""
    try:
        return _cipher().decrypt(text.encode()).decode() if text else ""
    except InvalidToken:
        raise Unreadable from None


def _cipher() -> MultiFernet:
    return MultiFernet([_fernet(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _fernet(key: str | bytes) -> Fernet:
    secret = key if isinstance(key, bytes) else key.encode()
    derived = HKDF(SHA256(), length=32, salt=None, info=b"detiq.alert-channels").derive(secret)
    return Fernet(base64.urlsafe_b64encode(derived))
