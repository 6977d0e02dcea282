"""What a rule that people write may say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.domain.classification import FailureSign, classify
from jobs.domain.errors import InvalidInput
from jobs.domain.failures import FailureType
from jobs.domain.rules import BUILT_IN, Rule, Sign
from jobs.domain.rules.written import KINDS, written_rule

GOOD = {"kind": "phrase", "pattern": "tenant quota * spent", "failure_type": "LOGICAL", "why": "the tenant's own quota"}


def test_a_good_rule_is_taken_as_it_is_written() -> None:
    rule = written_rule(
        "admin-1", **(GOOD | {"kind": " Phrase", "failure_type": "logical", "pattern": " tenant  quota * spent "})
    )
    assert rule == Rule("admin-1", Sign.PHRASE, "tenant quota * spent", FailureType.LOGICAL, "the tenant's own quota")


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("kind", {"kind": "regex"}),
        ("kind", {"kind": "pattern", "pattern": "(a+)+$"}),
        ("type", {"failure_type": "SERIOUS"}),
        ("why", {"why": "  "}),
        ("why", {"why": "x" * 301}),
        ("pattern", {"pattern": ""}),
        ("pattern", {"pattern": "x" * 1001}),
        ("pattern", {"pattern": "one |  | two"}),
        ("pattern", {"pattern": "ab"}),
        ("pattern", {"pattern": "* * *"}),
        ("pattern", {"pattern": "* quota"}),
        ("pattern", {"pattern": "bell \x07 bell"}),
        ("pattern", {"pattern": "nul\x00nul"}),
        ("pattern", {"pattern": " | ".join(f"word{n}" for n in range(51))}),
        ("pattern", {"pattern": "a*b*c*d*e*f*g"}),
        ("pattern", {"kind": "status", "pattern": "200"}),
        ("pattern", {"kind": "status", "pattern": "xxx"}),
        ("pattern", {"kind": "exception", "pattern": "*"}),
        ("pattern", {"kind": "exception", "pattern": "Value Error"}),
        ("pattern", {"kind": "code", "pattern": "[a-z]"}),
    ],
)
def test_what_could_match_everything_or_break_is_refused_by_its_field(field: str, wrong: dict[str, str]) -> None:
    with pytest.raises(InvalidInput) as refused:
        written_rule("r", **(GOOD | wrong))
    assert refused.value.field == field


@given(st.sampled_from(KINDS), st.text(max_size=60), st.text(max_size=200))
def test_whatever_is_taken_never_breaks_classification(kind: Sign, pattern: str, message: str) -> None:
    try:
        rule = written_rule("r", **(GOOD | {"kind": kind.value, "pattern": pattern}))
    except InvalidInput:
        return
    classify(FailureSign(message, ("app.SomeError",), (429,), ("E1",)), (rule, *BUILT_IN))


def of(kind: str, pattern: str) -> Rule:
    return written_rule("mine", **(GOOD | {"kind": kind, "pattern": pattern, "failure_type": "FATAL"}))


def test_an_admins_rule_goes_before_built_in_ones_of_its_own_sureness_and_weaker_ones_not_before_surer_ones() -> None:
    quota = FailureSign("insufficient_quota: try later", ("openai.RateLimitError",), (429,))
    timeout = FailureSign("read timed out", ("builtins.TimeoutError",), (503,))

    def decides(rule: Rule, sign: FailureSign) -> bool:
        return classify(sign, (rule, *BUILT_IN)).rule_id == "mine"

    assert decides(of("phrase", "try later"), quota) and decides(of("phrase", "read timed out"), timeout)
    assert decides(of("exception", "TimeoutError"), FailureSign("odd", ("builtins.TimeoutError",)))
    assert decides(of("status", "503"), FailureSign("odd", (), (503,)))
    assert not decides(of("status", "503"), FailureSign("odd", ("builtins.TimeoutError",), (503,)))
    assert not decides(of("word", "try later"), quota), "a known reason beats words, whoever wrote them"
