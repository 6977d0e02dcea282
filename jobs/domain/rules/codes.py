"""Error codes: errno names, SQLSTATE, Prisma, Node, and codes of providers. Exact, and so the surest sign."""

from jobs.domain.failures import FailureType
from jobs.domain.rules.base import BROAD, DECIDES, Rule, Sign

_FATAL, _LOGICAL = FailureType.FATAL, FailureType.LOGICAL
_INFRASTRUCTURE, _TRANSIENT = FailureType.INFRASTRUCTURE, FailureType.TRANSIENT

RULES: tuple[Rule, ...] = (
    Rule(
        "sqlstate-data",
        Sign.CODE,
        "22??? | 23??? | 21000 | 27000 | 44000 | 54000 | 54001 | 54011 | P0001 | P0002 | P0003 | P0004",
        _LOGICAL,
        "the database refuses this data",
    ),
    Rule(
        "sqlstate-access",
        Sign.CODE,
        "28000 | 28P01 | 3D000 | 3F000 | 42??? | 0A000 | 0L000 | 0P000",
        _FATAL,
        "access or schema of our database is wrong",
    ),
    Rule(
        "sqlstate-itself",
        Sign.CODE,
        "08??? | 40??? | 53??? | 55??? | 57??? | 58??? | XX??? | 25??? | 26000 | 34000",
        _INFRASTRUCTURE,
        "our database is in trouble",
    ),
    Rule(
        "prisma-data",
        Sign.CODE,
        "P2000 | P2001 | P2002 | P2003 | P2004 | P2005 | P2006 | P2007 | P2009 | P2011 | P2012 | P2013 | P2014"
        " | P2015 | P2016 | P2017 | P2018 | P2019 | P2020 | P2023 | P2025 | P2029 | P2033",
        _LOGICAL,
        "the database refuses this data",
    ),
    Rule(
        "prisma-access",
        Sign.CODE,
        "P1000 | P1003 | P1009 | P1010 | P1011 | P1012 | P1013 | P1014 | P2010 | P2021 | P2022 | P2026 | P2030 | P3???",
        _FATAL,
        "access or schema of our database is wrong",
    ),
    Rule(
        "prisma-itself",
        Sign.CODE,
        "P1001 | P1002 | P1008 | P1017 | P2024 | P2028 | P2034 | P2035 | P2037",
        _INFRASTRUCTURE,
        "our database is in trouble",
    ),
    Rule(
        "errno-full",
        Sign.CODE,
        "ENOSPC | ENOMEM | EMFILE | ENFILE | EDQUOT | EIO | EAGAIN | EADDRINUSE | EADDRNOTAVAIL | ENOBUFS"
        " | ESTALE | EBUSY | ENODEV | ENXIO | ENOTCONN | ERR_WORKER_OUT_OF_MEMORY",
        _INFRASTRUCTURE,
        "something we run is full",
    ),
    Rule(
        "errno-rights",
        Sign.CODE,
        "EACCES | EPERM | EROFS | ENOEXEC | MODULE_NOT_FOUND | ERR_MODULE_NOT_FOUND | ERR_DLOPEN_FAILED"
        " | ERR_REQUIRE_ESM",
        _FATAL,
        "rights or contents of our image are wrong",
    ),
    Rule(
        "errno-input",
        Sign.CODE,
        "ENOENT | ENOTDIR | EISDIR | ENAMETOOLONG | EFBIG | EILSEQ | ERR_INVALID_URL | ERR_INVALID_ARG_TYPE"
        " | ERR_INVALID_ARG_VALUE | ERR_FR_TOO_MANY_REDIRECTS | ERR_BAD_REQUEST | ERR_INVALID_PROTOCOL"
        " | ERR_FR_MAX_BODY_LENGTH_EXCEEDED",
        _LOGICAL,
        "this job's input is refused",
    ),
    Rule(
        "errno-certificate",
        Sign.CODE,
        "CERT_HAS_EXPIRED | DEPTH_ZERO_SELF_SIGNED_CERT | SELF_SIGNED_CERT_IN_CHAIN"
        " | UNABLE_TO_VERIFY_LEAF_SIGNATURE | UNABLE_TO_GET_ISSUER_CERT | UNABLE_TO_GET_ISSUER_CERT_LOCALLY"
        " | ERR_TLS_CERT_ALTNAME_INVALID | EPROTO | ERR_SSL_*",
        _LOGICAL,
        "the target's certificate is not acceptable",
    ),
    Rule("errno-refused", Sign.CODE, "ECONNREFUSED", _INFRASTRUCTURE, "a connection to a service of ours was refused"),
    Rule(
        "errno-network",
        Sign.CODE,
        "ECONNRESET | ETIMEDOUT | ESOCKETTIMEDOUT | ECONNABORTED | EPIPE | EHOSTUNREACH | ENETUNREACH | ENETDOWN"
        " | EHOSTDOWN | ENOTFOUND | EAI_AGAIN | EAI_FAIL | EAI_NONAME | UND_ERR_* | ERR_STREAM_PREMATURE_CLOSE"
        " | ERR_HTTP2_* | ERR_CANCELED | ERR_NETWORK | ABORT_ERR | EREMOTEIO",
        _TRANSIENT,
        "the network between failed",
    ),
    Rule(
        "grpc-other",
        Sign.CODE,
        "UNAVAILABLE | DEADLINE_EXCEEDED | RESOURCE_EXHAUSTED | ABORTED | INTERNAL | DeadlineExceeded"
        " | ResourceExhausted",
        _TRANSIENT,
        "the other side failed for now",
        BROAD,
    ),
    Rule(
        "grpc-account",
        Sign.CODE,
        "UNAUTHENTICATED | PERMISSION_DENIED | UNIMPLEMENTED | PermissionDenied",
        _FATAL,
        "the other side refuses our account",
        BROAD,
    ),
    Rule(
        "grpc-input",
        Sign.CODE,
        "INVALID_ARGUMENT | NOT_FOUND | InvalidArgument | AlreadyExists | FailedPrecondition | ALREADY_EXISTS"
        " | FAILED_PRECONDITION | OUT_OF_RANGE | DATA_LOSS",
        _LOGICAL,
        "the other side refuses this input",
        BROAD,
    ),
    Rule(
        "provider-account-code",
        Sign.CODE,
        "insufficient_quota | invalid_api_key | authentication_error | permission_error"
        " | billing_hard_limit_reached | billing_not_active | account_deactivated | model_not_found"
        " | DeploymentNotFound | unsupported_country_region_territory | AccessDenied | AccessDeniedException"
        " | InvalidAccessKeyId | SignatureDoesNotMatch | ExpiredToken | ExpiredTokenException"
        " | InvalidClientTokenId | UnrecognizedClientException | NoSuchBucket | PermanentRedirect"
        " | AuthorizationHeaderMalformed | AuthFailure | InvalidToken | unsupported_parameter | OptInRequired"
        " | SubscriptionRequiredException | UnauthorizedOperation | PendingVerification | AuthorizationFailure"
        " | AuthorizationPermissionMismatch | KeyBasedAuthenticationNotPermitted | PublicAccessNotPermitted"
        " | VcpuLimitExceeded | INVALID_LOGIN | INVALID_SESSION_ID | API_DISABLED_FOR_ORG",
        _FATAL,
        "our account with a provider is refused",
    ),
    Rule(
        "provider-input-code",
        Sign.CODE,
        "context_length_exceeded | content_filter | content_policy_violation | invalid_request_error"
        " | string_above_max_length | invalid_image_format | NoSuchKey | EntityTooLarge | ValidationException"
        " | invalid_prompt | BlobNotFound | BlobArchived | LeaseIdMissing | InvalidBlobType | NoSuchUpload"
        " | InvalidPart"
        " | InvalidArgument | InvalidRange",
        _LOGICAL,
        "the provider refuses this input",
        BROAD,
    ),
    Rule(
        "provider-wait-code",
        Sign.CODE,
        "rate_limit_exceeded | rate_limit_error | overloaded_error | server_error | api_error | engine_overloaded"
        " | SlowDown | Throttling | ThrottlingException | TooManyRequestsException | RequestTimeout"
        " | ServiceUnavailable | InternalError | InternalServerException | ServiceUnavailableException"
        " | RequestLimitExceeded | ContainerBeingDeleted | ServerBusy | OperationTimedOut"
        " | InsufficientInstanceCapacity"
        " | UNABLE_TO_LOCK_ROW | REQUEST_LIMIT_EXCEEDED | backendError | rateLimitExceeded | userRateLimitExceeded",
        _TRANSIENT,
        "the other side asks us to wait",
    ),
)

#: Oracle's codes stand in the text alone, beside words about connections: asked before any phrase.
ORACLE: tuple[Rule, ...] = (
    Rule(
        "oracle-data",
        Sign.PATTERN,
        r"\bORA-(?:00001|01400|01407|01438|01722|01830|01839|01843|01847|01858|01861|02290|02291|02292|"
        r"12899|06502|01403|01422)\b",
        _LOGICAL,
        "the database refuses this data",
        DECIDES,
    ),
    Rule(
        "oracle-access",
        Sign.PATTERN,
        r"\bORA-(?:01005|01017|01031|01045|01435|28000|28001|28002|00903|00904|00942|01747|02289|04043|"
        r"06550|12154|12505|12514)\b",
        _FATAL,
        "access or schema of our database is wrong",
        DECIDES,
    ),
    Rule(
        "oracle-itself",
        Sign.PATTERN,
        r"\bORA-(?:00018|00020|00054|00060|00257|00600|01033|01034|01089|01555|01652|01653|03113|03114|"
        r"03135|04031|04036|07445|08177|12170|12516|12519|12520|12537|12541|12547|25408)\b",
        _INFRASTRUCTURE,
        "our database is in trouble",
        DECIDES,
    ),
)
