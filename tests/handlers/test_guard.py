"""No job reaches a private address: by no spelling, no name, no redirect, and not by a name that changes its mind."""

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable
from ipaddress import ip_address, ip_network
from pathlib import Path

import httpx2
import pytest

from jobs.handlers import crawl
from jobs.handlers.web import guard as guard_module
from jobs.handlers.web.addresses import why_refused
from jobs.handlers.web.errors import AddressNotAllowed
from jobs.handlers.web.guard import Guard, system_resolver
from jobs.handlers.web.limits import Limits
from jobs.handlers.web.transport import guarded_client
from tests.handlers.running import LOOPBACK, Run
from tests.site import Site

REFUSED = [
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "169.254.1.1",
    "169.254.169.254",
    "169.254.170.2",
    "100.64.0.1",
    "100.127.255.255",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.1",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fd00:ec2::254",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
    "100::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::127.0.0.1",
    "::a00:1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "2002:7f00:1::",
    "2002:808:808::",
    "2001:0:7f00:1::",
    "4000::1",
    "5f00::1",
]
ALLOWED = [
    "8.8.8.8",
    "1.1.1.1",
    "93.184.216.34",
    "172.15.0.1",
    "172.32.0.1",
    "100.63.0.1",
    "2606:4700::1111",
    "64:ff9b::808:808",
]
SPELLINGS = [
    "http://127.0.0.1/",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://127.1/",
    "http://0x7f.0.0.1/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://2130706433/",
    "http://017700000001/",
    "http://0/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://①②⑦.⓪.⓪.①/",
    "http://127.0.0.1:8080/",
    "https://127.0.0.1/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[fe80::1%25lo]/",
    "http://10.1.2.3/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[fd00:ec2::254]/",
    "http://192.168.1.1:22/",
    "http://0.0.0.0:80/",
]


@pytest.mark.parametrize("text", REFUSED)
def test_an_address_that_is_not_public_is_refused(text: str) -> None:
    assert why_refused(ip_address(text))


@pytest.mark.parametrize("text", ALLOWED)
def test_a_public_address_is_allowed(text: str) -> None:
    assert why_refused(ip_address(text)) is None


@pytest.mark.parametrize("text", ["127.0.0.1", "::ffff:127.0.0.1", "127.9.9.9"])
def test_an_operator_can_open_a_network(text: str) -> None:
    assert why_refused(ip_address(text), LOOPBACK) is None
    assert why_refused(ip_address("::1"), LOOPBACK)
    assert why_refused(ip_address("::1"), [ip_network("::1/128")]) is None


@pytest.mark.parametrize("url", SPELLINGS)
def test_every_spelling_is_judged_by_what_it_means(url: str, settings_in_force: Callable[..., None]) -> None:
    settings_in_force(outbound_allowed_networks=())
    with pytest.raises(AddressNotAllowed) as refused:
        crawl.run(Run({"url": url}).job)
    assert refused.value.host in str(refused.value)
    assert refused.value.why


@pytest.mark.parametrize(
    "url", ["ftp://example.com/", "file:///etc/passwd", "http:///x", "gopher://x/", "http://u:p@example.com/"]
)
def test_other_schemes_and_credentials_are_refused(url: str) -> None:
    with pytest.raises(AddressNotAllowed):
        Guard().check_url(url)


