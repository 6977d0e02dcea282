"""Which failures are the same one: a fingerprint of job type, exception class and what the message says.

What varies from run to run (ids, numbers, URLs, paths, quoted values, dates) is replaced; HTTP statuses and error codes
stay, since they are the cause. The failure type stays out, so that a new rule of classification never regroups.
"""

import hashlib
import re

from jobs.domain.messages import EMAIL, PATH, URL, message_lines, without_quotes
from jobs.domain.statuses import status_spans

VERSION = "v1"

_LINES = 6
_CHARS = 2_000
# Digits that must survive are written in a private alphabet until all else is replaced.
_PRIVATE = {ord(digit): chr(0xE000 + index) for index, digit in enumerate("0123456789")}
_PUBLIC = {number: chr(digit) for digit, number in ((d, ord(c)) for d, c in _PRIVATE.items())}

_CODES = re.compile(
    r"\b(?:errno|os error|exit(?:ed)?(?: with)?(?: status| code)?|exitcode|"
    r"signal|error code|sqlstate|curl error|mysql error|"
    r"libcurl error|windows error|winerror)[\s:=#(\[]{0,3}-?\d{1,6}\b"
    r"|\b(?-i:[A-Z]{1,5}[-_]?\d{3,5})\b(?![-\w])|(?<=[\[\"'])(?-i:[0-9][0-9A-Z]{4})\b(?=[\"'\]])|\bnet::[A-Z0-9_]+",
    re.IGNORECASE,
)
_KEPT_WORDS = re.compile(
    r"\b(?:utf-?\d{1,2}|http/?[123](?:\.\d)?|tlsv?1(?:\.\d)?|sslv?[23]|"
    r"ipv[46]|s3|ec2|oauth2?|sha-?\d{1,3}|md5|base64|h2|x86|x64|int\d{1,2}|"
    r"float\d{1,2}|"
    r"uint\d{1,2}|x509|mp[34]|latin-?1|web3|k8s|i18n|es\d|log4j|psycopg2?|asn1)\b",
    re.IGNORECASE,
)
_UUID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE)
_DAY = (
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|"
    r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},?\s)?\d{1,2}\s(?:jan|"
    r"feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?,?\s\d{4}|"
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?\s\d{1,2},?\s\d{4})"
)
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?\s?(?:am|pm)?(?:\s?(?:z|utc|gmt)\b|\s?[+-]\d{2}:?\d{2}\b)?"
_WHEN = re.compile(rf"\b{_DAY}(?:[T\s,]{{1,2}}{_TIME})?|\b{_TIME}(?![\d:])", re.IGNORECASE)
_IP = re.compile(
    r"(?<![\w.])(?:\d{1,3}(?:\.\d{1,3}){3}|\[?(?:[0-9a-f]{0,4}:){3,7}[0-9a-f]{1,4}\]?|"
    r"\[?(?:[0-9a-f]{1,4})?::(?:[0-9a-f]{1,4}:?){1,6}\]?)(?::\d{1,5})?(?![\w.]*\d)",
    re.I,
)
_HOST = re.compile(
    r"(?<![\w.@-])(?:[a-z0-9_](?:[a-z0-9_-]{0,62})\.){1,8}"
    r"(?:com|net|org|io|dev|app|ai|co|edu|gov|info|biz|example|test|"
    r"local|internal|svc|lan|localhost|cloud|online|site|shop|store|"
    r"xyz|eu|uk|de|fr|jp|cn|br|in|it|es|nl|se|pl|ch|at|au|ca|us)"
    r"(?::\d{1,5})?(?![\w(-])(?!\.\w)"
)
_LOCALHOST = re.compile(r"\blocalhost(?::\d{1,5})?\b", re.IGNORECASE)
_FILE = re.compile(
    r"(?<![\w/.])[\w@%+-][\w@%+. -]{0,120}?\.(?:pdf|docx?|xlsx?|pptx?|"
    r"csv|tsv|jsonl?|ya?ml|xml|html?|txt|md|png|jpe?g|gif|webp|svg|tiff?|"
    r"zip|gz|tar|rar|7z|mp[34]|wav|log|py|m?js|tsx?|rb|go|java|php|sql|"
    r"bin|tmp|dat|bak)\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\b0x[0-9a-f]{1,32}\b", re.IGNORECASE)
