"""Files that were made to harm, or are merely broken: reading them ends, in time and memory, with a reason."""

import io
import os
import random
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter

from jobs.artifacts.analysis.analyse import Findings, analyse
from jobs.artifacts.limits import LIMITS, Limits
from jobs.artifacts.process import ROOT, ReaderBroken, inspect
from jobs.domain.errors import JobCancelled
from tests.artifacts.making import MADE, docx, pdf, xlsx, zipped
from tests.artifacts.score import content

LAUGHS = '<!DOCTYPE z [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9)
) + "]><z>&j;</z>"  # fmt: skip


def bomb(part: str, size: int, more: dict[str, Any] | None = None) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, text in (more or {}).items():
            archive.writestr(name, text)
        with archive.open(part, "w", force_zip64=True) as file:
            for _ in range(size // 1_000_000):
                file.write(bytes(1_000_000))
    return out.getvalue()


def lying_bomb() -> bytes:
    """One that states a small size of itself."""
    data = bytearray(bomb("word/document.xml", 80_000_000))
    place = data.rindex(b"PK\x01\x02")
    data[place + 24 : place + 28] = (1000).to_bytes(4, "little")
    return bytes(data)


OUTSIDE = '<!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/passwd">]><w>&x;</w>'


def workbook_parts() -> dict[str, bytes | str]:
    with zipfile.ZipFile(io.BytesIO(xlsx(("a", [["Name", "Hours"], ["Ada", 3]])))) as book:
        return {name: book.read(name) for name in book.namelist()}


def locked(data: bytes, password: str) -> bytes:
    writer, out = PdfWriter(PdfReader(io.BytesIO(data))), io.BytesIO()
    writer.encrypt(password, "owner", algorithm="RC4-128")
    writer.write(out)
    return out.getvalue()


def alias_bomb() -> bytes:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]" for n in range(12)]
    return "\n".join(lines).encode()


