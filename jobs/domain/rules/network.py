"""The network: between us and another party it is transient; to a service that we run it is ours."""

from jobs.domain.failures import FailureType
from jobs.domain.rules.base import BROAD, Rule, Sign

_LOGICAL, _INFRASTRUCTURE, _TRANSIENT = FailureType.LOGICAL, FailureType.INFRASTRUCTURE, FailureType.TRANSIENT

# What goes wrong on the way to a service, and the names of services that we run.
_TROUBLE = (
    "econnrefused|connection refused|actively refused|econnreset|connection "
    "reset|reset by peer|etimedout|timed? ?out|timeout|enotfound|eai_again|"
    "execution expired|\\beof\\W{0,3}$|"
    "(?:fail\\w*|unable|cannot|could not|can't)(?: to)? (?:obtain|get|acquire|open|establish|create|make)[^\n]{0,40} "
    "connection|"
    "name or service not known|name resolution|(?:failed to|cannot|not|not be|could not|couldn't) resolved?|"
    "getaddrinfo|no such host|ehostunreach|no route to host|enetunreach|"
    "unreachable|broken pipe|epipe|socket hang up|socket closed|connection[^\n]{0,40} "
    "(?:closed|lost|terminated|aborted|dropped|failed|reset)|"
    "closed the connection|server closed|can't reach|cannot connect|"
    "can't connect|could not connect|unable to connect|failed to connect|"
    "not reachable|not respond\\w*|unhealthy|status:? red|is red|"
    "not connected|lost connection|gone away|connection error|socket "
    "error|"
    "max retries exceeded|error connecting|could not translate host|unavailable|is not running|is down|refused"
)
_OWN = (
    r"\b(?:redis|pg::\w+|activerecord|sqlclient|oracledb|cx_oracle|pymssql|"
    r"odbc|mongoose|couchdb|dynamodb|libpq|unable to connect to the "
    r"database|ioredis|replyerror|postgres\w*|psycopg\w*|asyncpg|pgbouncer|"
    r"mysql\w*|mariadb|pymysql|mongo\w*|rabbitmq|amqp|pika|kafka|memcached?|"
    r"elasticsearch|opensearch|clickhouse|minio|sqlalchemy|"
    r"prisma\w*|sequelize\w*|typeorm|knex|hikari\w*|jdbc|celery|kombu|"
    r"bullmq|cassandra|neo4j|etcd|zookeeper|vault|qdrant|milvus|weaviate|"
    r"consul|nomad|solr|database|chromedriver|browserless|object store)\b|django\.db"
)

_CERTIFICATE = (
    r"certificate[ _]verify[ _]failed|certificate (?:verification|has expired|is not trusted|signed by unknown)|"
    r"self.signed certificate|self_signed_cert|verify the first certificate|get (?:local )?issuer cert|x509: |"
    r"handshake[ _]failure|altnames|invalid peer certificate"
)
_BROKEN_TLS = r"bad record mac|decryption failed or bad|bad decrypt record|ssl syscall error"

