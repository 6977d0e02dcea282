"""Login by allauth: no sign-up by strangers, second factors, and asking again who it is before what is grave."""

import base64
import time
from collections.abc import Callable
from functools import wraps
from io import BytesIO
from typing import Any
from urllib.parse import urlencode, urlsplit

import qrcode
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.app_settings import PASSWORD_RESET_TOKEN_GENERATOR, REAUTHENTICATION_TIMEOUT
from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.utils import is_mfa_enabled
from cryptography.fernet import Fernet, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from qrcode.image.svg import SvgPathFillImage

from jobs.conf import conf
from jobs.console.permissions import Role, roles

# What proves who somebody is; a password that was just set with a link does not.
PROOFS = frozenset({"password", "mfa"})


class AccountAdapter(DefaultAccountAdapter):
    """Accounts are made by an admin or by the demo, never by a visitor. The console sends no mail."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """None."""

    def send_notification_mail(self, *args: Any, **kwargs: Any) -> None:
        """None."""

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """Where they wanted to go. An admin without a second factor is asked to add one, once a login."""
        if asked_to_enrol(request.user) and not must_enrol(request.user):
            messages.info(request, "Protect this account with a second factor: see Account security in your menu.")
        return str(super().get_login_redirect_url(request))


class FactorAdapter(DefaultMFAAdapter):
    """Secrets of second factors lie in the database encrypted; the key is made of `SECRET_KEY`."""

    def encrypt(self, text: str) -> str:
        return _cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return _cipher().decrypt(encrypted_text.encode()).decode()

    def build_totp_svg(self, url: str) -> str:
        """The QR code on white, or the dark theme would hide it."""
        out = BytesIO()
        qrcode.make(url, image_factory=SvgPathFillImage).save(out)
        return out.getvalue().decode()

    def get_totp_issuer(self) -> str:
        """The name in the authenticator app."""
        name = conf().environment
        return f"Detiq Admin {name}" if name else "Detiq Admin"


def _cipher() -> MultiFernet:
    """The first key encrypts; those that `SECRET_KEY` was before still decrypt."""
    return MultiFernet([_fernet(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _fernet(key: str | bytes) -> Fernet:
    secret = key if isinstance(key, bytes) else key.encode()
    derived = HKDF(SHA256(), length=32, salt=None, info=b"detiq.second-factors").derive(secret)
    return Fernet(base64.urlsafe_b64encode(derived))


def asked_to_enrol(user: Any) -> bool:
    """Is it an admin without a second factor?"""
    return Role.ADMIN in roles(user) and not is_mfa_enabled(user)


def must_enrol(user: Any) -> bool:
    """Does the console stay shut until this user has added a second factor?"""
    return conf().require_mfa == "admins" and asked_to_enrol(user)


def password_link(request: HttpRequest, user: User) -> str:
    """The address where this user sets a password, once; it ends with `PASSWORD_RESET_TIMEOUT`."""
    token = PASSWORD_RESET_TOKEN_GENERATOR().make_token(user)
    names = {"uidb36": user_pk_to_url_str(user), "key": token}
    return request.build_absolute_uri(reverse("account_reset_password_from_key", kwargs=names))


def recently_confirmed(request: HttpRequest) -> bool:
    """Did this session prove within the last five minutes who it is, at the login or since?"""
    oldest = time.time() - REAUTHENTICATION_TIMEOUT
    records = get_authentication_records(request, request.user)
    return any(one.get("method") in PROOFS and one.get("at", 0) >= oldest for one in records)


def confirmed[**P](view: Callable[P, HttpResponseBase]) -> Callable[P, HttpResponseBase]:
    """For views that destroy or that change rights: asks again who it is, unless it was proved within five minutes.

    Put it on the form as well as on what the form sends, below the decorator that checks the right. The answer leads to
    the confirmation, and from there back to the form (or to the page that it was opened on); nothing is done meanwhile.
    """

    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        request = args[0]
        assert isinstance(request, HttpRequest)  # noqa: S101  (Django's views take it first)
        return view(*args, **kwargs) if recently_confirmed(request) else _ask(request)

    return guarded


def _ask(request: HttpRequest) -> HttpResponse:
    script = request.headers.get("HX-Request") == "true"
    back = _page_of(request) if script or request.method != "GET" else request.get_full_path()
    url = reverse("account_reauthenticate") + "?" + urlencode({"next": back})
    if not script:
        return HttpResponseRedirect(url)
    response = HttpResponse("Confirm first that it is you.", status=403, content_type="text/plain; charset=utf-8")
    response["HX-Redirect"] = url
    return response


def _page_of(request: HttpRequest) -> str:
    """The page of ours that a form or a dialog stands on."""
    parts = urlsplit(request.headers.get("HX-Current-URL") or request.headers.get("Referer") or "")
    own = parts.netloc == request.get_host() and parts.path.startswith("/") and not parts.path.startswith("//")
    return parts.path + (f"?{parts.query}" if parts.query else "") if own else "/"
