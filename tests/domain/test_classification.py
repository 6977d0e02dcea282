"""Which sign decides, what counts as a status, and that rules are data."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.domain import evidence
from jobs.domain.classification import UNCLASSIFIED, FailureSign, classify
from jobs.domain.failures import FailureType
from jobs.domain.rules import BUILT_IN, Rule, Sign
from jobs.domain.rules.base import compiled
from jobs.domain.statuses import find_status

FATAL, LOGICAL = FailureType.FATAL, FailureType.LOGICAL
INFRASTRUCTURE, TRANSIENT = FailureType.INFRASTRUCTURE, FailureType.TRANSIENT


def type_of(message: str, *exceptions: str, status: int | None = None, code: str | None = None) -> FailureType:
    statuses, codes = (status,) if status else (), (code,) if code else ()
    return classify(FailureSign(message, exceptions, statuses, codes)).failure_type


@pytest.mark.parametrize(
    ("message", "failure_type"),
    [
        ("MASTER_ENC_KEY is not set", FATAL),
        ("Missing secret for tenant", FATAL),
        ("Invalid configuration: no provider", FATAL),
        ("Process ran out of memory", INFRASTRUCTURE),
        ("JavaScript heap out of memory", INFRASTRUCTURE),
        ("Connection refused", INFRASTRUCTURE),
        ("connect ECONNREFUSED", INFRASTRUCTURE),
        ("Prisma client could not be reached", INFRASTRUCTURE),
        ("Database error", INFRASTRUCTURE),
        ("Worker exited", INFRASTRUCTURE),
        ("Child received SIGKILL", INFRASTRUCTURE),
        ("Validation failed", LOGICAL),
        ("Invalid input", LOGICAL),
        ("Project not found", LOGICAL),
        ("Unauthorized", LOGICAL),
        ("Bad request", LOGICAL),
        ("Request failed: 400", LOGICAL),
        ("HTTP 403", LOGICAL),
        ("status: 422", LOGICAL),
        ("Something else happened", TRANSIENT),
    ],
)
def test_the_queues_own_words_keep_their_meaning(message: str, failure_type: FailureType) -> None:
    assert type_of(message) == failure_type


def test_reason_beats_exception_beats_status_beats_words() -> None:
    assert type_of("insufficient_quota", "builtins.TimeoutError", status=503) == FATAL
    assert type_of("went wrong, see database", "builtins.TimeoutError", status=404) == TRANSIENT
    assert type_of("went wrong, see database", "app.OddError", status=404) == LOGICAL
    assert type_of("HTTP 404, see database", "app.OddError") == LOGICAL
    assert type_of("went wrong, see database", "app.OddError") == INFRASTRUCTURE


def test_a_status_attribute_beats_a_status_in_the_text() -> None:
    assert type_of("HTTP 404", status=503) == TRANSIENT


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("HTTP 403", 403),
        ("status: 422", 422),
        ("400 Bad Request", 400),
        ("<Response [403]>", 403),
        ("API Error (529 {", 529),
        ("Request failed with status code 404", 404),
        ("[429 Too Many Requests] slow down", 429),
        ("An error occurred (404) when calling the HeadObject operation", 404),
        ("timeout after 4000 ms", None),
        ("job 84003", None),
        ("host-403a", None),
        ("line 503, column 422", None),
        ("returned 404 rows", None),
        ("exit code 137, exit status 403", None),
        ("500 pages crawled", None),
        ("connect timeout=400", None),
        ("at index.js:403:12", None),
        ("/srv/500/404.pdf", None),
        ("IncompleteRead(403 bytes read)", None),
        ("port 4003", None),
        ("HTTP 200", None),
    ],
)
def test_a_number_is_a_status_only_where_it_stands_as_one(text: str, status: int | None) -> None:
    assert find_status(text) == status


@pytest.mark.parametrize(
    ("message", "failure_type"),
    [
        ("connect ECONNREFUSED 203.0.113.34:443", TRANSIENT),
        ("connect ECONNREFUSED 10.0.3.4:443", INFRASTRUCTURE),
        ("connect ECONNREFUSED 203.0.113.34:5432", INFRASTRUCTURE),
        ("getaddrinfo ENOTFOUND redis-master", INFRASTRUCTURE),
        ("getaddrinfo ENOTFOUND www.shop.example", TRANSIENT),
        ("Could not connect to http://minio:9000/a", INFRASTRUCTURE),
        ("Could not connect to https://www.redis-guide.example/database", TRANSIENT),
    ],
)
def test_our_own_services_are_told_from_targets(message: str, failure_type: FailureType) -> None:
    assert type_of(message) == failure_type


@pytest.mark.parametrize(
    ("code", "failure_type"),
    [
        ("23505", LOGICAL),
        ("40P01", INFRASTRUCTURE),
        ("42P01", FATAL),
        ("28P01", FATAL),
        ("P2002", LOGICAL),
        ("P1001", INFRASTRUCTURE),
        ("ENOSPC", INFRASTRUCTURE),
        ("ECONNRESET", TRANSIENT),
        ("insufficient_quota", FATAL),
        ("NoSuchKey", LOGICAL),
    ],
)
def test_a_code_is_enough(code: str, failure_type: FailureType) -> None:
    assert type_of("it failed", code=code) == failure_type


def test_what_no_rule_knows_is_counted_as_unclassified() -> None:
    assert classify(FailureSign("ジョブが失敗しました")) == UNCLASSIFIED
    assert classify(FailureSign("")).unclassified
    assert not classify(FailureSign("HTTP 404")).unclassified


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("it failed", "app.MyError"),
        ("x", "app.D"),
        ("a a a", "builtins.RuntimeError"),
        ("Délai d'attente dépassé", "builtins.RuntimeError"),
        ("La connexion a été refusée par le serveur", "builtins.RuntimeError"),
        ("İstanbul bağlantı zaman aşımı", "builtins.RuntimeError"),
    ],
)
def test_letters_and_pieces_of_foreign_words_say_nothing(message: str, name: str) -> None:
    """Least of all that a job is to be given up at once."""
    assert classify(FailureSign(message, (name,))).failure_type is TRANSIENT


def test_the_words_that_are_named_speak_for_the_type() -> None:
    """Of a message with one plain word, hardly any."""
    weighed = evidence.weigh("quota", "", "", (), (), None)
    _, weights = evidence._weights()
    for kind, words in weighed.words.items():
        assert all(weights[word].speaks[list(FailureType).index(kind)] > 0 for word in words), kind


def test_an_admins_rules_are_asked_among_the_built_in_ones() -> None:
    mine = Rule("mine", Sign.PHRASE, "tenant quota * spent", LOGICAL, "the tenant's own quota")
    sign = FailureSign("Tenant quota of 500 pages spent")
    assert classify(sign, [mine, *BUILT_IN]).rule_id == "mine"
    assert classify(FailureSign("quota of the tenant"), [mine]) == UNCLASSIFIED


def test_rules_are_complete_data() -> None:
    assert len({rule.id for rule in BUILT_IN}) == len(BUILT_IN)
    assert all(rule.id and rule.pattern and rule.why for rule in BUILT_IN)
    for rule in BUILT_IN:
        if rule.sign in (Sign.PATTERN, Sign.CLUES):
            compiled(rule.pattern)


@pytest.mark.parametrize(
    ("message", "failure_type"),
    [
        ("450 4.2.0 <a@b.example>: Recipient address rejected: Greylisted", TRANSIENT),
        ("550 5.1.1 <a@b.example>: Recipient address rejected: User unknown", LOGICAL),
        ("554 5.7.1 <a@b.example>: Relay access denied", FATAL),
        ("550 Failed to open file: no such file", LOGICAL),
        ("530 Login incorrect, user cannot log in", FATAL),
    ],
)
def test_replies_of_mail_and_file_servers_are_no_statuses(message: str, failure_type: FailureType) -> None:
    assert type_of(message) == failure_type
    assert type_of(message, status=int(message[:3])) == failure_type


def test_a_declined_card_is_not_our_bill() -> None:
    assert type_of("Your card was declined.", status=402) == LOGICAL
    assert type_of("Payment Required", status=402) == FATAL


@pytest.mark.parametrize(
    ("message", "failure_type"),
    [
        ("http://renderer:3000/pdf answered 502 Bad Gateway", INFRASTRUCTURE),
        ("https://shop.example/pdf answered 502 Bad Gateway", TRANSIENT),
        ("getaddrinfo ENOTFOUND undefined", FATAL),
        ("getaddrinfo ENOTFOUND shop.example", TRANSIENT),
        ("timed out waiting for volumes to attach or mount", INFRASTRUCTURE),
        ("timed out waiting for the page", TRANSIENT),
        ("Received HTTP code 407 from proxy after CONNECT", FATAL),
    ],
)
def test_the_same_trouble_is_ours_or_a_targets(message: str, failure_type: FailureType) -> None:
    assert type_of(message) == failure_type


@pytest.mark.parametrize(
    ("message", "failure_type"),
    [
        ("timed out while it was waiting for the lock of another worker", INFRASTRUCTURE),
        ("timed out while it was reading the page of the site", TRANSIENT),
        ("the plan of this account does not include that many requests", FATAL),
        ("the second sheet of this workbook does not include that column", LOGICAL),
    ],
)
def test_words_are_weighed_with_what_they_are_said_of(message: str, failure_type: FailureType) -> None:
    assert type_of(message) == failure_type


def test_what_only_leans_is_overruled_by_the_words_but_no_rule_of_an_admin_is() -> None:
    sign = FailureSign("timed out while it was waiting for the lock of another worker")
    judged = classify(sign)
    assert judged.rule_id == "evidence-infrastructure"
    assert judged.why.startswith("its words speak for INFRASTRUCTURE: ")
    mine = Rule("mine", Sign.PHRASE, "timed out", LOGICAL, "as I say")
    assert classify(sign, [mine, *BUILT_IN]).rule_id == "mine"


def test_how_an_unknown_message_leans_is_weaker_than_its_status() -> None:
    assert type_of("the replica failed oddly") == INFRASTRUCTURE
    assert type_of("the replica failed oddly", status=404) == LOGICAL


def test_only_the_ends_of_a_long_message_are_read() -> None:
    assert type_of("insufficient_quota " + "data 1 " * 7_000) == FATAL
    assert type_of("data 1 " * 7_000 + " insufficient_quota") == FATAL
    assert type_of("data 1 " * 3_500 + "\n insufficient_quota \n" + "data 1 " * 3_500) != FATAL


@pytest.mark.parametrize(
    "piece",
    ["no not cannot ", "could not find ", "550 ", "invalid_", "http://a ", "card was ", "image ", " ", "aé", "é"],
)
def test_a_message_of_50_kilobytes_is_read_at_once(piece: str) -> None:
    sign = FailureSign(piece * (50_000 // len(piece)))
    took = []
    for _ in range(5):
        started = time.process_time()
        classify(sign)
        took.append(time.process_time() - started)
    assert min(took) < 0.1  # usually 0.02 to 0.04; the machine may be busy


def test_words_of_a_page_or_a_path_decide_nothing() -> None:
    assert type_of('Crawl of "Database error: connection refused - Help" failed', status=404) == LOGICAL
    assert type_of("Timeout 30000ms exceeded waiting for 'text=PostgreSQL database'") == TRANSIENT


@given(st.text(max_size=300), st.lists(st.text(max_size=40), max_size=4), st.lists(st.integers(), max_size=2))
def test_anything_is_classified(message: str, names: list[str], statuses: list[int]) -> None:
    assert classify(FailureSign(message, tuple(names), tuple(statuses))).failure_type in FailureType


@pytest.mark.parametrize(
    "piece", ["a", "'", "/a", "((", "http://", "a@b.", "status code ", "1:1:", "x1-", "\\", "<own>"]
)
def test_a_message_of_megabytes_is_read_in_a_moment(piece: str) -> None:
    started = time.perf_counter()
    classify(FailureSign(piece * (5_000_000 // len(piece))))
    assert time.perf_counter() - started < 2
