"""How the text of an environment variable is read: each function takes it stripped, and raises `ValueError` that says what
is wrong with it."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from urllib.parse import parse_qsl, unquote, urlsplit

type Network = IPv4Network | IPv6Network


class Secret(str):
    """A value that no page, log line or error shows."""

    def __repr__(self) -> str:
        return "'••••••'" if self else "''"


@dataclass(frozen=True)
class FileStore:
    """Where files are kept. `bucket` None: in the folder `path`, by default one below `DETIQ_VAR_DIR`."""

    path: str = ""
    bucket: str | None = None
    endpoint: str | None = None
    region: str | None = None

    def __str__(self) -> str:
        if self.bucket is None:
            return self.path or "below DETIQ_VAR_DIR"
        return f"s3://{self.bucket}/{self.path}" + (f" at {self.endpoint}" if self.endpoint else "")


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """A whole number between two."""

    def parse(raw: str) -> int:
        value = int(raw)
        if not least <= value <= most:
            raise ValueError(f"it must lie between {least} and {most}")
        return value

    return parse


def real_number(least: float, most: float) -> Callable[[str], float]:
    """A number between two, fractions allowed."""

    def parse(raw: str) -> float:
        value = float(raw)
        if not least <= value <= most:  # also refuses NaN, which compares false with everything
            raise ValueError(f"it must lie between {least:g} and {most:g}")
        return value

    return parse


def duration(unit: str, least: float, most: float) -> Callable[[str], timedelta]:
    """So many of a unit that `timedelta` knows."""
    parse = real_number(least, most)
    return lambda raw: timedelta(**{unit: parse(raw)})


def name_list(raw: str) -> list[str]:
    """What stands between commas."""
    return [name for part in raw.split(",") if (name := part.strip())]


def networks(raw: str) -> tuple[Network, ...]:
    """Networks; host bits are cut."""
    return tuple(ip_network(part, strict=False) for part in name_list(raw))


def secret(raw: str) -> Secret:
    """A value that no message repeats."""
    if not (raw.isascii() and raw.isprintable()):
        raise ValueError("it holds a character that no header can carry")
    return Secret(raw)


def http_address(raw: str) -> str:
    """An address of http or https without user and query, or none."""
    if not raw:
        return ""
    parts = urlsplit(raw)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise ValueError("it is no http or https address without a user name")
    if parts.query or parts.fragment:
        raise ValueError("it has a query or a fragment")
    if parts.port == 0 or not raw.isprintable() or " " in raw:  # a port that is none raises by itself
        raise ValueError("it holds a character or a port that no address has")
    return raw.rstrip("/")


def file_store(raw: str) -> FileStore:
    """A folder, or s3://bucket with what it needs; see README."""
    parts = urlsplit(raw)
    if not raw:
        return FileStore()
    if parts.scheme == "file" and not parts.netloc and parts.path.strip("/"):
        return FileStore(unquote(parts.path))
    if parts.scheme != "s3" or not parts.hostname:
        raise ValueError("it begins neither with file:/// nor with s3:// and a bucket")
    more = dict(parse_qsl(parts.query, keep_blank_values=True))
    if unknown := sorted(set(more) - {"endpoint", "region"}):
        raise ValueError(f"nothing is known of {', '.join(unknown)}; there are endpoint and region")
    endpoint = http_address(more.get("endpoint", "")) or None
    return FileStore(unquote(parts.path).strip("/"), parts.netloc, endpoint, more.get("region") or None)


def key_prefix(raw: str) -> str:
    """Where a tenant's files lie: `{tenant}` is one part of it."""
    parts = raw.split("/")
    if raw.count("{tenant}") != 1 or "{tenant}" not in parts:
        raise ValueError("{tenant} must be one of its parts, once")
    if parts[-1] or any(part in ("", ".", "..") or "\\" in part or not part.isprintable() for part in parts[:-1]):
        raise ValueError("it must be relative, end with / and hold no empty part, . or ..")
    return raw


