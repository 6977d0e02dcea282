"""Secrets shared with remote executors: made here, stored encrypted, the key made of `SECRET_KEY`.

Whoever reads the database alone, or a copy of it, cannot sign in a service's name.
"""

import base64
import secrets

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.views.decorators.debug import sensitive_variables

from jobs.domain.errors import JobsError


class SecretUnreadable(JobsError):
    """The secret was stored by a process with another `SECRET_KEY`."""

    def __init__(self, job_type: str) -> None:
        super().__init__(
            f"invalid configuration: the secret of remote type {job_type[:200]} cannot be read: it was stored with "
            "another SECRET_KEY than this process has"
        )


def new_secret() -> str:
    """256 random bits, as text. The text itself, in UTF-8, is the key of the signatures."""
    return "dts_" + secrets.token_urlsafe(32)


@sensitive_variables()
def seal(secret: str) -> str:
    """As it is stored."""
    return _cipher().encrypt(secret.encode()).decode()


@sensitive_variables()
def unseal(sealed: str, job_type: str) -> str:
    """As it is used. Raises `SecretUnreadable`."""
    try:
        return _cipher().decrypt(sealed.encode()).decode()
    except (InvalidToken, ValueError):
        raise SecretUnreadable(job_type) from None


def _cipher() -> MultiFernet:
    """The first key encrypts; those that `SECRET_KEY` was before still decrypt."""
    return MultiFernet([_fernet(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _fernet(key: str | bytes) -> Fernet:
    secret = key if isinstance(key, bytes) else key.encode()
    derived = HKDF(SHA256(), length=32, salt=None, info=b"detiq.remote-executors").derive(secret)
    return Fernet(base64.urlsafe_b64encode(derived))
