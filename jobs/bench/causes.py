"""Why the jobs of believable data failed. `{n}` varies from failure to failure and must not split the group."""

from dataclasses import dataclass

from jobs.domain.failures import FailureType


@dataclass(frozen=True)
class Cause:
    exception: str
    message: str
    failure_type: FailureType


_T, _I, _L, _F = FailureType.TRANSIENT, FailureType.INFRASTRUCTURE, FailureType.LOGICAL, FailureType.FATAL

CAUSES = (
    Cause("TimeoutError", "navigation timeout of 30000 ms exceeded at https://site-{n}.example/login", _T),
    Cause("HTTPStatusError", "HTTP 503 from https://site-{n}.example/products/{n}", _T),
    Cause("HTTPStatusError", "HTTP 429 Too Many Requests from https://api.model.example/v1/responses", _T),
    Cause("ReadTimeout", "the read operation timed out after {n} ms", _T),
    Cause("HTTPStatusError", "HTTP 502 Bad Gateway from https://cdn-{n}.example/", _T),
    Cause("TargetClosedError", "Target page, context or browser has been closed (page {n})", _T),
    Cause("RemoteProtocolError", "server disconnected without sending a response (request {n})", _T),
    Cause("StreamError", "stream {n} was reset by the peer", _T),
    Cause("ConnectionRefusedError", "connection refused by crawl-{n}.internal:5432", _I),
    Cause("OperationalError", "database is in recovery mode (attempt {n})", _I),
    Cause("WorkerLost", "worker lost (silent for {n} s)", _I),
    Cause("MemoryError", "heap out of memory after {n} pages", _I),
    Cause("WorkerExited", "worker exited with signal SIGKILL while page {n} was open", _I),
    Cause("OSError", "no space left on device: /tmp/capture-{n}.png", _I),
    Cause("PrismaError", "prisma: can't reach database server (pool {n})", _I),
    Cause("BrowserError", "browser process {n} exited: out of memory", _I),
    Cause("ValidationError", "validation failed: maxPages must be at most 500, not {n}", _L),
    Cause("HTTPStatusError", "HTTP 403 from https://intranet-{n}.example/", _L),
    Cause("NotFound", "artifact {n} not found", _L),
    Cause("HTTPStatusError", "HTTP 401 unauthorized for https://site-{n}.example/account", _L),
    Cause("ParseError", "invalid input: row {n} has no selector", _L),
    Cause("HTTPStatusError", "422 Unprocessable Entity: field steps[{n}] is required", _L),
    Cause("MissingSecret", "missing secret: MASTER_ENC_KEY is not set", _F),
    Cause("ConfigError", "invalid configuration: storage bucket of tenant {n} has no region", _F),
)