#: Asked before what providers say: a service of ours fails otherwise than a provider does.
EARLY: tuple[Rule, ...] = (
    Rule(
        "crawl-no-answer",
        Sign.PATTERN,
        r"\Aexceptions:(?=[^\n]*\bweb\.errors\.noanswer\b)(?![\s\S]*?(?:certificate|\bssl\b|\btls\b|x509))",
        _TRANSIENT,
        "the target does not answer",
    ),
    # What a site answered a crawl is said by its status, whatever words the page has.
    Rule(
        "crawl-answer-waits",
        Sign.PATTERN,
        r"\Aexceptions:[^\n]*\bweb\.errors\.siteanswered\b[^\n]* status:(?:408|425|429|5\d\d)\b",
        _TRANSIENT,
        "the target failed for now, or asks us to wait",
    ),
    Rule(
        "crawl-answer-refuses",
        Sign.PATTERN,
        r"\Aexceptions:[^\n]*\bweb\.errors\.siteanswered\b[^\n]* status:4",
        _LOGICAL,
        "the target refuses this request",
    ),
    Rule(
        "own-connection-broken",
        Sign.CLUES,
        rf"\A(?=exceptions:[^\n]*(?:operationalerror|databaseerror|interfaceerror|redis|mongo|mysql)|"
        rf"[\s\S]*?(?:<own>|{_OWN}))[\s\S]*?(?:{_BROKEN_TLS})",
        _INFRASTRUCTURE,
        "a connection to a service that we run broke",
    ),
    Rule(
        "own-store-fails",
        Sign.PATTERN,
        r"\Aexceptions:[^\n]*\bxminio\w*(?:server|storage|quorum|backend|drive|offline|unavailable)",
        _INFRASTRUCTURE,
        "the object store that we run is in trouble",
    ),
    Rule(
        "answer-cut",
        Sign.CLUES,
        r"\bcontent-length\b[^\n]{0,60}\b(?:mismatch|truncated|more|less|short\w*|does ?n[o']t match)\b|"
        r"\b(?:more|less|fewer|shorter|longer) (?:data |bytes )?than (?:\w+ )?content-length\b|"
        r"\b(?:response|body|answer|download|transfer|stream|connection) (?:was |is |got )?(?:truncated|cut (?:short|"
        r"off))\b",
        _TRANSIENT,
        "an answer was cut on the way",
    ),
    Rule("connection-broken", Sign.CLUES, _BROKEN_TLS, _TRANSIENT, "a connection broke; no secret is wrong"),
    Rule(
        "stream-ended",
        Sign.CLUES,
        r"\bend of (?:stream|file) (?:on|from) (?:<public>|server|peer|the server)|<own>\s?->\s?<public>",
        _TRANSIENT,
        "the other side hung up",
    ),
    Rule(
        "own-service-fails",
        Sign.CLUES,
        r"\A(?!exceptions:[^\n]*\bhandlers\.web\.)"  # what a crawl asks for is a target, wherever it is
        r"(?=[\s\S]*?(?:<own>|\b(?:consul|etcd|vault|zookeeper|nomad|clickhouse|solr|leases?)\b))"
        r"(?![\s\S]*?(?:<public>|slow ?down|too many requests|rate.?limit))"
        r"(?=[\s\S]*?(?:status:50[0234]\b|\b50[0234] (?:internal|bad|service|gateway|server)|bad gateway|"
        r"gateway time-?out|service unavailable|internal server error|server error))",
        _INFRASTRUCTURE,
        "a service that we run fails",
    ),
)

#: Asked before what is said of a configuration: a service that cannot be reached is no wrong setting.
OWN_UNREACHED = Rule(
    "own-service-unreached",
    Sign.CLUES,
    rf"\b(?:could not|cannot|can't|unable to|failed to|error) connect(?:ing)? to (?:the |our |an? )?(?:{_OWN})",
    _INFRASTRUCTURE,
    "a service that we run cannot be reached",
)

