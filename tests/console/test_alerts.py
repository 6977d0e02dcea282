"""The pages about alerts: read by all, acknowledged by operators, changed by admins; secrets shown to nobody."""

import html
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from jobs.models import (
    Alert,
    AlertChannel,
    AlertDelivery,
    AlertRule,
    AuditEntry,
    Membership,
    Notification,
    TenantLimit,
)
from jobs.vault import CHANNELS
from tests.factories import HOSTILE, AlertFactory, ChannelFactory, DeliveryFactory, user

pytestmark = pytest.mark.django_db
ADDRESS, SECRET = "https://hooks.example.org/services/T0/B0/secretpath", "very-secret-signing-key-0123456789"


def text(client: Client, url: str, status: int = 200) -> str:
    response = client.get(url)
    assert response.status_code == status, response.content[:500]
    return html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode()))


@pytest.fixture
def limited(as_role: Callable[..., Client]) -> Client:
    """Support that sees acme alone."""
    client = as_role("support", "lena")
    TenantLimit.objects.create(user=user("support", "lena"), tenant_id="acme")
    return client


# --- Looking ----------------------------------------------------------------------------------------------------------
def test_open_and_over_are_two_lists_and_the_nav_counts_what_nobody_has(viewer: Client) -> None:
    AlertFactory(title="open one")
    AlertFactory(title="taken one", acked_at=timezone.now(), acked_by="dana", ack_note="proxies are back soon")
    AlertFactory(title="old one", closed_at=timezone.now())
    page = viewer.get("/alerts/").content.decode()
    assert "open one" in page and "proxies are back soon" in page and "old one" not in page
    assert re.search(r'href="/alerts/"[^>]*>.*?<span class="count attention">1</span>', page, re.DOTALL)
    assert "old one" in text(viewer, "/alerts/?show=over")


def test_the_overview_names_open_alerts_where_they_belong(viewer: Client) -> None:
    AlertFactory(rule="no_worker", title="No worker is live", critical=True)
    AlertFactory(rule="dlq_growth", title="24 dead letters")
    page = viewer.get("/").content.decode()
    held, failing = page.index('aria-label="Held"'), page.index('aria-label="Failing"')
    assert ">No live worker</span>" in page and "1 open alert" in page
    assert held < page.index("No worker is live") < failing < page.index("24 dead letters")


def test_hostile_text_is_text(viewer: Client) -> None:
    one = AlertFactory(title=HOSTILE, detail=HOSTILE, subject=HOSTILE, tenant_id=HOSTILE, action_label=HOSTILE,
                       evidence_url="javascript:alert(1)", action_url="//evil.example/")  # fmt: skip
    DeliveryFactory(alert=one, channel=ChannelFactory(name=HOSTILE, shown=HOSTILE), state="FAILED", last_error=HOSTILE)
    for url in ("/alerts/", f"/alerts/alert/?id={one.pk}", "/alerts/messages/", "/alerts/channels/", "/"):
        page = viewer.get(url).content.decode()
        assert "<svg/onload" not in page and "javascript:alert" not in page and "//evil.example" not in page


@pytest.mark.parametrize("id_", ["", "0", "x", "9" * 30, "-1", "1\0"])
def test_what_is_not_there_is_not_found(viewer: Client, id_: str) -> None:
    assert viewer.get("/alerts/alert/", {"id": id_}).status_code == 404
    assert viewer.get("/alerts/channel/", {"id": id_ or "0"}).status_code == 404
    assert viewer.get("/alerts/rule/", {"name": id_}).status_code == 404


def test_lists_are_paged_by_key(viewer: Client) -> None:
    for n in range(60):
        AlertFactory(title=f"number {n:02}", closed_at=timezone.now())
    first = viewer.get("/alerts/?show=over").content.decode()
    older = html.unescape(re.search(r'rel="next"[^>]*href="([^"]+)"', first)[1])
    second = viewer.get(older).content.decode()
    found = re.findall(r"number \d\d</a>", first) + re.findall(r"number \d\d</a>", second)
    assert len(set(found)) == len(found) == 60


def test_what_nobody_is_at_comes_first_and_the_critical_before_all(viewer: Client) -> None:
    AlertFactory(title="aa critical", critical=True)
    AlertFactory(title="bb newest")
    AlertFactory(title="cc taken", critical=True, acked_at=timezone.now(), acked_by="dana", ack_note="x")
    page = viewer.get("/alerts/").content.decode()
    assert page.index(">aa critical<") < page.index(">bb newest<") < page.index(">cc taken<")
    assert "'channel':" not in viewer.get(f"/alerts/alert/?id={DeliveryFactory().alert_id}").content.decode()


