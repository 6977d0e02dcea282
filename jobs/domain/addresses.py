"""Tell addresses of services that we run from those of other parties, and mark both in an error's text.

Ours are private and loopback addresses, names without a dot (`redis`, `db-master`), names of private zones, and the
well-known ports of databases, caches and brokers. Everything else is a target or a provider.
"""

import ipaddress
import re

OWN = "<own>"
PUBLIC = "<public>"

_OWN_ZONES = (
    ".local",
    ".internal",
    ".svc",
    ".lan",
    ".localdomain",
    ".docker",
    ".consul",
    ".intranet",
    ".localhost",
    ".home.arpa",
)
# Not `is_private`, which counts the networks reserved for documentation too.
_OWN_NETWORKS = [
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/32",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "::/127",
        "fc00::/7",
        "fe80::/10",
    )
]
_OWN_SCHEMES = (
    "redis",
    "rediss",
    "postgres",
    "postgresql",
    "mysql",
    "mongodb",
    "amqp",
    "amqps",
    "kafka",
    "jdbc",
    "s3",
    "memcached",
)
# fmt: off
_OWN_PORTS = frozenset({
    "5432", "5433", "6432", "6379", "6380", "26379", "3306", "27017", "5672", "5671", "15672", "9092", "11211",
    "9200", "9300", "9042", "8123", "2379", "2181", "4222", "8200", "6333", "19530", "4444", "9222", "11434",
})
# fmt: on

_URL = re.compile(
    r"\b([a-z][a-z0-9+.-]{1,20})://(?:[^\s/@\"'<>]{1,200}@)?(\[[0-9a-f:.]{2,45}\]|"
    r"[^\s/:\"'<>)\]},;?#]{1,253})(:\d{1,5})?[^\s\"'<>)\]},;]{0,2000}"
)
_IP = re.compile(r"(?<![\w.])(?:(\d{1,3}(?:\.\d{1,3}){3})|(\[?::1\]?))(:\d{1,5})?(?![\w.]*\d)")
_HOST = re.compile(r"(?<![\w.@/<-])((?:[a-z0-9_](?:[a-z0-9_-]{0,62})\.){1,8}[a-z]{2,24})(:\d{1,5})?(?![\w(-])(?!\.\w)")
_NAMED_HOST = re.compile(
    r"\b(enotfound|eai_again|host(?:name)?\s?[=:]|lookup|resolve(?:\s?host)?:?|"
    r"translate host name|hostname|connect to(?: host)?|connecting to|"
    r"connection to|"
    r"econnrefused|econnreset|etimedout|host=\W|host)(\s{0,2}[\"'`(]{0,2})([a-z0-9_](?:[a-z0-9_-]{"
    r"0,62}))(:\d{1,5})?(?=[\s\"'`,;:)(]|$)(?!\.)"
)
_PORT = re.compile(r"(?:\bport[\s=:\"'`]{1,3}|(?<=[`'\"a-z\])]):[`'\"]?|\b[a-z_][a-z0-9_-]{0,62}:)(\d{4,5})\b")
# Words that may follow "connect to" without being a host's name.
# fmt: off
_NO_HOSTS = frozenset({
    "a", "address", "after", "all", "an", "and", "any", "api", "as", "at", "be", "because", "been",
    "before", "browser", "but", "by", "class", "closed", "column", "database", "display", "during",
    "element", "error", "failed", "for", "from", "function", "had", "has", "host", "in", "index", "into",
    "is", "it", "key", "keys", "leader", "lost", "method", "name", "namespace", "no", "not", "object", "of",
    "on", "or", "our", "over", "page", "port", "proxy", "record", "records", "refused", "remote", "request",
    "requests", "retrying", "secret", "secrets", "server", "service", "session", "since", "site", "symbol",
    "table", "target", "that", "the", "this", "timed", "to", "token", "tokens", "type", "under", "unknown",
    "until", "url", "user", "users", "value", "via", "was", "website", "when", "while", "with", "yes",
    "your",
})
# fmt: on
# The last part of a name that is a domain of the public internet rather than a method, a class or a file.
# fmt: off
_TLDS = frozenset({
    "ai", "app", "ar", "at", "au", "be", "biz", "blog", "br", "ca", "cc", "ch", "cl", "cloud", "cn", "co",
    "com", "cz", "de", "dev", "dk", "edu", "es", "eu", "example", "fi", "fm", "fr", "gg", "gov", "gr", "hk",
    "id", "ie", "il", "in", "info", "int", "invalid", "io", "it", "jp", "kr", "ly", "me", "mil", "mx", "net",
    "news", "nl", "no", "nz", "online", "org", "page", "pl", "pt", "ru", "se", "sg", "sh", "shop", "site",
    "so", "st", "store", "tech", "test", "th", "to", "tr", "tv", "tw", "ua", "uk", "us", "vn", "xyz", "za",
})
# fmt: on


def mark_addresses(text: str) -> str:
    """Replace URLs, hosts and IP addresses in lower-case text by `<own>` or `<public>`."""
    text = _URL.sub(_url, text)
    text = _IP.sub(lambda m: _kind(m[1] or "::1", m[3]), text)
    text = _HOST.sub(_host, text)
    text = _NAMED_HOST.sub(_named_host, text)
    return _PORT.sub(lambda m: f" {OWN}" if m[1] in _OWN_PORTS else m[0], text)


def _url(match: re.Match[str]) -> str:
    scheme = match[1].split("+")[0]
    if scheme in _OWN_SCHEMES:
        return f"{scheme} {OWN}"
    return _kind(match[2].strip("[]"), match[3])


def _host(match: re.Match[str]) -> str:
    """A dotted name counts as a host if it ends as one; `page.goto` and `openai.error` are none."""
    top = match[1].rpartition(".")[2]
    if top in _TLDS or match[1].endswith(_OWN_ZONES):
        return _kind(match[1], match[2])
    return match[0]


def _named_host(match: re.Match[str]) -> str:
    if match[3] in _NO_HOSTS or match[3].isdigit():
        return match[0]
    return f"{match[1]} {OWN}"


def _kind(host: str, port: str | None) -> str:
    if port and port.lstrip(":") in _OWN_PORTS:
        return OWN
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return OWN if "." not in host or host.endswith(_OWN_ZONES) else PUBLIC
    return OWN if any(address in network for network in _OWN_NETWORKS if network.version == address.version) else PUBLIC
