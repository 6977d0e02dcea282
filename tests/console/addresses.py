"""Every address of the console, for tests that go through all of them."""

from urllib.parse import quote

PAGES = [
    "/", "/jobs/", "/failures/", "/dlq/", "/tenants/", "/workers/", "/ledger/", "/operations/", "/pauses/", "/audit/",
    "/failures/runs/", "/settings/", "/enqueue/", "/why/", "/pauses/new/", "/pauses/effect/", "/frame/nav/", "/frame/pauses/",
]  # fmt: skip
# For those who manage people: put a user's name in.
PEOPLE_PAGES = ["/people/", "/people/new/", "/people/change/?user={}"]
# Pages about one job: put the id in.
JOB_PAGES = ["/jobs/{}/", "/job/?id={}", "/raw/config/?id={}"]
ACTIONS = {
    "cancel": "/actions/cancel/",
    "force_cancel": "/actions/force-cancel/",
    "retry": "/actions/retry/",
    "rerun": "/actions/rerun/",
    "run_now": "/actions/run-now/",
    "pause": "/actions/pause/",
    "resume": "/actions/resume/",
    "enqueue": "/enqueue/",
    "change_group": "/actions/group/",
    "create_person": "/actions/people/create/",
    "change_person": "/actions/people/change/",
    "link_person": "/actions/people/link/",
    "end_sessions": "/actions/people/end-sessions/",
}
# Pages about one failure group: put its fingerprint in.
GROUP_PAGES = ["/failures/group/?id={}", "/failures/group/change/?id={}", "/failures/runs/?group={}&span=30d"]
OPEN = ["/healthz", "/readyz", "/metrics", "/accounts/login/"]
HTMX = {"HX-Request": "true"}


def job_pages(job_id: str) -> list[str]:
    return [page.format(quote(job_id, safe="")) for page in JOB_PAGES]