# --- The scope --------------------------------------------------------------------------------------------------------
def test_who_is_limited_sees_the_alerts_of_their_tenants_alone(limited: Client) -> None:
    mine = AlertFactory(
        title="acme suffers", tenant_id="acme", rule="tenant_dead", action_url="/pauses/new/?tenant=acme"
    )
    other = AlertFactory(title="globex suffers", tenant_id="globex")
    general = AlertFactory(title="no worker at all")
    page = text(limited, "/alerts/")
    assert "acme suffers" in page and "globex" not in page and "no worker" not in page
    assert "1 that nobody has acknowledged" in page
    assert "acme suffers" in text(limited, f"/alerts/alert/?id={mine.pk}")
    assert "/pauses/new/" not in limited.get(f"/alerts/alert/?id={mine.pk}").content.decode(), "not offered to them"
    for one in (other, general):
        assert limited.get(f"/alerts/alert/?id={one.pk}").status_code == 404
        form = {"id": one.pk, "reason": "on it"}
        assert limited.post("/actions/alert/acknowledge/", form).status_code == 404
    assert limited.post("/actions/alert/acknowledge/", {"id": mine.pk, "reason": "on it"}).status_code == 302
    assert Alert.objects.filter(acked_by__isnull=False).count() == 1


@pytest.mark.parametrize("path", ["/alerts/rules/", "/alerts/rule/?name=no_worker", "/alerts/channels/", "/alerts/channel/",
                                  "/alerts/messages/", "/memberships/"])  # fmt: skip
def test_what_is_about_all_tenants_is_not_offered_to_them(limited: Client, path: str) -> None:
    assert limited.get(path).status_code == 403


# --- Acknowledging ----------------------------------------------------------------------------------------------------
def test_an_operator_says_what_they_do(operator: Client) -> None:
    one = AlertFactory()
    operator.post("/actions/alert/acknowledge/", {"id": one.pk, "reason": "restarting the proxy"})
    one.refresh_from_db()
    assert (one.acked_by, one.ack_note, one.closed_at) == ("the-operator", "restarting the proxy", None)
    assert AuditEntry.objects.get().reason == "restarting the proxy"
    again = operator.post("/actions/alert/acknowledge/", {"id": one.pk, "reason": "me too"})
    assert again.status_code == 409 and "acknowledged by the-operator" in again.content.decode()


def test_one_that_is_over_cannot_be_acknowledged(operator: Client) -> None:
    one = AlertFactory(closed_at=timezone.now())
    assert operator.post("/actions/alert/acknowledge/", {"id": one.pk, "reason": "x"}).status_code == 409


def test_a_note_is_needed(operator: Client) -> None:
    one = AlertFactory()
    response = operator.post("/actions/alert/acknowledge/", {"id": one.pk, "reason": " "})
    assert response.status_code == 422 and "Write why" in response.content.decode()
    assert not AuditEntry.objects.exists()


# --- Rules ------------------------------------------------------------------------------------------------------------
RULE = {"name": "dlq_growth", "threshold": "50", "minutes": "30", "enabled": "on", "version": "0", "reason": "too loud"}


def test_an_admin_changes_a_rule_within_its_bounds(admin: Client) -> None:
    assert admin.post("/actions/alert/rule/", RULE).status_code == 302
    row = AlertRule.objects.get()
    assert (row.threshold, row.minutes, row.enabled, row.critical) == (50, 30, True, False)
    entry = AuditEntry.objects.get()
    assert entry.before == {"enabled": True, "critical": False, "threshold": 20, "minutes": 15}
    assert entry.after["threshold"] == 50
    assert "50" in text(admin, "/alerts/rules/")


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [("threshold", "0", "between 1 and 1,000,000"), ("minutes", "1441", "between 1 and 1,440"), ("minutes", "x", "whole number"),
     ("threshold", "9" * 30, "between 1 and"), ("minutes", "-5", "between 1 and"), ("reason", "", "Write why")],
)  # fmt: skip
def test_a_number_out_of_bounds_is_refused_beside_its_field(admin: Client, field: str, value: str, says: str) -> None:
    response = admin.post("/actions/alert/rule/", RULE | {field: value})
    assert response.status_code == 422 and says in html.unescape(response.content.decode())
    assert not AlertRule.objects.exists() and not AuditEntry.objects.exists()


