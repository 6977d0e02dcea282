"""Statuses, the words that the job queue has always looked for, and the evidence of all words: the weakest signs."""

from jobs.domain.failures import FailureType
from jobs.domain.rules.base import SOURCE, STATUS, Rule, Sign
from jobs.domain.rules.exceptions import GENERIC

_FATAL, _LOGICAL = FailureType.FATAL, FailureType.LOGICAL
_INFRASTRUCTURE, _TRANSIENT = FailureType.INFRASTRUCTURE, FailureType.TRANSIENT

RULES: tuple[Rule, ...] = (
    Rule("status-account", Sign.STATUS, "402 | 407", _FATAL, "payment or our proxy's credentials are missing"),
    Rule(
        "status-wait",
        Sign.STATUS,
        "408 | 425 | 429 | 5xx",
        _TRANSIENT,
        "the other side failed for now, or asks us to wait",
        STATUS,
    ),
    Rule("status-refused", Sign.STATUS, "4xx", _LOGICAL, "the target refuses this request", STATUS),
    *GENERIC,
    Rule(
        "word-fatal",
        Sign.WORD,
        "master_enc_key | missing secret | invalid configuration",
        _FATAL,
        "names our configuration",
        SOURCE,
    ),
    Rule(
        "word-infrastructure",
        Sign.WORD,
        "out of memory | heap out | connection refused | econnrefused | prisma | database | worker exited | sigkill",
        _INFRASTRUCTURE,
        "names something that we run",
        SOURCE,
    ),
    Rule(
        "word-logical",
        Sign.WORD,
        "validation | invalid input | not found | unauthorized | bad request",
        _LOGICAL,
        "says that the input or the target is wrong",
        SOURCE,
    ),
)

#: One for each type: what the words together speak for, in `weights.json`.
EVIDENCE: tuple[Rule, ...] = tuple(
    Rule(f"evidence-{kind.lower()}", Sign.EVIDENCE, "weights.json", kind, f"its words speak for {kind}", 0.0)
    for kind in FailureType
)