RULES: tuple[Rule, ...] = (
    Rule(
        "own-certificate",
        Sign.CLUES,
        rf"\A(?=[\s\S]*?<own>)(?![\s\S]*?<public>)[\s\S]*?(?:{_CERTIFICATE})",
        FailureType.FATAL,
        "the certificate of a service that we run is not accepted",
    ),
    Rule(
        "certificate-anywhere",
        Sign.PATTERN,
        rf"(?:{_CERTIFICATE})",
        _LOGICAL,
        "the target's certificate or TLS is not acceptable",
    ),
    Rule(
        "own-service-network",
        Sign.CLUES,
        rf"\A(?=[\s\S]*?(?:<own>|{_OWN}))(?![\s\S]*?(?:net::err|"
        rf"<own>\s?->\s?<public>))[^\n]*\n(?=[\s\S]*?(?:{_TROUBLE}))",
        _INFRASTRUCTURE,
        "a service that we run cannot be reached",
        BROAD,
    ),
    Rule(
        "target-refuses-connection",
        Sign.CLUES,
        r"\A(?=[\s\S]*?(?:econnrefused|connection refused|actively refused))(?=[\s\S]*?<public>)",
        _TRANSIENT,
        "the target refuses connections for now",
    ),
    Rule(
        "own-service-refuses-connection",
        Sign.CLUES,
        r"\b(?:econnrefused|connection refused|actively refused)",
        _INFRASTRUCTURE,
        "a connection was refused, and not by a target",
    ),
    Rule(
        "certificate",
        Sign.PHRASE,
        "certificate verify failed | certificate is invalid | remote certificate | invalid certificate"
        " | certificate chain | untrusted root | trust anchor | certificate has been revoked"
        " | certificate validation | certificate error | certificate_verify_failed | ssl certificate problem"
        " | unable to verify the first certificate | unable_to_verify_leaf_signature | self signed certificate"
        " | self-signed certificate | depth_zero_self_signed_cert | certificate has expired | cert_has_expired"
        " | certificate is not valid | certificate is not trusted | certificate expired"
        " | certificate signed by unknown authority | certificate is valid for | x509: | err_tls_cert_altname"
        " | altnames | unable to get local issuer | unable to get issuer | hostname mismatch | doesn't match"
        " | hostname/ip does not match | no alternative certificate subject | pkix path | certpath"
        " | certificateexception | bad certificate | certificate unknown | unknown ca | certificate revoked"
        " | wrong version number | wrong_version_number | unsupported protocol | unsupported_protocol"
        " | handshake failure | handshake_failure | sslv3 alert | tlsv1 alert | tlsv1 unrecognized"
        " | unrecognized_name | unrecognized name | protocol version | no cipher | dh key too small"
        " | dh_key_too_small | ca md too weak | unsafe legacy renegotiation | unexpected message | eproto"
        " | unable to find valid certification path | no peer certificate | inappropriate fallback"
        " | received fatal alert | server gave http response to https client | plain http request was sent"
        " | no application protocol | cert_ | ssl peer certificate",
        _LOGICAL,
        "the target's certificate or TLS is not acceptable",
        BROAD,
    ),
    Rule(
        "fetch-failed",
        Sign.PATTERN,
        r"typeerror: (?:fetch failed|terminated|failed to fetch|network ?error|load failed|cancelled)",
        _TRANSIENT,
        "the network between failed; a fetch says so by a TypeError",
        BROAD,
    ),
    Rule(
        "address-not-resolved-bare",
        Sign.PATTERN,
        r"\Aexceptions:(?![^\n]*(?:httpx|httpcore|aiohttp|requests|urllib|curl|scrapy|axios|undici|fetch|"
        r"playwright))[^\n]*\n\W{0,3}(?:[\w.]{1,60}(?:error|"
        r"exception): )?(?:\[errno -?\d{1,3}\] )?(?:getaddrinfo:? ?)?(?:name or service not known|"
        r"nodename nor servname provided, or not known|getaddrinfo failed)\W{0,3}$",
        _INFRASTRUCTURE,
        "a name without a target: one of our own services does not resolve",
    ),
    Rule(
        "curl-refused",
        Sign.PATTERN,
        r"\bcurl\b[\]\W]{0,3}(?:error|errno|exception|returned)?\W{0,4}(?:1|3|4|47|51|58|60|61|63|78|83|90|91)\b(?!\.)",
        _LOGICAL,
        "curl's number says that the target or its address is not acceptable",
    ),
    Rule(
        "curl-own",
        Sign.PATTERN,
        r"\bcurl\b[\]\W]{0,3}(?:error|errno|exception|returned)?\W{0,4}(?:2|5|23|26|27|41|43|45|97|98)\b(?!\.)",
        _INFRASTRUCTURE,
        "curl's number says that our own machine or proxy is in trouble",
    ),
    Rule(
        "curl-network",
        Sign.PATTERN,
        r"\bcurl\b[\]\W]{0,3}(?:error|errno|exception|returned)?\W{0,4}(?:6|7|16|18|28|35|52|55|56|92|95)\b(?!\.)",
        _TRANSIENT,
        "curl's number says that the network between failed",
    ),
    Rule(
        "request-ended",
        Sign.PATTERN,
        r"\b(?:get|post|put|patch|head|read|dial|do request)\b[^\n]{0,300}: (?:unexpected )?eof\W{0,3}$",
        _TRANSIENT,
        "the other side hung up",
    ),
    Rule(
        "target-network",
        Sign.PHRASE,
        "maximum execution time | timed out | timedout | timeout | time-out | time out | deadline exceeded"
        " | deadline_exceeded | took too long | etimedout | esockettimedout | econnaborted | econnreset"
        " | connection reset | reset by peer | connection was reset | socket hang up | enotfound | eai_again"
        " | eai_fail | getaddrinfo | name resolution | name or service not known | nodename nor servname"
        " | could not resolve | couldn't resolve | failed to resolve | cannot resolve | no address associated"
        " | nxdomain | servfail | no such host | unknownhost | unknown host | host not found"
        " | host is unreachable | ehostunreach | no route to host | enetunreach | network is unreachable"
        " | network unreachable | enetdown | network error | network_error | networkerror"
        " | network request failed | network connection | ehostdown | host is down | epipe | broken pipe"
        " | fetch failed | failed to fetch | fetch error | other side closed | und_err | connection closed"
        " | connection was closed | connection is closed | connection lost | connection aborted"
        " | connection error | connection broken | connection dropped | connection failed"
        " | connection unexpectedly closed | connection timed | closed the connection | closed unexpectedly"
        " | remote end closed | remotedisconnected | peer closed | server disconnected | connection interrupted"
        " | connection attempt failed | forcibly closed | failed to establish a new connection"
        " | unable to connect | cannot connect | could not connect | couldn't connect | failed to connect"
        " | can't connect | connect error | connecterror | max retries exceeded | no connection established"
        " | unavailable: | statuscode.unavailable | incompleteread | incomplete read | incomplete message"
        " | incomplete response | incomplete chunked | chunked encoding | invalid chunk | premature close"
        " | prematurely closed | err_stream_premature_close | response ended prematurely"
        " | content length mismatch | unexpected eof | unexpected_eof | eof occurred in violation | eof occurred"
        " | empty reply | empty response | bytes received | transfer closed | stream was reset | stream closed"
        " | rst_stream | goaway | http2 stream | http/2 stream | protocol_error | refused_stream | err_http2"
        " | remote protocol | remoteprotocolerror | bad record mac | decryption failed or bad record"
        " | before secure tls connection | tls connection was established | handshake timeout"
        " | ssl connection timeout | ssl_error_syscall | ssl_error_zero_return | ssl shutdown | temporary failure"
        " | can be retried | greylisted | graylisted | 421 4 | 450 4 | 451 4 | 452 4 | mailbox busy"
        " | socket closed | socket error | websocket closed | lost connection | read error | recv failure"
        " | recv error | send failure | write after end | connection pool shut | no internet | stream ended"
        " | hang-up | execution expired | hung up | early eof | rpc failed | unexpected disconnect | are still expected"
        " | receiving data from the peer | failure when receiving | kex_exchange | other side was lost"
        " | non-clean fashion | dns lookup failed | no results for hostname | dns error | tcp connect error"
        " | error sending request | closed before message completed | server closed idle | context canceled"
        " | context cancelled | task was canceled | operation was canceled | end of file from server"
        " | ssl connection could not be established | terminated the handshake | can't open data connection",
        _TRANSIENT,
        "the network or another party failed for now",
        BROAD,
    ),
)