def test_a_rule_that_somebody_else_changed_meanwhile_is_left(admin: Client) -> None:
    admin.post("/actions/alert/rule/", RULE)
    assert admin.post("/actions/alert/rule/", RULE | {"threshold": "99"}).status_code == 409
    assert admin.post("/actions/alert/rule/", RULE | {"threshold": "99", "version": "1"}).status_code == 302
    assert AlertRule.objects.get().threshold == 99


# --- Channels ---------------------------------------------------------------------------------------------------------
CHANNEL = {"id": "", "name": "on call", "kind": "webhook", "target": ADDRESS, "secret": SECRET, "enabled": "on",
           "quiet_from": "22:00", "quiet_to": "07:00", "zone": "Europe/Berlin", "version": "0", "reason": "we need it"}  # fmt: skip


def test_a_channel_is_made_and_its_secrets_are_shown_to_nobody(admin: Client, viewer: Client) -> None:
    assert admin.post("/actions/alert/channel/", CHANNEL).status_code == 302
    one = AlertChannel.objects.get()
    assert (CHANNELS.unseal(one.target, "x"), CHANNELS.unseal(one.secret, "x"), one.zone) == (
        ADDRESS,
        SECRET,
        "Europe/Berlin",
    )
    assert "secretpath" not in one.target and SECRET not in one.secret
    said = str(AuditEntry.objects.values())
    pages = [client.get(url).content.decode() for client in (admin, viewer)
             for url in ("/alerts/channels/", f"/alerts/channel/?id={one.pk}", "/audit/")]  # fmt: skip
    for place in (said, *pages):
        assert "secretpath" not in place and SECRET not in place
    assert "https://hooks.example.org/••••••" in pages[0]


def test_an_empty_address_and_secret_stay_what_they_are(admin: Client) -> None:
    admin.post("/actions/alert/channel/", CHANNEL)
    one = AlertChannel.objects.get()
    form = CHANNEL | {"id": str(one.pk), "name": "other", "target": "", "secret": "", "version": "1", "enabled": ""}
    assert admin.post("/actions/alert/channel/", form).status_code == 302
    one.refresh_from_db()
    assert (one.name, one.enabled, CHANNELS.unseal(one.target, "x"), CHANNELS.unseal(one.secret, "x")) == (
        "other",
        False,
        ADDRESS,
        SECRET,
    )
    assert admin.post("/actions/alert/channel/", form).status_code == 409, "somebody has changed it since"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"target": "http://127.0.0.1/x"}, "a loopback address"),
        ({"target": "http://10.1.2.3/"}, "a private address"),
        ({"target": "ftp://example.org/"}, "only http and https"),
        ({"target": "https://user:pass@example.org/"}, "user name or password"),
        ({"target": ""}, "it is empty"),
        ({"secret": "short"}, "at least 16"),
        ({"secret": ""}, "needs one"),
        ({"name": ""}, "Give it a name"),
        ({"kind": "pigeon"}, "not one of the available choices"),
        ({"zone": "Mars/Base"}, "no time zone"),
        ({"zone": "../../etc/passwd"}, "no time zone"),
        ({"quiet_to": ""}, "a beginning and an end"),
        ({"quiet_from": "25:00"}, "no time such as"),
        ({"kind": "email", "target": "ops@example.org"}, "EMAIL_URL"),
        ({"kind": "apprise", "target": "json://localhost/"}, "APPRISE_SCHEMES"),
        ({"kind": "apprise", "target": "file:///etc/passwd"}, "APPRISE_SCHEMES"),
        ({"reason": ""}, "Write why"),
    ],
)
def test_what_cannot_be_a_channel_is_refused_beside_its_field(admin: Client, change: dict[str, str], says: str) -> None:
    response = admin.post("/actions/alert/channel/", CHANNEL | change)
    assert response.status_code == 422 and says.lower() in html.unescape(response.content.decode()).lower()
    assert not AlertChannel.objects.exists() and not AuditEntry.objects.exists()
    assert SECRET not in response.content.decode()


def test_a_private_host_can_be_allowed_by_name(admin: Client, settings: Any) -> None:
    settings.DETIQ = replace(settings.DETIQ, webhook_allowed_hosts=frozenset({"127.0.0.1"}))
    assert admin.post("/actions/alert/channel/", CHANNEL | {"target": "http://127.0.0.1:8080/x"}).status_code == 302


def test_two_channels_cannot_have_one_name(admin: Client) -> None:
    admin.post("/actions/alert/channel/", CHANNEL)
    response = admin.post("/actions/alert/channel/", CHANNEL)
    assert response.status_code == 422 and "another channel has this name" in response.content.decode()


