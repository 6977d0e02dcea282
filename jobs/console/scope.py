"""Which tenants somebody may see: the one place that every query asks.

None means all of them. Else it is a set of tenant ids, and what belongs to any other tenant is to this person as if it
were not there: not listed, not counted, not found. The middleware binds the scope of the request's user once the login is
checked; commands and workers have none and see all.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from jobs.console import rights
from jobs.queue.pauses import PauseInForce

type Scope = frozenset[str] | None

# The parameter's name in the pages' SQL.
PARAMETER = "within"
_current: ContextVar[Scope] = ContextVar("detiq_scope", default=None)


def of(user: Any) -> Scope:
    """The tenants of a user. Who is limited to none in particular sees all."""
    if not getattr(user, "is_authenticated", False):
        return frozenset()
    return rights.of(user).tenants or None


def current() -> Scope:
    """The scope of the request that is being answered."""
    return _current.get()


def limited() -> bool:
    """Does the one who asks see some tenants only?"""
    return current() is not None


def bind(scope: Scope) -> None:
    """From here to the end of the request it is this."""
    _current.set(scope)


@contextmanager
def request() -> Iterator[None]:
    """Nothing that is bound inside reaches another request."""
    before = _current.set(None)
    try:
        yield
    finally:
        _current.reset(before)


def sees(tenant_id: str | None) -> bool:
    """May the one who asks know of this tenant?"""
    scope = current()
    return scope is None or tenant_id in scope


def only(column: str) -> str:
    """An SQL condition that leaves the rows of the scope; `true` for all. Its parameters are those of `params`."""
    return f"{column} = ANY (%({PARAMETER})s)" if limited() else "true"


def params() -> dict[str, list[str]]:
    """The parameters that `only` needs."""
    scope = current()
    return {} if scope is None else {PARAMETER: sorted(scope)}


def pauses(in_force: Iterable[PauseInForce]) -> list[PauseInForce]:
    """The pauses that may hold jobs of the scope. What was written about all tenants may name others: it is left out."""
    scope = current()
    if scope is None:
        return list(in_force)
    mine = [one for one in in_force if one.tenant_id is None or one.tenant_id in scope]
    return [one if one.tenant_id in scope else replace(one, reason="it holds all tenants alike") for one in mine]
