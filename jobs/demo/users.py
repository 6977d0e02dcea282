"""Four users, one a role, whose password everybody knows: never reachable from another machine."""

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group, User
from django.db import connection

PASSWORD = "detiq-demo"  # noqa: S105
NAMES = ("viewer", "operator", "support", "admin")


def make_users() -> list[str]:
    """Makes the missing ones, each in its role's group; a user that exists is left alone. Returns the names made."""
    hashed = make_password(PASSWORD)  # slow on purpose, so it is done once for all
    made = []
    for name in NAMES:
        user, created = User.objects.get_or_create(username=name, defaults={"password": hashed})
        if created:
            user.groups.add(Group.objects.get_or_create(name=name)[0])
            made.append(name)
    return made


def present() -> list[str]:
    """The demo users that can log in with the demo password; none where there are no users' tables yet."""
    if User._meta.db_table not in connection.introspection.table_names():
        return []
    return [
        user.username
        for user in User.objects.filter(username__in=NAMES, is_active=True).order_by("id")
        if user.check_password(PASSWORD)
    ]
