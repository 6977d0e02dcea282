"""Every address of the console, for tests that go through all of them."""

from urllib.parse import quote

PAGES = [
    "/", "/jobs/", "/failures/", "/dlq/", "/tenants/", "/workers/", "/ledger/", "/operations/", "/pauses/", "/audit/",
    "/dlq/trash/",
    "/failures/runs/", "/settings/", "/enqueue/", "/why/", "/pauses/new/", "/pauses/effect/", "/frame/nav/", "/frame/pauses/",
]  # fmt: skip
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
    "bulk_cancel": "/actions/bulk/cancel/",
    "bulk_retry": "/actions/bulk/retry/",
    "bulk_rerun": "/actions/bulk/rerun/",
    "bulk_run_now": "/actions/bulk/run-now/",
    "bulk_priority": "/actions/bulk/priority/",
    "bulk_purge": "/actions/bulk/purge/",
    "bulk_restore": "/actions/bulk/restore/",
    "pause_operation": "/actions/operation/pause/",
    "resume_operation": "/actions/operation/resume/",
    "stop_operation": "/actions/operation/stop/",
}
# Previews of work on many jobs: a filter may follow.
BULK_PAGES = ["/bulk/cancel/", "/bulk/retry/", "/bulk/rerun/", "/bulk/run-now/", "/bulk/priority/", "/bulk/purge/",
              "/bulk/restore/"]  # fmt: skip
# Pages about one operation: put its number in.
OPERATION_PAGES = ["/operations/{}/", "/operations/{}/stop/"]
# Pages about one failure group: put its fingerprint in.
GROUP_PAGES = ["/failures/group/?id={}", "/failures/group/change/?id={}", "/failures/runs/?group={}&span=30d"]
OPEN = ["/healthz", "/readyz", "/metrics", "/accounts/login/"]
HTMX = {"HX-Request": "true"}


def job_pages(job_id: str) -> list[str]:
    return [page.format(quote(job_id, safe="")) for page in JOB_PAGES]
