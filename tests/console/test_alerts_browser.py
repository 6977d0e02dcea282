"""The pages about alerts in a real browser: they fit, can be read, and an operator acknowledges."""

import re
from collections.abc import Callable
from datetime import time, timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from jobs.models import Alert, AlertChannel, Membership, Notification
from tests.console.looks import fits, look
from tests.console.test_browser import page as page  # the console must stay without errors here, too
from tests.factories import HOSTILE, LONG, AlertFactory, ChannelFactory, DeliveryFactory, WorkerFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def alerts(db_clean: None) -> Alert:
    WorkerFactory()
    hook = ChannelFactory(name="on-call webhook", quiet_from=time(22), quiet_to=time(7), zone="Europe/Berlin")
    slack = ChannelFactory(
        name="ops channel", kind="apprise", shown="slack://••••••", only_critical=True, enabled=False
    )
    one = AlertFactory(rule="silent_stop", subject="INVOICE", critical=True,
                       title="No INVOICE finished for 47 min, normally 120 an hour",
                       detail="480 wait; no live worker does this type.", evidence_url="/jobs/?type=INVOICE",
                       action_url="/why/?state=QUEUED&type=INVOICE", action_label="See why they wait")  # fmt: skip
    AlertFactory(acked_at=timezone.now(), acked_by="dana", ack_note="the proxy is being rolled back")
    AlertFactory(rule="tenant_dead", subject=LONG, tenant_id=LONG, title=f"12 jobs of {LONG} were dead-lettered")
    AlertFactory(rule="group_regressed", title=HOSTILE, detail=LONG)
    over = AlertFactory(rule="oldest_wait", title="A CRAWL job has waited for 1 h 5 min", closed_at=timezone.now())
    now = timezone.now()
    DeliveryFactory(alert=one, channel=hook, state="SENT", attempts=1, sent_at=now)
    DeliveryFactory(
        id="given-up", alert=one, channel=slack, state="FAILED", attempts=8, last_error="it answered HTTP 500"
    )
    DeliveryFactory(alert=over, channel=hook, due_at=now + timedelta(hours=3))
    DeliveryFactory(alert=over, channel=hook, event="closed", attempts=2, due_at=now + timedelta(minutes=2),
                    last_error="no answer: the target takes no connections")  # fmt: skip
    DeliveryFactory(alert=None, channel=hook, event="test", state="SENT", attempts=1, sent_at=now)
    for n, kind in enumerate(("JOB_DEAD_LETTERED", "QUEUE_PAUSED", "ARTIFACT_FAILED", LONG[:90])):
        Notification.objects.create(id=f"notif_{n}", tenant_id="acme" if n else LONG, user_id="the-admin", type=kind,
                                    title=f"CRAWL www.acme.example {n} failed and will not be tried again",
                                    body="HTTP 502 from proxy px-07", metadata={"jobId": f"j{n}"}, read=n == 2)  # fmt: skip
        Membership.objects.create(id=f"m{n}", tenant_id="acme" if n else LONG, user_id=f"user-{n}", role="OWNER")
    return one


PAGES = {
    "alerts": "/alerts/", "over": "/alerts/?show=over", "alert": "/alerts/alert/?id={}", "rules": "/alerts/rules/",
    "rule": "/alerts/rule/?name=silent_stop", "channels": "/alerts/channels/", "channel": "/alerts/channel/?id={channel}",
    "channel-new": "/alerts/channel/", "messages": "/alerts/messages/", "message": "/alerts/message/?id=given-up", "notifications": "/notifications/?show=all",
    "memberships": "/memberships/?tenant=acme&user=user-1&role=OWNER", "overview": "/",
}  # fmt: skip


def test_every_page_fits_and_can_be_read(
    page: Page, live_site: str, sign_in: Callable[..., Any], alerts: Alert
) -> None:
    sign_in("admin")
    for name, path in PAGES.items():
        address = live_site + path.format(alerts.pk, channel=AlertChannel.objects.first().pk)
        # The overview's charts are looked at on a phone by its own tests.
        look(page, address, (1440,) if name == "overview" else (1440, 390), picture=name)
        if name == "overview":
            page.set_viewport_size({"width": 390, "height": 900})
            fits(page)


def test_an_operator_goes_from_the_overview_to_the_alert_and_acknowledges_it(
    page: Page, live_site: str, sign_in: Callable[..., Any], alerts: Alert
) -> None:
    sign_in("operator")
    page.goto(live_site)
    # Within a second or two the overview may still be the one that was read for the test before.
    page.locator(f'a[href*="id={alerts.pk}"]', has_text="No INVOICE finished").click()
    expect(page.get_by_text("480 wait")).to_be_visible()
    page.get_by_label("What you do about it").fill("starting a worker for it")
    page.get_by_role("button", name="Acknowledge").click()
    expect(page.get_by_text("the-operator: starting a worker for it")).to_be_visible()
    page.get_by_role("link", name="See why they wait").click()
    expect(page).to_have_url(re.compile(r"/why/\?state=QUEUED&type=INVOICE"))
