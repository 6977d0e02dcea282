"""Every setting: its name, type, default, unit and bounds.

`detiq_admin.settings` reads the environment once, through here. Code asks `conf()` and gets typed values;
durations are `timedelta`. A bad value is a `SettingError` at start-up that names the variable and says what is right.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from jobs.domain.errors import SettingError
from jobs.domain.variables import (
    FileStore,
    MailServer,
    Network,
    Secret,
    apprise_schemes,
    duration,
    environment_name,
    file_store,
    hosts,
    http_address,
    key_prefix,
    log_level,
    mail_address,
    mail_server,
    name_list,
    networks,
    one_of,
    real_number,
    secret,
    served_hosts,
    whole_number,
)

# So much of a bad value its message repeats.
_SHOWN = 200


@dataclass(frozen=True)
class Setting:
    """One environment variable. `attribute` is its name on `Conf`."""

    name: str
    attribute: str
    default: str
    parse: Callable[[str], Any]
    takes: str
    help: str
    # Its value may hold a password: no message repeats it.
    secret: bool = False

    def read(self, environ: Mapping[str, str]) -> Any:
        """The value in force. An empty variable counts as unset. Raises `SettingError`."""
        raw = environ.get(self.name, "").strip() or self.default
        try:
            return self.parse(raw)
        except ValueError as error:
            shown = "set to a value" if self.secret else f"{raw[:_SHOWN]!r}{'…' if len(raw) > _SHOWN else ''},"
            why = str(error).replace(raw, "…") if len(raw) > _SHOWN else error
            raise SettingError(f"{self.name} is {shown} which cannot be used: {why}. It takes {self.takes}.") from (
                None if self.secret else error
            )


_S = Setting
SETTINGS: tuple[Setting, ...] = (
    _S("JOB_STALE_TIMEOUT_MINUTES", "stale_timeout", "30", duration("minutes", 0.01, 10_080),
       "minutes, fractions allowed, 0.01 to 10080", "A running job silent for longer is given up for lost."),
    _S("MAX_CONCURRENT_PER_TENANT", "tenant_cap", "4", whole_number(0, 100_000),
       "a whole number from 0 (suspends every tenant without a cap of its own) to 100000",
       "How many jobs of one tenant may run at once, unless the tenant has its own cap."),
    _S("MAX_CONCURRENT_DISCOVER", "discover_cap", "2", whole_number(0, 100_000), "a whole number from 0 to 100000",
       "How many DISCOVER jobs may run at once, over all tenants; each holds a browser."),
    _S("JOB_WORKER_POLL_INTERVAL_MS", "poll_interval", "15000", duration("milliseconds", 50, 3_600_000),
       "milliseconds, 50 to 3600000", "How often a worker looks for jobs without being told, and sweeps."),
    _S("JOB_WORKER_CONCURRENCY", "concurrency", "8", whole_number(1, 256), "a whole number from 1 to 256",
       "How many jobs one worker process runs at once."),
    _S("JOB_CLAIM_ORDER", "claim_order", "fair", one_of("fair", "strict"), "fair or strict",
       "fair: within a priority tenants take turns; strict: priority, then queuedAt, over all; `migrate` makes its index."),
    _S("JOB_PRIORITY_RELIEF", "priority_relief", "10", whole_number(0, 10_000), "a whole number from 0 (never) to 10000",
       "One claim in so many begins at a lower priority, so that a busy high one cannot starve the rest for ever."),
    _S("CRAWL_CHECKPOINT_INTERVAL", "crawl_checkpoint_interval", "10", whole_number(1, 10_000),
       "pages, a whole number from 1 to 10000", "How many pages a crawl fetches between two checkpoints."),
    _S("JOB_RETENTION_DAYS", "retention", "90", duration("days", 1, 36_500), "days, 1 to 36500",
       "How long ended jobs are kept; dead letters are kept until purged."),
    _S("OPERATION_RETENTION_DAYS", "operation_retention", "90", duration("days", 1, 36_500), "days, 1 to 36500",
       "How long bulk operations and the outcomes of their rows are kept; the audit trail keeps who did what, and why."),
    _S("JOB_RETRY_JITTER", "retry_jitter", "0.1", real_number(0, 1), "a fraction from 0 to 1",
       "At most this share of a retry's delay is added to it, so that retries do not arrive together."),
    _S("JOB_SHUTDOWN_GRACE_SECONDS", "shutdown_grace", "30", duration("seconds", 0, 86_400), "seconds, 0 to 86400",
       "How long a stopping worker lets its jobs finish before it puts them back."),
    _S("JOB_HANDLER_MODULES", "handler_modules", "", name_list, "importable Python modules, separated by commas",
       "Modules that register handlers of your own."),
    _S("LEDGER_MAX_ATTEMPTS", "ledger_max_attempts", "5", whole_number(1, 1000), "a whole number from 1 to 1000",
       "How often a ledger event is tried before it counts as exhausted."),
    _S("LEDGER_STALE_MINUTES", "ledger_stale", "5", duration("minutes", 0.01, 10_080), "minutes, 0.01 to 10080",
       "A ledger event running for longer is taken back."),
    _S("LEDGER_BATCH", "ledger_batch", "50", whole_number(1, 5000), "a whole number from 1 to 5000",
       "How many ledger events one pass claims."),
    _S("LEDGER_HOOK_SECONDS", "ledger_hook_seconds", "120", real_number(0.1, 86_400), "seconds, 0.1 to 86400",
       "A hook that has not returned after so long is given up, unless it names a time of its own."),
    _S("LEDGER_HANDLER_MODULES", "ledger_handler_modules", "", name_list, "importable Python modules, separated by commas",
       "Modules that register hooks of your own."),
    _S("OUTBOUND_ALLOWED_NETWORKS", "outbound_allowed_networks", "", networks,
       "networks such as 127.0.0.0/8, separated by commas",
       "Private, loopback and link-local networks that jobs may fetch from. The demo allows loopback."),
    _S("ALERTS_STAND_IN_SECONDS", "stand_in", "60", duration("seconds", 0, 86_400), "seconds, 0 (never) to 86400",
       "A console evaluates alerts itself when no worker has for so long."),
    _S("EMAIL_URL", "email_url", "", mail_server,
       "smtp://HOST:PORT, smtps://… or smtp+starttls://…, with USER:PASSWORD@ before the host if it asks for them",
       "The mail server for alerts; without one no channel can be e-mail.", secret=True),
    _S("EMAIL_FROM", "email_from", "detiq-admin@localhost", mail_address, "a mail address",
       "Whom alerts by mail come from."),
    _S("WEBHOOK_ALLOWED_HOSTS", "webhook_allowed_hosts", "", hosts, "host names, separated by commas",
       "Hosts that webhooks may reach although their addresses are private."),
    _S("APPRISE_SCHEMES", "apprise_schemes", "slack,discord,tgram,pagerduty,opsgenie,pover", apprise_schemes,
       "schemes such as slack, separated by commas", "Which services channels of apprise may name."),
    _S("DETIQ_PUBLIC_URL", "public_url", "", http_address, "an address such as https://detiq.example.org",
       "Where people and services reach the console: alerts carry links; without it no job runs elsewhere."),
    _S("REMOTE_ALLOWED_HOSTS", "remote_allowed_hosts", "", hosts, "host names, separated by commas",
       "Hosts of remote executors that may have a private or loopback address, and be called without TLS."),
    _S("REMOTE_RUNS_FOLLOWED", "remote_runs_followed", "100", whole_number(0, 1_000), "a whole number from 0 to 1000",
       "How many runs by other services a worker process follows without a thread; each further one holds a thread."),
    _S("MASKED_KEYS", "masked_keys", "", name_list, "names of keys, separated by commas",
       "Keys whose values pages and downloads mask, besides password, token, secret, cookie and the like."),
    _S("ARTIFACT_STORAGE", "artifact_storage", "", file_store,
       "file:///a/folder or s3://bucket/folder?endpoint=https://…&region=…",
       "Where uploaded files are kept; unset: below DETIQ_VAR_DIR. The same place for every console and worker."),
    _S("ARTIFACT_KEY_PREFIX", "artifact_key_prefix", "tenants/{tenant}/artifacts/", key_prefix,
       "a relative path that ends with / and has {tenant} as one of its parts",
       "What the keys of a tenant's files begin with; nothing outside it is read for the tenant."),
    _S("ARTIFACT_MAX_MB", "artifact_max_mb", "50", whole_number(1, 2000), "megabytes, a whole number from 1 to 2000",
       "The largest file that may be uploaded."),
    _S("ARTIFACT_LLM_URL", "artifact_llm_url", "", http_address, "an address such as https://llm.example/v1",
       "An OpenAI-compatible endpoint that describes artifacts; unset: they are read by this program alone."),
    _S("ARTIFACT_LLM_KEY", "artifact_llm_key", "", secret, "printable ASCII", "The endpoint's key.", secret=True),
    _S("ARTIFACT_LLM_MODEL", "artifact_llm_model", "", str, "the name of a model of that endpoint",
       "Which model is asked."),
    _S("ARTIFACT_LLM_SECONDS", "artifact_llm_timeout", "60", duration("seconds", 1, 600), "seconds, 1 to 600",
       "How long an answer of the endpoint is waited for."),
    _S("DETIQ_ENVIRONMENT", "environment", "dev", environment_name, "a short name such as prod, staging or dev",
       "The badge on every page; `prod` also draws the red line."),
    _S("DETIQ_REQUIRE_MFA", "require_mfa", "off", one_of("off", "admins"), "off or admins",
       "Whose account needs a second factor before the console opens; off asks admins for one, and lets them go on."),
    _S("ALLOWED_HOSTS", "allowed_hosts", "localhost,127.0.0.1,[::1]", served_hosts,
       "host names without scheme and port, separated by commas; .example.org for all below it, * for every one",
       "Host names that the console answers to."),
    _S("DETIQ_INSECURE_COOKIES", "insecure_cookies", "0", one_of("0", "1"), "1 or 0",
       "1 for plain HTTP without TLS in front."),
    _S("LOG_LEVEL", "log_level", "INFO", log_level, "DEBUG, INFO, WARNING, ERROR or CRITICAL",
       "What is logged: this and what is graver."),
    _S("LOG_FORMAT", "log_format", "logfmt", one_of("logfmt", "json"), "logfmt or json", "How a line of the log reads."),
)  # fmt: skip


@dataclass(frozen=True)
class Conf:
    """The values in force, one attribute a setting."""

    stale_timeout: timedelta
    tenant_cap: int
    discover_cap: int
    poll_interval: timedelta
    concurrency: int
    claim_order: str
    priority_relief: int
    crawl_checkpoint_interval: int
    retention: timedelta
    operation_retention: timedelta
    retry_jitter: float
    shutdown_grace: timedelta
    handler_modules: list[str]
    ledger_max_attempts: int
    ledger_stale: timedelta
    ledger_batch: int
    ledger_hook_seconds: float
    ledger_handler_modules: list[str]
    outbound_allowed_networks: tuple[Network, ...]
    stand_in: timedelta
    email_url: MailServer
    email_from: str
    webhook_allowed_hosts: frozenset[str]
    apprise_schemes: list[str]
    public_url: str
    remote_allowed_hosts: frozenset[str]
    remote_runs_followed: int
    masked_keys: list[str]
    artifact_storage: FileStore
    artifact_key_prefix: str
    artifact_max_mb: int
    artifact_llm_url: str
    artifact_llm_key: Secret
    artifact_llm_model: str
    artifact_llm_timeout: timedelta
    environment: str
    require_mfa: str
    allowed_hosts: list[str]
    insecure_cookies: str
    log_level: str
    log_format: str

    @property
    def heartbeat_interval(self) -> timedelta:
        """min(15 s, stale timeout / 4)."""
        return min(timedelta(seconds=15), self.stale_timeout / 4)

    @property
    def artifact_max_bytes(self) -> int:
        """The largest file that may be uploaded."""
        return self.artifact_max_mb * 1_000_000


def load(environ: Mapping[str, str]) -> Conf:
    """Reads every setting. Raises `SettingError` for the first that cannot be used."""
    read = Conf(**{setting.attribute: setting.read(environ) for setting in SETTINGS})
    if bool(read.artifact_llm_url) != bool(read.artifact_llm_model):
        missing = "ARTIFACT_LLM_MODEL" if read.artifact_llm_url else "ARTIFACT_LLM_URL"
        raise SettingError(f"{missing} is not set: ARTIFACT_LLM_URL and ARTIFACT_LLM_MODEL belong together.")
    return read


def conf() -> Conf:
    """The settings in force in this process."""
    from django.conf import settings

    value: Conf = settings.DETIQ
    return value