@pytest.mark.parametrize(
    "answers", [["10.0.0.1"], ["93.184.216.34", "10.0.0.1"], ["2606:4700::1111", "::1"], ["169.254.169.254"]]
)
def test_a_name_is_refused_when_any_of_its_addresses_is(
    answers: list[str], settings_in_force: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings_in_force(outbound_allowed_networks=())
    monkeypatch.setattr(guard_module, "system_resolver", lambda host, port: answers)
    with pytest.raises(AddressNotAllowed, match="inside.example"):
        crawl.run(Run({"url": "http://inside.example/"}).job)


def test_the_address_that_was_judged_is_the_one_connected_to() -> None:
    with Site() as site:
        port = int(site.url.rpartition(":")[2])
        asked: list[str] = []

        def changes_its_mind(host: str, _port: int) -> list[str]:
            asked.append(host)
            return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

        guard = Guard(LOOPBACK, changes_its_mind)
        with guarded_client(guard, user_agent="t", total_seconds=5) as client:
            answer = client.get(f"http://name.example:{port}/page/1")
        assert answer.status_code == 200
        assert answer.request.headers["host"] == f"name.example:{port}"
        assert asked == ["name.example"]


def test_a_redirect_is_judged_like_any_address(quick: Limits) -> None:
    with Site(special=("to-private", "to-metadata")) as site:
        with guarded_client(Guard(LOOPBACK), user_agent="t", total_seconds=5) as client:
            for path in ("/redirect/private", "/redirect/metadata"):
                with pytest.raises(AddressNotAllowed):
                    client.get(site.url + path, follow_redirects=True)
        result = crawl.crawl(Run({"url": site.url, "delayMs": 0}).job, quick)
    pages = {page["url"].removeprefix(site.url): page for page in result["pages"]}
    assert pages["/redirect/private"]["redirectedTo"] == "http://10.0.0.1/"
    assert "another site" in pages["/redirect/metadata"]["reason"]


def test_a_page_of_the_site_that_leads_inside_is_a_recorded_failure(
    quick: Limits, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same host, whose name means another address by then."""
    with Site(pages=3, sitemap=False) as site:
        port = int(site.url.rpartition(":")[2])
        inside = threading.Event()
        monkeypatch.setattr(
            guard_module, "system_resolver", lambda host, p: ["10.0.0.1"] if inside.is_set() else ["127.0.0.1"]
        )
        run = Run({"url": f"http://name.example:{port}/", "delayMs": 0})
        run.recorder.on_progress = lambda percent, step: inside.set() if "sitemaps" in step else None
        # Each exchange on its own connection, so that the name is looked up again.
        monkeypatch.setattr("jobs.handlers.web.transport.KEEPALIVE_SECONDS", 0.0)
        result = crawl.crawl(run.job, quick)
    assert any("10.0.0.1, a private address" in failure["reason"] for failure in result["failures"])


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with Site() as site, guarded_client(Guard(LOOPBACK), user_agent="t", total_seconds=5) as client:
        assert client.get(site.url + "/page/1").status_code == 200


def test_a_name_that_does_not_resolve_is_a_network_error() -> None:
    def unknown(host: str, port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    client = guarded_client(Guard(LOOPBACK, unknown), user_agent="t", total_seconds=5)
    with client, pytest.raises(httpx2.ConnectError, match="nowhere.example does not resolve"):
        client.get("http://nowhere.example/")


def test_the_systems_resolver_reads_old_spellings() -> None:
    assert list(system_resolver("0x7f.1", 80)) == ["127.0.0.1"]


def test_tls_verifies_the_name_although_an_address_is_connected_to(tmp_path: Path) -> None:
    assert shutil.which("openssl"), "this test makes a certificate with the openssl command: apt-get install openssl"
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-keyout", key, "-out", cert, "-subj", "/CN=name.example", "-addext", "subjectAltName=DNS:name.example"],
        check=True, capture_output=True,
    )  # fmt: skip
    names: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    context.sni_callback = lambda sock, name, ctx: names.append(name)
    trusting = ssl.create_default_context(cafile=str(cert))
    with Site() as site:
        site.wrap(context)
        port = int(site.url.rpartition(":")[2])
        with guarded_client(
            Guard(LOOPBACK, lambda host, p: ["127.0.0.1"]), user_agent="t", total_seconds=5, ssl_context=trusting
        ) as client:
            assert client.get(f"https://name.example:{port}/page/1").status_code == 200
            with pytest.raises(httpx2.ConnectError, match="(?i)certificate"):
                client.get(f"https://other.example:{port}/page/1")
    assert names == ["name.example", "other.example"]
