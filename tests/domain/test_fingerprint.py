"""4,000 failures read as the few causes they are."""

import json
import time
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.domain.fingerprint import fingerprint, normalise
from tests.domain.labelled import DATA, labelled_errors

GROUPED = [json.loads(line) for line in (DATA / "fingerprints.jsonl").read_text().splitlines()]

numbers = st.integers(0, 10**12).map(str)
identifiers = st.one_of(st.uuids().map(str), numbers, st.from_regex(r"[0-9a-f]{7,30}[0-9]", fullmatch=True))
hosts = st.from_regex(r"[a-z]{1,8}(-[0-9]{1,3})?\.(example|com|co\.uk|org)", fullmatch=True)
urls = st.builds("https://{}/{}?page={}".format, hosts, identifiers, numbers)
paths = st.from_regex(r"/(tmp|var/lib)/[a-z0-9_.-]{1,12}/[a-z0-9_-]{1,20}(\.pdf)?", fullmatch=True)
quoted = st.from_regex(r"'[a-z0-9_]{1,20}'|\"[a-z0-9_]{1,20}\"", fullmatch=True)


def test_there_are_enough_groups_to_tell() -> None:
    groups = Counter(row["group"] for row in GROUPED)
    assert len(groups) >= 40 and len(GROUPED) >= 200


def test_pairs_are_joined_and_kept_apart_rightly() -> None:
    prints = [(row["group"], fingerprint("CRAWL", row["exc"], row["msg"])) for row in GROUPED]
    outcomes = Counter((a[0] == b[0], a[1] == b[1]) for a, b in combinations(prints, 2))
    right, merged, split = outcomes[True, True], outcomes[False, True], outcomes[True, False]
    assert right / (right + merged) >= 0.98
    assert right / (right + split) >= 0.95


def test_what_has_different_types_is_hardly_ever_one_cause() -> None:
    errors = labelled_errors()
    labels: dict[str, set[str]] = {}
    for error in errors:
        labels.setdefault(fingerprint("CRAWL", error["exc"] or "", error["msg"]), set()).add(error["label"])
    assert sum(len(types) > 1 for types in labels.values()) <= len(errors) * 0.002


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("HTTP 404 for https://a.example/1", "HTTP 503 for https://a.example/1"),
        ("P2002: failed", "P2025: failed"),
        ("[Errno 24] Too many", "[Errno 28] Too many"),
        ("worker exited with code 1", "worker exited with code 137"),
        ("SQLSTATE[23505]: odd", "SQLSTATE[40001]: odd"),
        ("net::ERR_CONNECTION_RESET at https://a.example", "net::ERR_NAME_NOT_RESOLVED at https://a.example"),
    ],
)
def test_statuses_and_codes_keep_causes_apart(one: str, other: str) -> None:
    assert fingerprint("CRAWL", "Error", one) != fingerprint("CRAWL", "Error", other)


def test_job_type_and_exception_class_keep_causes_apart() -> None:
    prints = {fingerprint(job, exc, "boom") for job in ("CRAWL", "DISCOVER") for exc in ("KeyError", "ValueError")}
    assert len(prints) == 4


@pytest.mark.parametrize(
    ("template", "values"),
    [
        ("Artifact {} was deleted", identifiers),
        ("crawl of {} failed after 3 tries", urls),
        ("cannot open {}: broken document", paths),
        ("column {} does not fit", quoted),
        ("stopped after {} pages", numbers),
        ("connect ECONNREFUSED {}", st.ip_addresses(v=4).map(str)),
    ],
)
def test_what_varies_from_run_to_run_does_not_matter(template: str, values: st.SearchStrategy[str]) -> None:
    @given(values, values)
    def check(one: str, other: str) -> None:
        assert normalise(template.format(one)) == normalise(template.format(other))

    check()


def test_a_stack_trace_case_and_white_space_do_not_matter() -> None:
    plain = normalise("Cannot read properties of undefined (reading 'title')")
    trace = "Cannot read  properties of undefined (reading 'name')\n    at run (/app/a.js:4:12)\n    at async main"
    assert normalise(trace) == plain
    python = 'Traceback (most recent call last):\n  File "/app/a.py", line 4, in run\n    run()\nBoom happened'
    assert normalise(python) == normalise("boom HAPPENED")


@given(st.text(max_size=400), st.text(max_size=40), st.text(max_size=40))
def test_every_text_has_one_fingerprint(message: str, job_type: str, exception_class: str) -> None:
    first = fingerprint(job_type, exception_class, message)
    assert first == fingerprint(job_type, exception_class, message)
    assert first.startswith("v1:") and len(first) == 27


def test_the_form_of_version_1_does_not_change() -> None:
    """Stored fingerprints would lose their groups: a change of the form needs a new version."""
    assert normalise("Job 7 at https://a.example: 404 Not Found in 'x'") == "job <n> at <url>: 404 not found in <q>"


@pytest.mark.parametrize("piece", ["a", "'", "/a", "1", "a.b.", "http://", "::", "1:1:", "x1-", "*", "a_b_C_", "é1"])
def test_a_message_of_megabytes_is_read_in_a_moment(piece: str) -> None:
    started = time.perf_counter()
    normalise(piece * (5_000_000 // len(piece)))
    assert time.perf_counter() - started < 1