_UNIT = (
    r"(?:ms|msec|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|"
    r"milliseconds?|[kmgtp]i?b|bytes?|[kmg]|%|px|pixels?|tokens?)"
)
_AMOUNT = re.compile(
    rf"(?<![\w.-])[-+]?\d{{1,40}}(?:[.,:_']\d{{1,40}}){{0,12}}(?:e[-+]?\d{{1,4}})?(?:\s?{_UNIT}(?!["
    rf"a-z_])|(?![\w])|(?=[x×]\d))(?:\s?\d{{1,6}}(?:\.\d{{1,6}})?{_UNIT}(?![a-z_])){{0,4}}",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"(?<![\w<-])(?=[\w-]{0,80}\d)[A-Za-z0-9_](?:[\w-]|\.(?=\d)){0,199}(?![\w>])|"
    r"\b[A-Za-z0-9+/_-]{40,400}={0,2}(?![\w>])"
)
_MASKED = re.compile(r"[\w-]{0,40}\*{2,80}[\w*-]{0,80}")
_NAMED = re.compile(
    r"\b((?:collection|index|table|database|bucket|queue|topic|user|"
    r"tenant|project|job|file|model)\s?[:=]\s?)(?![<{\[(\"'])[^\s,;)\]}<]{1,200}",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
_PREFIXED = re.compile(
    r"\b(?:org|req|request|call|proj|project|user|acct|cus|sk|pk|key|"
    r"run|job|msg|thread|file|asst|chatcmpl|resp|session|tenant|ws|host|"
    r"worker|node|pod|task|batch|trace|span)"
    r"[-_](?=[A-Za-z_-]{0,60}[\dA-Z])[A-Za-z0-9_-]{2,200}(?![\w>])|\b(?:org|"
    r"req|proj|acct|cus|sk|pk|chatcmpl|asst)[-_][A-Za-z0-9]{6,200}\b"
)
_VERSION = re.compile(r"\bv?\d{1,9}(?:\.\d{1,9}){2,5}(?:[-+.][\w.-]{1,40})?")
_REPEATED = re.compile(r"(<(?:n|q|path|url|host|time|email)>)(?:[\s,;x×/|:-]{0,3}(?:and\s)?\1)+")
_SPACE = re.compile(r"[\s\u00a0]+")


def fingerprint(job_type: str, exception_class: str, message: str) -> str:
    """`v1:` and 24 hex digits. The version changes when the same failure would get another fingerprint."""
    name = exception_class.strip()[:200]
    parts = "\x00".join((job_type.strip(), name, normalise(message)))
    digest = hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{VERSION}:{digest[:24]}"


def normalise(message: str) -> str:
    """What the message says, in lower case; what varies reads `<n>` (numbers, ids), `<q>` (quoted), `<url>`, …"""
    text = "\n".join(message_lines(message)[:_LINES])[:_CHARS]
    text = _keep(text)
    text = without_quotes(_replace_addresses(text), "<q>")
    text = _replace_values(text)
    text = _SPACE.sub(" ", text.translate(_PUBLIC)).strip(" .,:;!\n").lower()
    return _REPEATED.sub(r"\1", text)


def _keep(text: str) -> str:
    """Write statuses, error codes and names such as UTF-8 in the private alphabet."""
    kept = (match.span() for pattern in (_CODES, _KEPT_WORDS) for match in pattern.finditer(text))
    spans = sorted({*status_spans(text), *kept})
    pieces: list[str] = []
    position = 0
    for start, end in spans:
        if start >= position:
            pieces += text[position:start], text[start:end].translate(_PRIVATE)
            position = end
    return "".join((*pieces, text[position:]))


def _replace_addresses(text: str) -> str:
    for pattern, placeholder in (
        (URL, "<url>"),
        (EMAIL, "<email>"),
        (_UUID, "<n>"),
        (_IP, "<host>"),
        (_WHEN, "<time>"),
        (_VERSION, "<n>"),
        (_HOST, "<host>"),
        (_LOCALHOST, "<host>"),
        (PATH, "<path>"),
        (_FILE, "<path>"),
    ):
        text = pattern.sub(placeholder, text)
    return text


def _replace_values(text: str) -> str:
    text = _ADDRESS.sub("<n>", text)
    text = _NAMED.sub(r"\1<q>", _MASKED.sub("<n>", text))
    text = _PREFIXED.sub("<n>", text)
    text = _AMOUNT.sub("<n>", text)
    return _DIGITS.sub("<n>", _TOKEN.sub("<n>", text))