HOSTILE = {
    "a bomb that calls itself a document": ("a.docx", lambda: bomb("word/document.xml", 300_000_000), "would unpack to"),
    "a bomb that lies about its size": ("a.docx", lying_bomb, "could not be read"),
    "a bomb of shared strings": ("a.xlsx", lambda: bomb("xl/sharedStrings.xml", 100_000_000, {"xl/workbook.xml": "<a/>"}), "would unpack to"),
    "too many parts": ("a.zip", lambda: zipped({f"{n}.txt": "" for n in range(6_000)}), "more than 5,000 parts"),
    "laughs in a document": ("a.docx", lambda: zipped({"word/document.xml": LAUGHS}), "no XML that is read here"),
    "laughs in XML": ("a.xml", LAUGHS.encode, "declares entities"),
    "laughs in a sheet": ("a.xlsx", lambda: zipped(workbook_parts() | {"xl/worksheets/sheet1.xml": LAUGHS}), "workbook cannot be read"),
    "laughs in the styles of a workbook": ("a.xlsx", lambda: zipped(workbook_parts() | {"xl/styles.xml": LAUGHS}), "workbook cannot be read"),
    "an entity outside of a document": ("a.docx", lambda: zipped({"word/document.xml": OUTSIDE}), "DTDForbidden"),
    "a PDF whose pages are each other's": ("a.pdf", lambda: pdf("x").replace(b"/Kids [5 0 R]", b"/Kids [2 0 R]"), "cyclic"),
    "a PDF with a password": ("a.pdf", lambda: locked(pdf("The pump"), "secret"), "locked with a password"),
    "elements that never end": ("a.html", lambda: b"<html>" + b"<div>" * 600_000, "are not closed"),
    "elements that never end, and ends of others": (
        "a.html", lambda: b"<html><b>" + b"</b>" * 600_000 + b"<div>" * 600_000, "are not closed",
    ),
    "deep objects": ("a.json", lambda: b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "deeper than 100"),
    "code in YAML": ("a.yaml", lambda: b'a: !!python/object/apply:os.system ["exit 1"]\nb: 1\n', "YAML"),
    "an external entity": ("a.xml", lambda: b'<!DOCTYPE z [<!ENTITY x SYSTEM "file:///etc/passwd">]><z>&x;</z>', "declares entities"),
    "aliases of aliases": ("a.yaml", alias_bomb, "aliases counted"),
    "deep JSON": ("a.json", lambda: b"[" * 100_000 + b"]" * 100_000, "deeper than 100"),
    "deep YAML": ("a.yaml", lambda: b"a: " + b"[" * 5_000 + b"]" * 5_000, "deeper than 100"),
    "half a document": ("a.docx", lambda: docx("Hello there")[:200], "archive is broken"),
    "half a PDF": ("a.pdf", lambda: pdf("Hello")[:60], "PDF cannot be read"),
    "a document without its text": ("a.docx", lambda: zipped({"word/document.xml": ""}), "has no part"),
    "a workbook that is none": ("a.xlsx", lambda: zipped({"xl/workbook.xml": "<workbook/>"}), "workbook cannot be read"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_read_is_other_with_the_reason(name: str) -> None:
    called, make, words = HOSTILE[name]
    data, started = make(), time.monotonic()
    found = analyse(io.BytesIO(data), called, [])
    assert time.monotonic() - started < 5
    assert found.doc_type == "OTHER" and words in found.summary + found.note, found


@pytest.mark.parametrize(
    "text",
    ["as a " * 300_000, "As a x, " * 200_000, "(" * 1_000_000, "a" * 3_000_000, "a: " * 300_000, "Feature:\n" * 100_000,
     "<a " * 300_000, "<div>" * 2_000, "| a " * 300_000, "\n" * 2_000_000 + "x", "POST /" * 200_000, "type A\n" * 100_000,
     "import a.b;\n" * 100_000, "key=value " * 200_000, '"' * 500_000, "a,b\n" * 500_000, "- a\n" * 300_000, "# h\n" * 200_000,
     "-----BEGIN PRIVATE KEY-----" * 20_000, "password password password " * 50_000, "def f(\n" * 100_000, "1 V " * 300_000,
     "1" * 500_000 + "_A", "@startuml\n" * 50_000, "{" * 90 + "[1," * 100_000],
)  # fmt: skip
@pytest.mark.parametrize("name", ["a.txt", "a.md"])
def test_no_text_keeps_the_reader_busy(text: str, name: str) -> None:
    started = time.monotonic()
    analyse(io.BytesIO(text.encode()), name, [])
    assert time.monotonic() - started < 8, text[:20]


def on_disk(path: Path, data: bytes) -> Any:
    path.write_bytes(data)
    return path.open("rb")


def test_fifty_megabytes_are_read_in_seconds_and_in_part(tmp_path: Path) -> None:
    line = b"The depot must keep every parcel dry. It is a long report about parcels, and it goes on.\n"
    with on_disk(tmp_path / "a.txt", line * (50_000_000 // len(line))) as file:
        started = time.monotonic()
        found = inspect(file, "a.txt", masked_keys=[])
    assert time.monotonic() - started < 15
    assert "only the first 4 of 50 MB were read" in found.note and "parcel" in " ".join(found.keywords)


def test_a_reader_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    with on_disk(tmp_path / "a.txt", b"x y z\n" * 600_000) as file:
        started = time.monotonic()
        found = inspect(file, "a.txt", masked_keys=[], limits=replace(LIMITS, seconds=0.15))
    assert time.monotonic() - started < 2 and "longer than 0 s" in found.summary


def test_a_reader_that_takes_too_much_memory_is_ended(tmp_path: Path) -> None:

    with on_disk(tmp_path / "a.json", b"[" + b'{"a": [[1, 2, 3]]}, ' * 190_000 + b"1]") as file:
        found = inspect(file, "a.json", masked_keys=[], limits=replace(LIMITS, memory_bytes=90_000_000))
    assert "of memory" in found.summary, found


def test_a_reader_can_be_stopped(tmp_path: Path) -> None:
    def stop() -> None:
        raise JobCancelled

    with on_disk(tmp_path / "a.txt", b"x y z\n" * 600_000) as file, pytest.raises(JobCancelled):
        inspect(file, "a.txt", masked_keys=[], check=stop)


def test_a_reader_that_is_broken_itself_is_no_matter_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobs.artifacts.process.ROOT", tmp_path)
    with on_disk(tmp_path / "a.txt", b"hello") as file, pytest.raises(ReaderBroken, match="No module named"):
        inspect(file, "a.txt", masked_keys=[])


def test_the_reader_gets_nothing_of_the_workers_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARTIFACT_LLM_KEY", "not-for-the-reader")
    seen: dict[str, Any] = {}
    real = os.environ

    def popen(*args: Any, **more: Any) -> Any:
        seen.update(more["env"])
        raise RuntimeError

    monkeypatch.setattr("jobs.artifacts.process.subprocess.Popen", popen)
    with on_disk(tmp_path / "a.txt", b"hello") as file, pytest.raises(RuntimeError):
        inspect(file, "a.txt", masked_keys=[])
    assert "PATH" in seen and not {"ARTIFACT_LLM_KEY", "DATABASE_URL", "SECRET_KEY"} & set(seen) and real is os.environ


@settings(max_examples=60, deadline=None)
@given(
    st.binary(max_size=400), st.sampled_from(["a.txt", "a.pdf", "a.docx", "a.csv", "a.yaml", "a.json", "a.html", "a"])
)
def test_any_bytes_have_an_answer(data: bytes, name: str) -> None:
    assert isinstance(analyse(io.BytesIO(data), name, []), Findings)


@pytest.mark.parametrize(
    "name", [*MADE, "petstore.yaml", "nightly-report.html", "testlink-export.xml", "recorded.side", "login.feature"]
)
def test_any_damage_to_a_file_has_an_answer(name: str) -> None:
    whole = content(f"made/{name}" if name in MADE else name)
    rng = random.Random(name)
    for _ in range(25):
        data = bytearray(whole)
        for _ in range(rng.randint(1, 12)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        cut = rng.randrange(len(data) // 2, len(data) + 1)
        assert isinstance(analyse(io.BytesIO(bytes(data[:cut])), name, []), Findings)


def test_a_workbook_that_claims_a_million_columns_is_read_in_part() -> None:
    wide = xlsx(("a", [[f"column {n}" for n in range(300)], list(range(300))]))
    assert analyse(io.BytesIO(wide), "a.xlsx", []).kind == "Excel workbook"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the limits alone end it")
def test_a_reader_ends_with_its_worker(tmp_path: Path) -> None:
    """Like a worker that is killed in the middle of a file."""
    nested = "<w:p>" * 20_000 + "</w:p>" * 20_000
    word = f'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">{nested}</w:document>'
    path = tmp_path / "slow.docx"
    path.write_bytes(zipped({"word/document.xml": word}))
    code = f"""if True:
        from jobs.artifacts import process
        started = process.subprocess.Popen
        def told(*words, **more):
            child = started(*words, **more)
            print(child.pid, flush=True)
            return child
        process.subprocess.Popen = told
        process.inspect(open({str(path)!r}, "rb"), "slow.docx", masked_keys=[])"""
    worker = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=ROOT)  # noqa: S603
    assert worker.stdout is not None
    reader = Path("/proc") / worker.stdout.readline().decode().strip()
    time.sleep(1)  # it reads
    assert reader.exists()
    worker.kill()
    worker.communicate()
    ends = time.monotonic() + 5
    while reader.exists() and "(zombie)" not in (reader / "status").read_text() and time.monotonic() < ends:
        time.sleep(0.05)
    assert not reader.exists() or "(zombie)" in (reader / "status").read_text()


# --- Large files of honest people --------------------------------------------------------------------------------------


def test_of_a_long_word_document_the_beginning_is_read() -> None:
    data = docx("\n".join(f"As a customer, I want to see order {number} so that I know it." for number in range(2_000)))
    found = analyse(io.BytesIO(data), "stories.docx", [], Limits(part_bytes=60_000))
    assert (found.doc_type, found.note) == ("USER_STORY", "only the beginning of it was read")


def test_of_a_long_workbook_the_first_rows_are_read() -> None:
    rows = [["Order", "City", "Amount"], *([str(number), "Bonn", "3.50"] for number in range(3_000))]
    found = analyse(io.BytesIO(xlsx(("Orders", rows))), "orders.xlsx", [], Limits(part_bytes=60_000, rows=200))
    assert found.kind == "Excel workbook" and "Columns: Order, City, Amount" in found.summary
    assert found.note == "only the first 1,000 rows of a sheet were read"


def test_of_a_long_yaml_file_the_beginning_is_read() -> None:
    paths = "".join(f"  /orders{number}:\n    get:\n      summary: Gets it\n" for number in range(4_000))
    text = "openapi: 3.0.3\ninfo:\n  title: Shop\n  version: '1'\npaths:\n" + paths
    found = analyse(io.BytesIO(text.encode()), "shop.yaml", [], Limits(yaml_chars=50_000))
    assert found.doc_type == "API_SPEC" and "Shop" in found.summary
    assert found.note == "only the first 0.05 of 0.2 million characters were read" and found.note[1:] in found.summary


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.csv", b"name,city\nkim,\x00Bonn\nann,Ulm\n" * 9, ["CSV table", "Columns: name, city"]),
        ("a.csv", "name,city\nä,Köln\n".encode("utf-16"), ["CSV table", "Columns: name, city"]),
        ("a.csv", "name,city\nä,Köln\n".encode("latin-1"), ["CSV table", "Columns: name, city"]),
        ("a.csv", (",".join(f"c{n}" for n in range(100_000)) + "\n").encode() * 3, ["100,000 columns", "the first 200 of 100,000 columns"]),
        ("a.xlsx", xlsx(("a", [[f"c{n}" for n in range(300)], list(range(300))])), ["the first 200 columns of a sheet"]),
        ("a.xml", b'<testsuite name="a">' + b"<testcase/>" * 500_000, ["XML document, testsuite", "first 4 of 6 MB"]),
        ("a.pdf", locked(pdf("The pump runs and runs, day and night, until it stops."), ""), ["1 page", "The pump runs"]),
        ("a.pdf", pdf("The pump runs and runs, day and night, until it stops.").replace(b"startxref\n", b"startxref\n9"), ["The pump runs"]),
        ("a.pdf", pdf(*["Page after page."] * 1_000), ["the first 200 of 1,000 pages"]),
    ],
)  # fmt: skip
def test_what_is_odd_is_read_as_far_as_it_can_be(name: str, data: bytes, words: list[str]) -> None:
    found = analyse(io.BytesIO(data), name, [])
    assert all(word in found.summary for word in words), found
