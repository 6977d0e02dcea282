"""Login by allauth: no sign-up by strangers."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):
    """Accounts are made by an admin or by the demo, never by a visitor."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False