def test_where_alerts_go_is_asked_for_again(as_role: Callable[..., Client]) -> None:
    admin = as_role("admin", proved=False)
    response = admin.post("/actions/alert/channel/", CHANNEL)
    assert response.status_code == 302 and "reauthenticate" in response["Location"]
    assert not AlertChannel.objects.exists()


def test_a_test_is_written_and_a_failed_message_can_be_sent_again(admin: Client, operator: Client) -> None:
    one = ChannelFactory()
    admin.post("/actions/alert/channel/test/", {"id": one.pk, "reason": "does it work?"})
    assert AlertDelivery.objects.get().event == "test"
    AlertDelivery.objects.update(state="FAILED", attempts=8, last_error="it answered HTTP 500")
    page = text(operator, "/alerts/messages/?state=FAILED")
    assert "1 given up" in page and "it answered HTTP 500" in page
    failed = AlertDelivery.objects.get()
    operator.post("/actions/alert/message/", {"id": failed.pk, "reason": "it is back"})
    failed.refresh_from_db()
    assert (failed.state, failed.attempts) == ("PENDING", 0)
    assert operator.post("/actions/alert/message/", {"id": failed.pk, "reason": "again"}).status_code == 409


def test_a_channel_that_is_removed_takes_its_messages_along(admin: Client) -> None:
    one = DeliveryFactory().channel
    admin.post("/actions/alert/channel/remove/", {"id": one.pk, "reason": "the team is gone"})
    assert not AlertChannel.objects.exists() and not AlertDelivery.objects.exists()
    assert AuditEntry.objects.get().before["name"] == one.name


# --- Notifications ----------------------------------------------------------------------------------------------------
def notice(who: str, n: int, tenant: str = "acme", **more: Any) -> Notification:
    fields = {
        "type": "JOB_DEAD_LETTERED",
        "title": f"CRAWL {n} failed",
        "body": "boom",
        "metadata": {"jobId": f"job-{n}"},
    }
    return Notification.objects.create(id=f"notif_{who}{n}", tenant_id=tenant, user_id=who, **(fields | more))


def test_everybody_sees_their_own_and_marks_them_read(viewer: Client) -> None:
    for n in range(3):
        notice("the-viewer", n)
    notice("somebody", 7)
    page = viewer.get("/notifications/").content.decode()
    assert page.count(">boom<") == 3 and "CRAWL 7" not in page and 'href="/jobs/job-1/"' in page
    viewer.post("/notifications/read/", {"id": ["notif_the-viewer0", "notif_somebody7"]})
    assert set(Notification.objects.filter(read=True).values_list("id", flat=True)) == {"notif_the-viewer0"}
    assert "2 unread" in text(viewer, "/notifications/")
    assert "CRAWL 0 failed" in text(viewer, "/notifications/?show=all")


@pytest.mark.parametrize("metadata", [None, [], "text", {"jobId": 5}, {"jobId": None}, {"jobId": HOSTILE}])
def test_notifications_of_other_programs_are_shown(viewer: Client, metadata: Any) -> None:
    notice("the-viewer", 1, type=HOSTILE, title=HOSTILE, body=HOSTILE, metadata=metadata)
    page = viewer.get("/notifications/")
    assert page.status_code == 200 and "<svg/onload" not in page.content.decode()


def test_who_is_limited_reads_only_of_their_tenants(limited: Client) -> None:
    notice("lena", 1)
    notice("lena", 2, tenant="globex")
    page = text(limited, "/notifications/")
    assert "CRAWL 1" in page and "CRAWL 2" not in page and "1 unread" in page


def test_memberships_are_added_changed_and_removed(admin: Client) -> None:
    form = {"tenant": "acme", "user": "olga", "role": "OWNER", "reason": "she asked"}
    admin.post("/actions/membership/", form)
    admin.post("/actions/membership/", form | {"role": "MEMBER"})
    assert list(Membership.objects.values_list("tenant_id", "user_id", "role")) == [("acme", "olga", "MEMBER")]
    assert "olga" in text(admin, "/memberships/")
    assert "olga" not in text(admin, "/memberships/?tenant=globex")
    admin.post("/actions/membership/", form | {"role": "NONE"})
    assert not Membership.objects.exists() and AuditEntry.objects.count() == 3
    assert admin.post("/actions/membership/", form | {"role": "NONE"}).status_code == 422, "there is none any more"
    assert admin.post("/actions/membership/", form | {"role": "KING"}).status_code == 422
