"""No request fills the disk: what is too large ends before it is read, whoever sends it."""

import http.client
import socket
from urllib.parse import urlsplit


def test_a_body_that_says_it_is_too_large_is_refused_unread(live_site: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(live_site).netloc, timeout=10)
    connection.putrequest("POST", "/accounts/login/")
    connection.putheader("Content-Length", str(10**12))
    connection.endheaders()
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (413, b"The request is too large. Nothing was kept.")


def test_a_body_that_does_not_say_is_cut_off(live_site: str) -> None:
    host = urlsplit(live_site)
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    sent = 0
    with socket.create_connection((host.hostname, host.port), timeout=20) as raw:
        raw.sendall(b"POST /accounts/login/ HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            for _ in range(400):
                raw.sendall(chunk)
                sent += 1
            raw.sendall(b"0\r\n\r\n")
            answer = raw.recv(100)
        except OSError:
            answer = b""
    assert not answer.startswith((b"HTTP/1.1 2", b"HTTP/1.1 3")), (sent, answer)


def test_an_ordinary_body_passes(live_site: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(live_site).netloc, timeout=10)
    connection.request(
        "POST", "/accounts/login/", b"x" * 500_000, {"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert connection.getresponse().status == 403  # without the form's token
