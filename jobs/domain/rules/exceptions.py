"""Exception classes, of Python and of others. Particular ones first; those that any mistake can raise come last."""

from jobs.domain.failures import FailureType
from jobs.domain.rules.base import BROAD, NETWORK, Rule, Sign

_FATAL, _LOGICAL = FailureType.FATAL, FailureType.LOGICAL
_INFRASTRUCTURE, _TRANSIENT = FailureType.INFRASTRUCTURE, FailureType.TRANSIENT

RULES: tuple[Rule, ...] = (
    Rule(
        "exception-no-status",
        Sign.EXCEPTION,
        "NoCredentials*Error | CredentialRetrievalError | CredentialsProviderError | PartialCredentialsError"
        " | AuthenticationError | AuthenticationException | *.SMTPAuthenticationError | PermissionDeniedError"
        " | *.exceptions.PermissionDenied | *.exceptions.Unauthenticated | DefaultCredentialsError | RefreshError"
        " | ImproperlyConfigured | InvalidConfiguration* | ConfigurationError | SettingError | ConfigError"
        " | *.NoRegionError",
        _FATAL,
        "our credentials or our configuration are wrong",
    ),
    Rule(
        "exception-import",
        Sign.EXCEPTION,
        "ImportError | ModuleNotFoundError | DistributionNotFound | *NotInstalledError | TesseractNotFoundError"
        " | PDFInfoNotInstalledError | NoClassDefFoundError | ClassNotFoundException | UnsatisfiedLinkError"
        " | UndefinedTable | UndefinedColumn | UndefinedFunction | InsufficientPrivilege | InvalidPassword"
        " | InvalidCatalogName | SecretNotFound*",
        _FATAL,
        "a program, library, table or right is missing",
    ),
    Rule(
        "exception-rights",
        Sign.EXCEPTION,
        "PermissionError | AccessDeniedException | UnauthorizedAccessException",
        _FATAL,
        "rights of our container are wrong",
    ),
    Rule(
        "exception-memory",
        Sign.EXCEPTION,
        "MemoryError | OutOfMemoryError | OutOfMemoryException | WorkerLostError | BrokenProcessPool"
        " | ProcessTerminatedError | BrokenExecutor | TooManyConnections | DiskFull | DeadlockDetected"
        " | SerializationFailure | LockNotAvailable | QueryCanceled | AdminShutdown | CannotConnectNow"
        " | PoolTimeout | TooManyRequests_pool | SequelizeConnection*Error",
        _INFRASTRUCTURE,
        "something we run is full, killed or overloaded",
    ),
    Rule(
        "exception-database-data",
        Sign.EXCEPTION,
        "IntegrityError | DataError | UniqueViolation | ForeignKeyViolation | NotNullViolation | CheckViolation"
        " | StringDataRightTruncation | NumericValueOutOfRange | CharacterNotInRepertoire"
        " | UntranslatableCharacter | InvalidTextRepresentation | DuplicateKeyError"
        " | DataIntegrityViolationException | *SQLDataException | *ConstraintViolationException"
        " | SequelizeUniqueConstraintError | SequelizeValidationError | SequelizeForeignKeyConstraintError"
        " | DoesNotExist | *.DoesNotExist | MultipleObjectsReturned | NoResultFound | EntityNotFoundError"
        " | EntityNotFoundException",
        _LOGICAL,
        "the database refuses this data",
    ),
    Rule(
        "exception-database-schema",
        Sign.EXCEPTION,
        "ProgrammingError | *SQLSyntaxErrorException | PrismaClientInitializationError_schema",
        _FATAL,
        "access or schema of our database is wrong",
    ),
    Rule(
        "exception-database-itself",
        Sign.EXCEPTION,
        "OperationalError | InterfaceError | ActiveRecord.StatementInvalid | ActiveRecord.Statement* | *JdbcConnection*"
        " | ActiveRecord.Connection* | *.db.utils.DatabaseError | psycopg*.InternalError"
        " | psycopg*.DatabaseError | *SQLTransientConnectionException | *SQLNonTransientConnectionException"
        " | redis*.ConnectionError | redis*.TimeoutError | redis*.BusyLoadingError | redis*.ReadOnlyError"
        " | redis*.ClusterDownError | redis*.OutOfMemoryError | MaxRetriesPerRequestError"
        " | MongoServerSelectionError | MongoNetworkError | MongoNotConnectedError | ServerSelectionTimeoutError"
        " | AutoReconnect | NotPrimaryError | PrismaClientInitializationError | PrismaClientRustPanicError"
        " | SequelizeConnectionError | AMQPConnectionError | AMQPConnectorException | NoBrokersAvailable"
        " | KafkaConnectionError | ConnectionAcquireTimeoutError",
        _INFRASTRUCTURE,
        "our database or cache is in trouble",
    ),
    Rule(
        "exception-provider-wait",
        Sign.EXCEPTION,
        "RateLimitError | *.RateLimitError | TooManyRequests | TooManyRequestsError | TooManyRequestsException"
        " | ThrottlingException | ThrottledException | InternalServerError | ServiceUnavailableError"
        " | ServiceUnavailable | OverloadedError | APIConnectionError | APITimeoutError"
        " | APIConnectionTimeoutError | ResourceExhausted | DeadlineExceeded | *.exceptions.Aborted"
        " | GatewayTimeout | BadGateway | RetryError | ServerException | InternalServerException"
        " | ModelNotReadyException | TryAgain | FetchError",
        _TRANSIENT,
        "the other side failed for now, or asks us to wait",
        NETWORK,
    ),
    Rule(
        "exception-input",
        Sign.EXCEPTION,
        "ValidationError | *.ValidationError | *ValidationException | RequestValidationError | ZodError"
        " | JSONDecodeError | *JsonParseException | JsonProcessingException | MismatchedInputException"
        " | YAML*Error | YAML*Exception | Yaml*Exception | ScannerError | ParserError | ParseError"
        " | XMLSyntaxError | ExpatError | SAXParseException | XmlException | PdfReadError | PDFSyntaxError"
        " | PdfStreamError | FileNotDecryptedError | DependencyError_pdf | EmptyFileError | FileDataError"
        " | BadZipFile | BadZipfile | BadGzipFile | InvalidFileException | PackageNotFoundError"
        " | UnidentifiedImageError | DecompressionBomb* | UnicodeDecodeError | UnicodeEncodeError | UnicodeError"
        " | OutputParserException | InvalidURL | InvalidURIException | MissingSchema | InvalidSchema"
        " | LocationParseError | UnsupportedProtocol | URISyntaxException | MalformedURLException"
        " | TooManyRedirects | NoSuchElement* | InvalidSelectorException | ContentFilter*"
        " | ContextWindowExceeded* | *.BadRequestError | BadRequestError | InvalidRequestError"
        " | UnprocessableEntityError | UnprocessableEntity | *.exceptions.InvalidArgument"
        " | ContentTooShortError_x | *Certificate* | SSLCertVerificationError | CSVError | *.csv.Error"
        " | LengthFinishReasonError | NoSuchKey | BlockedPromptException | StopCandidateException"
        " | NotFoundException | ResourceNotFoundError | CardError | StripeCardError | *.SMTPRecipientsRefused"
        " | UnsupportedOperation | UnsupportedFormatError"
        " | UnsupportedFileFormatError | InvalidInput | CypherSyntaxError",
        _LOGICAL,
        "this job's input is refused",
    ),
    Rule(
        "exception-provider-model",
        Sign.EXCEPTION,
        "openai.NotFoundError | anthropic.NotFoundError | litellm.*NotFoundError | openai.error.PermissionError",
        _FATAL,
        "our setting names something that the provider does not have",
    ),
    Rule(
        "exception-network",
        Sign.EXCEPTION,
        "TimeoutError | *TimeoutError | *Timeout | TimeoutExpired | BadStatusLine | TimeoutException"
        " | *TimeoutException | ConnectionResetError | ConnectionAbortedError | BrokenPipeError"
        " | RemoteDisconnected | IncompleteRead | ChunkedEncodingError | ProtocolError | RemoteProtocolError"
        " | ServerDisconnectedError | ServerDisconnected* | ClientPayloadError | ClientConnectorError"
        " | ClientConnectorDNSError | ClientOSError | ConnectError | ReadError | WriteError | CloseError"
        " | NetworkError | ConnectTimeout | NewConnectionError | MaxRetryError | NameResolutionError | gaierror"
        " | UnknownHostException | SocketTimeoutException | SocketException | ConnectException"
        " | NoHttpResponseException | EOFException | SSLEOFError | SSLZeroReturnError | SocketError"
        " | SMTPServerDisconnected | SMTPConnectError | WebSocketException | ConnectionClosedError | StreamReset*"
        " | AbortError | ResponseNeverReceived | ResponseFailed | ConnectionLost"
        " | ConnectionDone | TCPTimedOutError | DNSLookupError | URLError | *.exceptions.ConnectionError"
        " | RequestsError",
        _TRANSIENT,
        "the network between failed",
        NETWORK,
    ),
    Rule("exception-refused", Sign.EXCEPTION, "ConnectionRefusedError", _INFRASTRUCTURE, "a connection was refused"),
    Rule("exception-connection", Sign.EXCEPTION, "ConnectionError", _TRANSIENT, "the network between failed", NETWORK),
)

#: Asked only after the status: classes that any mistake on this input can raise.
GENERIC: tuple[Rule, ...] = (
    Rule(
        "exception-file-missing", Sign.EXCEPTION, "FileNotFoundError", _LOGICAL, "a file of this job's input is missing"
    ),
    Rule(
        "exception-mistake",
        Sign.EXCEPTION,
        "ReplyError | redis*.ResponseError | KeyError | IndexError | LookupError | TypeError | ValueError"
        " | AttributeError | AssertionError | NotImplementedError | RecursionError | ArithmeticError"
        " | ZeroDivisionError | OverflowError | NameError | ReferenceError | RangeError"
        " | NotADirectoryError | IsADirectoryError | FileExistsError | EOFError | StopIteration | ArgumentError"
        " | ArgumentException | IllegalArgumentException | NullPointerException | IllegalStateException"
        " | ClassCastException | NumberFormatException | IndexOutOfBoundsException | InvalidOperationException"
        " | NullReferenceException | SyntaxError | EvalError | URIError",
        _LOGICAL,
        "this input leads to a mistake; the same input does so again",
        BROAD,
    ),
)
