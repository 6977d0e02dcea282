"""Statuses, and the words that the job queue has always looked for: the weakest signs, in its own order."""

from jobs.domain.failures import FailureType
from jobs.domain.rules.base import Rule, Sign
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
    ),
    Rule("status-refused", Sign.STATUS, "4xx", _LOGICAL, "the target refuses this request"),
    *GENERIC,
    Rule(
        "word-fatal",
        Sign.WORD,
        "master_enc_key | missing secret | invalid configuration",
        _FATAL,
        "names our configuration",
    ),
    Rule(
        "word-infrastructure",
        Sign.WORD,
        "out of memory | heap out | connection refused | econnrefused | prisma | database | worker exited | sigkill",
        _INFRASTRUCTURE,
        "names something that we run",
    ),
    Rule(
        "word-logical",
        Sign.WORD,
        "validation | invalid input | not found | unauthorized | bad request",
        _LOGICAL,
        "says that the input or the target is wrong",
    ),
    # Beyond the source's words: what is left says at least which way it leans.
    Rule(
        "word-wait",
        Sign.WORD,
        "terminated | dns | aborted | abort | temporarily | transient | try again | retry later | please retry"
        " | retries | unreachable | interrupted | intermittent | dropped | throttl | overload | gateway | offline"
        " | closed by | too early | not ready yet | disconnected | no response | unavailable | network"
        " | connection",
        _TRANSIENT,
        "sounds like the network or another party",
    ),
    Rule(
        "word-own-account",
        Sign.WORD,
        "api key | apikey | credential | billing | license | misconfig | certificate store",
        _FATAL,
        "names our account",
    ),
    Rule(
        "word-own-service",
        Sign.WORD,
        "is closed | is down | are down | is not running | died | unhealthy | shutting down | restarting"
        " | draining | exhausted | crash | killed | redis | postgres | deadlock | memory | disk",
        _INFRASTRUCTURE,
        "names something that we run",
    ),
    Rule(
        "word-input-invalid",
        Sign.WORD,
        "yaml | xml | dtd | toml | csv | delimiter | swagger | openapi | file format | file type | filetype"
        " | mime type | content type | is empty | no content | ini file | too big | exceeds limit"
        " | exceed the limit | max size | longer than | larger than | gherkin | invalid url | invalid uri"
        " | malformed url | malformed uri | url is not valid | not a valid url | unsupported protocol"
        " | unsupported url | missing schema | no scheme supplied | no schema supplied | no host supplied"
        " | no host specified | no host in request url | invalid schema | unknown url type"
        " | url using bad/illegal format | only absolute urls | only http(s) | is missing an 'http"
        " | label empty or too long | invalid ipv6 | idna | invalid hostname | invalid host | nonnumeric port"
        " | port could not be cast | private address | url must | relative url | failed to parse url"
        " | validation failed | validation error | validationerror | validation errors for | failed validation"
        " | input should be | field required | is a required property | is a required field | is required"
        " | required field | missing required | must be a string | must be a number | must be an | must be a"
        " | must not be | must have | expected string | expected number | expected object | expected array"
        " | invalid_type | invalid type | invalid value | invalid input | invalid argument | invalid option"
        " | invalid date | invalid email | invalid format | is not a valid | is not valid | is not of type"
        " | additional properties | unrecognized key | should match pattern | cannot read properties of"
        " | cannot read property | is not a function | is not iterable | is not defined | undefined is not"
        " | null is not | object has no attribute | object is not | has no attribute | not subscriptable"
        " | unsupported operand | unhashable | list index | index out of range | out of bounds | string indices"
        " | missing 1 required | positional argument | not enough values | could not convert | cannot convert"
        " | invalid literal | keyerror | attributeerror | typeerror | valueerror | nullpointerexception"
        " | null pointer | nil pointer | nonetype | assertion failed | assertionerror | not serializable"
        " | circular structure | cannot be null | cannot be empty | can not be empty | must be provided"
        " | is not supported | not supported | not allowed | not permitted by | unprocessable | already exists"
        " | duplicate | conflict | no longer exists | has been deleted | was deleted | no such file | enoent"
        " | does not exist | doesn't exist | could not be found | cannot be found | could not find the file"
        " | not a directory | is a directory | enotdir | eisdir | no results | no data | no rows | unknown format"
        " | unexpected response | unexpected content | wrong type | non-json | roles must alternate"
        " | invalid role | must be followed by tool | tool_call_id | invalid base | invalid parameter"
        " | invalid params | illegal argument | illegalargument | bad input | bad format | wrong format"
        " | unexpected format | invalid request | invalid_request | invalid_argument | invalid grant type"
        " | is invalid | page not found | 404 page | no matching | mismatch | checksum | hash mismatch"
        " | signature mismatch | does not match | doesn't match | not match",
        _LOGICAL,
        "this job's input is refused",
    ),
    Rule(
        "word-input",
        Sign.WORD,
        "_not_found | could not load | failed to load | unable to load | cannot load | unable to open"
        " | cannot open | could not open | failed to open | failed to read | cannot read | could not read"
        " | more than the allowed | more than allowed | above the limit | over the limit | too many | too few"
        " | too short | too small | certificate | invalid | unsupported | cannot be | forbidden | denied"
        " | blocked | missing | not a | no such | illegal | wrong | unknown | unexpected | refused | rejected"
        " | exceed | expired | unrecogni",
        _LOGICAL,
        "says that the input or the target is wrong",
    ),
)