def log_level(raw: str) -> str:
    """One of Python's, in capitals."""
    return one_of("debug", "info", "warn", "warning", "error", "critical")(raw).upper()


def one_of(*choices: str) -> Callable[[str], str]:
    """One of some words, in small letters."""

    def parse(raw: str) -> str:
        if raw.lower() not in choices:
            raise ValueError("it is none of them")
        return raw.lower()

    return parse


# They reach files, programs of this machine or any host, past the guard of webhooks.
_NEVER_APPRISE = frozenset({"file", "json", "jsons", "xml", "xmls", "form", "forms", "dbus", "qt", "kde", "glib", "gnome",
                            "macosx", "windows", "syslog", "rsyslog", "mailto", "mailtos", "apprise", "apprises",
                            "mqtt", "mqtts", "smpp", "smpps", "irc", "ircs", "xmpp", "xmpps"})  # fmt: skip


def apprise_schemes(raw: str) -> list[str]:
    """Schemes of Apprise that an admin may use."""
    names = [name.lower() for name in name_list(raw)]
    for name in names:
        if name in _NEVER_APPRISE:
            raise ValueError(f"{name} reaches files, programs or any host and is never allowed")
        if not (name.isascii() and name.isalnum()):
            raise ValueError(f"{name} is no scheme; write it without ://")
    return names


def hosts(raw: str) -> frozenset[str]:
    """Names or addresses of hosts."""
    return frozenset(_host(name) for name in name_list(raw))


def _host(name: str) -> str:
    host = name.lower().strip("[]").rstrip(".")
    if not _is_host(host):
        raise ValueError(f"{name} is no host name; write it without scheme and port")
    return host


def served_hosts(raw: str) -> list[str]:
    """The hosts that the console answers for."""
    names = [name if name == "*" else _served_host(name) for name in name_list(raw)]
    if not names:
        raise ValueError("it names no host")
    return names


def _served_host(name: str) -> str:
    """As Django asks for it: a dot before it for all below it, an address of IPv6 in brackets."""
    host = _host(name.removeprefix("."))
    return f"[{host}]" if ":" in host else name[:1] * name.startswith(".") + host


def _is_host(name: str) -> bool:
    if all(part.replace("-", "").replace("_", "").isalnum() for part in name.split(".")):
        return True
    with suppress(ValueError):
        return bool(ip_address(name))
    return False


@dataclass(frozen=True)
class MailServer:
    """Where mail is handed over. False: nowhere."""

    host: str = ""
    port: int = 25
    username: str = ""
    password: str = field(default="", repr=False)
    tls: str = ""

    def __bool__(self) -> bool:
        return bool(self.host)

    def __str__(self) -> str:
        who = f"{self.username}:••••••@" if self.username else ""
        return f"smtp{'s' if self.tls == 'smtps' else ''}://{who}{self.host}:{self.port}" if self.host else "none"


def mail_server(raw: str) -> MailServer:
    """Where mail is handed over, or nowhere."""
    if not raw:
        return MailServer()
    # The value may hold a password: no message repeats it.
    parts = urlsplit(raw)
    if parts.scheme not in ("smtp", "smtps", "smtp+starttls") or not parts.hostname:
        raise ValueError("it does not begin with smtp://, smtps:// or smtp+starttls:// and a host")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError("nothing may follow the port")
    tls = {"smtps": "smtps", "smtp+starttls": "starttls"}.get(parts.scheme, "")
    port = parts.port or {"smtps": 465, "starttls": 587}.get(tls, 25)
    return MailServer(parts.hostname, port, unquote(parts.username or ""), unquote(parts.password or ""), tls)


def mail_address(raw: str) -> str:
    """An address, not looked at closely."""
    if "@" not in raw or any(not char.isprintable() for char in raw):
        raise ValueError("it is no mail address")
    return raw


def environment_name(raw: str) -> str:
    """A short name, in small letters."""
    if not (raw.isascii() and raw.replace("-", "").isalnum() and len(raw) <= 12):
        raise ValueError("it is no short name")
    return raw.lower()
