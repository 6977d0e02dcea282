"""Every address of the console, for tests that go through all of them."""

from urllib.parse import quote

PAGES = [
    "/", "/jobs/", "/failures/", "/dlq/", "/tenants/", "/workers/", "/ledger/", "/operations/", "/pauses/", "/audit/",
    "/failures/runs/", "/settings/", "/enqueue/", "/why/", "/types/", "/pauses/new/", "/pauses/effect/", "/frame/nav/", "/frame/pauses/",
    "/dlq/trash/", "/ledger/contradictions/", "/ledger/repair/?kind=dead_job", "/alerts/", "/alerts/?show=over", "/alerts/rules/",
    "/alerts/rule/?name=silent_stop", "/alerts/channels/", "/alerts/channel/", "/alerts/messages/", "/notifications/",
    "/notifications/?show=all",
    "/artifacts/", "/artifacts/new/",
]  # fmt: skip
# For those who manage people: put a user's name in.
PEOPLE_PAGES = ["/people/", "/people/new/", "/people/change/?user={}", "/memberships/?tenant={}"]
# For those who manage the types that other services run.
REMOTE_PAGES = ["/settings/remote/", "/settings/remote/type/"]
# Where services report: signed, without a session.
REMOTE_CALLBACK = "remote/<slug:run_id>/<slug:event>"
# Pages about one job: put the id in.
JOB_PAGES = ["/jobs/{}/", "/job/?id={}", "/raw/config/?id={}"]
ACTIONS = {
    "cancel": "/actions/cancel/",
    "force_cancel": "/actions/force-cancel/",
    "retry": "/actions/retry/",
    "rerun": "/actions/rerun/",
    "run_now": "/actions/run-now/",
    "set_priority": "/actions/set-priority/",
    "purge": "/actions/purge/",
    "restore": "/actions/restore/",
    "reveal": "/actions/reveal/",
    "cap": "/actions/cap/",
    "type_cap": "/actions/type-cap/",
    "export_audit": "/audit/export/",
    "pause": "/actions/pause/",
    "resume": "/actions/resume/",
    "enqueue": "/enqueue/",
    "change_group": "/actions/group/",
    "ledger_retry": "/actions/ledger-retry/",
    "ledger_purge": "/actions/ledger-purge/",
    "upload_artifact": "/actions/artifact/upload/",
    "reprocess_artifact": "/actions/artifact/reprocess/",
    "ledger_repair": "/actions/ledger-repair/",
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
    "create_person": "/actions/people/create/",
    "change_person": "/actions/people/change/",
    "link_person": "/actions/people/link/",
    "end_sessions": "/actions/people/end-sessions/",
    "acknowledge": "/actions/alert/acknowledge/",
    "resend_delivery": "/actions/alert/message/",
    "alert_rule": "/actions/alert/rule/",
    "alert_channel": "/actions/alert/channel/",
    "remove_channel": "/actions/alert/channel/remove/",
    "test_channel": "/actions/alert/channel/test/",
    "set_membership": "/actions/membership/",
    "set_remote": "/actions/remote/set/",
    "rotate_remote": "/actions/remote/rotate/",
    "remove_remote": "/actions/remote/remove/",
}
# Pages about a cap: of the tenant or type that is named.
CAP_PAGES = [
    "/tenants/tenant/?id=acme", "/types/type/?id=CRAWL", "/caps/tenant/?id=acme", "/caps/type/?id=CRAWL",
    "/caps/tenant/effect/?id=acme&cap=5", "/caps/type/effect/?id=CRAWL&cap=0",
]  # fmt: skip
# Previews of work on many jobs: a filter may follow.
BULK_PAGES = ["/bulk/cancel/", "/bulk/retry/", "/bulk/rerun/", "/bulk/run-now/", "/bulk/priority/", "/bulk/purge/",
              "/bulk/restore/"]  # fmt: skip
# Pages about one operation: put its number in.
OPERATION_PAGES = ["/operations/{}/", "/operations/{}/stop/"]
# Pages about one failure group: put its fingerprint in.
GROUP_PAGES = ["/failures/group/?id={}", "/failures/group/change/?id={}", "/failures/runs/?group={}&span=30d"]
# Pages about one event of the ledger: put its id in.
LEDGER_PAGES = ["/ledger/document/?company=acme&document={}", "/ledger/act/?verb=retry&id={}"]
# Pages about one artifact: put its id in.
ARTIFACT_PAGES = ["/artifacts/artifact/?id={}", "/artifacts/reprocess/?id={}"]
# Pages about one alert: put its number in.
ALERT_PAGES = ["/alerts/alert/?id={}"]
# Pages about one message: put its id in.
DELIVERY_PAGES = ["/alerts/message/?id={}"]
OPEN = ["/healthz", "/readyz", "/metrics", "/accounts/login/"]
HTMX = {"HX-Request": "true"}


def job_pages(job_id: str) -> list[str]:
    return [page.format(quote(job_id, safe="")) for page in JOB_PAGES]
