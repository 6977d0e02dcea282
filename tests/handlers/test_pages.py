"""URLs have one spelling, pages of any encoding and any damage are read, and nothing takes more than linear time."""

import time

import pytest

from jobs.handlers.web.decode import decode
from jobs.handlers.web.page import read_page
from jobs.handlers.web.sitemaps import parse_sitemap
from jobs.handlers.web.urls import canonical, resolve, site


@pytest.mark.parametrize(
    ("raw", "one_spelling"),
    [
        ("HTTP://Example.COM:80/a/../b/./c#part", "http://example.com/b/c"),
        ("https://example.com", "https://example.com/"),
        ("https://example.com:443/?b=2&a=1&utm_source=x&GCLID=1&fbclid=2", "https://example.com/?a=1&b=2"),
        ("https://example.com/?", "https://example.com/"),
        ("https://example.com/?flag&x", "https://example.com/?flag&x"),
        ("https://bücher.example/ä?q=ü", "https://xn--bcher-kva.example/%C3%A4?q=%C3%BC"),
        ("http://[::1]:8000/x", "http://[::1]:8000/x"),
        ("http://example.com/a b", "http://example.com/a%20b"),
    ],
)
def test_one_spelling(raw: str, one_spelling: str) -> None:
    assert canonical(raw) == one_spelling
    assert canonical(one_spelling) == one_spelling


@pytest.mark.parametrize(
    "raw",
    ["", "mailto:a@b", "ftp://x/", "http://", "http://[::1", "http://x:99999/", "http://a b/", "http://" + "a" * 300 + "/",
     "http://x/" + "y" * 3000, "javascript:1", "//x/y", "/x", "http://x:0/", "http://\ud800/"],
)  # fmt: skip
def test_what_is_no_page_has_no_spelling(raw: str) -> None:
    assert canonical(raw) is None


def test_one_site_over_http_and_https_and_www() -> None:
    assert site("http://example.com/") == site("https://www.example.com:443/x")
    assert site("http://example.com:8080/") != site("http://example.com/")
    assert site("http://example.com/") != site("http://example.com.evil.example/")
    assert resolve("http://example.com/a/", "../b#x") == "http://example.com/b"


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("Größe".encode("latin-1"), "text/html; charset=ISO-8859-1", "Größe"),
        ("“Größe”".encode("cp1252"), "text/html; charset=latin1", "“Größe”"),
        ('<meta charset="shift_jis">日本'.encode("shift_jis"), "text/html", '<meta charset="shift_jis">日本'),
        ("日本語".encode("utf-16"), "text/html", "日本語"),
        ("日本語".encode("utf-16"), "text/html; charset=utf-8", "日本語"),
        ("\ufeffæ".encode(), "", "æ"),
        ("æ".encode(), "text/html; charset=nonsense", "æ"),
        ("æ".encode(), "text/html; charset=base64", "æ"),
        ("æ!".encode("latin-1"), "", "æ!"),
        ("<html>plain ascii".encode("utf-16-le"), "", "<html>plain ascii"),
        ("日本語".encode()[:-1], "", "日本\ufffd"),
        (b"\xff\xff\x00", "text/html; charset=utf-8", "\ufffd\ufffd\x00"),
    ],
)
def test_encodings(body: bytes, content_type: str, text: str) -> None:
    assert decode(body, content_type)[0] == text


def test_what_a_page_says() -> None:
    text = (
        '<HTML LANG=de><head><base href="/b/"><TITLE>A &amp; B\n\x00 C</TITLE><meta name="Description" content="d&#x41;">'
        '<link rel="canonical" href="c"></head><h1>H <i>one</i></h1><a href="x">1</a><a href=y>2</a><a HREF="x#p">3</a>'
        '<a href="&#104;ttp://other.example/?a=1&amp;b=2">4</a><a rel="nofollow" href="z">5</a><a href="mailto:q">6</a>'
        "<!-- <a href=no1> --><script>'<a href=no2>'</script><a data-x='>' href=/dir/>7</a>"
        "<frame src=f><a>8</a><a href>9</a>"
    )
    page = read_page(text, "http://e.example/", most_links=100)
    assert (page.title, page.description, page.heading, page.language) == ("A & B C", "dA", "H one", "de")
    assert page.canonical == "http://e.example/b/c"
    assert page.nofollow == 1
    assert page.links == [
        "http://e.example/b/c", "http://e.example/b/x", "http://e.example/b/y", "http://other.example/?a=1&b=2",
        "http://e.example/dir/", "http://e.example/b/f",
    ]  # fmt: skip


def test_a_page_can_ask_that_none_of_its_links_is_followed() -> None:
    page = read_page('<meta name=robots content="noindex, NOFOLLOW"><a href=/x>', "http://e.example/", most_links=9)
    assert (page.links, page.nofollow) == ([], 1)


def test_links_beyond_the_limit_are_cut_and_it_is_said() -> None:
    page = read_page("".join(f"<a href=/{n}>" for n in range(50)), "http://e.example/", most_links=10)
    assert (len(page.links), page.links_cut) == (10, True)


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece",
    ["<div>", "<b id=x><p>", "<", "<a ", "<a href='", '<a "', "<!--", "<script>", "<title>", "<a <a'", "<a href=x ",
     "&#x41;", "<a href=/x>", "<table><tr><td><a>", "<svg><a>", "<meta charset=", " ", "<?xml ", "<h1><i", "<textarea>",
     "<a/",
     "'\">"],
)  # fmt: skip
def test_no_page_takes_more_than_a_moment(piece: str) -> None:
    text = (piece * (2_000_000 // len(piece)))[:2_000_000]
    started = time.process_time()
    read_page(text, "http://e.example/", most_links=5_000)
    decode(text.encode(), "")
    assert time.process_time() - started < 3


def test_sitemaps_however_they_are_written() -> None:
    text = (
        "<urlset xmlns:image='i'><url><loc>\n http://e.example/a?x=1&amp;y=2 </loc><image:image><image:loc>http://e.example/i.png"
        "</image:loc></image:image></url><url><loc><![CDATA[http://e.example/b&c]]></loc></url><sm:url><sm:loc>/c</sm:loc>"
        "<url><loc>mailto:x</loc><loc>http://e.example/a?y=2&x=1</loc><loc>http://e.example/last"
    )
    found, is_index = parse_sitemap(text, "http://e.example/sitemap.xml", 100)
    assert not is_index
    assert found == [
        "http://e.example/a?x=1&y=2", "http://e.example/b&c", "http://e.example/c", "http://e.example/last",
    ]  # fmt: skip
    assert parse_sitemap("<sitemapindex><sitemap><loc>http://e.example/s.xml</loc>", "", 9) == (
        ["http://e.example/s.xml"],
        True,
    )
    assert parse_sitemap("http://e.example/1\r\nhttp://e.example/2\n\nnonsense", "", 9)[0] == [
        "http://e.example/1", "http://e.example/2",
    ]  # fmt: skip


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece", ["<x>", "<loc>", "<loc ", "<", "<loc><![CDATA[", "&a;", "http://x ", " ", "<a:loc", "\n"]
)
def test_no_sitemap_takes_more_than_a_moment(piece: str) -> None:
    text = (piece * (3_000_000 // len(piece)))[:3_000_000]
    started = time.process_time()
    parse_sitemap(text, "http://e.example/", 20_000)
    assert time.process_time() - started < 2
