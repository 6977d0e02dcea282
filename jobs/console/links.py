"""Addresses of jobs and filters. An id is any text, so not every id can stand in a path."""

import re
from urllib.parse import quote, urlencode

from jobs.console import scope

# What browsers and servers would change on the way: dot segments, empty segments, ends that look like none.
_UNSAFE_PATH = re.compile(r"(^|/)\.{0,2}(/|$)|[\x00-\x1f\x7f\\]|^\s|\s$")


def job_url(job_id: str) -> str:
    """The address of a job's page: `/jobs/<id>/`, or `/job/?id=…` for an id that no path can carry."""
    if not path_safe(job_id):
        return "/job/?" + urlencode({"id": job_id})
    return f"/jobs/{quote(job_id, safe='/')}/"


def path_safe(job_id: str) -> bool:
    """Can this id stand in a path?"""
    return bool(job_id) and not _UNSAFE_PATH.search(job_id)


def jobs_url(**params: str | list[str] | None) -> str:
    """The jobs list under a filter; empty values are left out."""
    kept = {name: value for name, value in params.items() if value}
    return "/jobs/" + ("?" + urlencode(kept, doseq=True) if kept else "")


def group_url(fingerprint: str) -> str:
    """The page of a failure group. A fingerprint is any text.

    The page is about all tenants; for somebody limited to some it is the group's runs, of theirs.
    """
    if scope.limited():
        return runs_url(span="30d", group=fingerprint)
    return "/failures/group/?" + urlencode({"id": fingerprint})


def failures_url(**params: str | None) -> str:
    """The failures page under a filter; empty values are left out."""
    kept = {name: value for name, value in params.items() if value}
    return "/failures/" + ("?" + urlencode(kept) if kept else "")


def runs_url(**params: str | None) -> str:
    """The failed runs under a filter; empty values are left out."""
    kept = {name: value for name, value in params.items() if value}
    return "/failures/runs/" + ("?" + urlencode(kept) if kept else "")
