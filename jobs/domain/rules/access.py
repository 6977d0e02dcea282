"""Our configuration, secrets, image and rights: only an operator can change them."""

from jobs.domain.failures import FailureType
from jobs.domain.rules.base import BROAD, SOURCE, Rule, Sign

_FATAL, _LOGICAL = FailureType.FATAL, FailureType.LOGICAL

#: Asked before what says that a broker is down: it is not, but set up otherwise.
BROKER: tuple[Rule, ...] = (
    Rule(
        "broker-setting",
        Sign.PHRASE,
        "inequivalent arg | precondition_failed | no exchange | no queue * in vhost | access to vhost * refused"
        " | topic_authorization_failed | unknown_topic_or_partition",
        _FATAL,
        "our broker is set up otherwise than our code expects",
    ),
    Rule(
        "broker-refuses",
        Sign.CLUES,
        r"\b(?:channel|connection) closed by server: (?:status:)?(?:40[346]|530)\b|\bin vhost\b|"
        r"\bno access to this vhost\b",
        _FATAL,
        "our broker refuses what our code asks of it",
    ),
)

RULES: tuple[Rule, ...] = (
    Rule(
        "secret-missing",
        Sign.PHRASE,
        "secretorprivatekey | no secret | master_enc_key | missing secret | secret is missing | secret not found"
        " | secret is not set | secret_key | secret key must | secret key setting | jwt_secret | encryption key"
        " | decryption key | master key | private key | key length must be | invalid key length"
        " | invalid iv length | incorrect key length | bad decrypt | unable to authenticate data"
        " | wrong final block length | fernet key | could not decrypt | failed to decrypt | decryption failed"
        " | cipher_final | mac check failed | no decryption secret | no key found",
        _FATAL,
        "a secret of ours is missing or wrong",
    ),
    Rule(
        "environment-variable",
        Sign.PHRASE,
        "environment variable | environment variables | env variable | env var | env vars | required variable"
        " | missing required environment | missing env | missing required config | process.env",
        _FATAL,
        "a variable of ours is missing or wrong",
    ),
    Rule(
        "environment-variable-name",
        Sign.PATTERN,
        r"^(?:keyerror: ){1,2}[\"'](?-i:[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6})[\"']$|"
        r"(?-i:\b[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6}\b)[\"'`]?:?\s{1,3}(?:env\w{0,10}\s)?(?:is|was|must|"
        r"has)?\s?(?:not (?:set|defined|found|provided|configured|specified)|unset|undefined|missing|empty|"
        r"required|be set|be provided|be defined|be configured|not been set)|\b(?:missing|undefined|unset|define|"
        r"provide|specify|configure|required?|requires|please set|set the|set a|empty|without|no|need|"
        r"needs)\b[^\n.]{0,40}(?-i:\b[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){0,6}_(?:KEY|URL|URI|TOKEN|SECRET|"
        r"PASSWORD|DSN|HOST|ENDPOINT|BUCKET|REGION|ID|PATH|DIR|PORT|USER|CREDENTIALS)\b)",
        _FATAL,
        "a variable of ours is missing",
    ),
    Rule(
        "configuration",
        Sign.PHRASE,
        "please configure | please set | you must set | must be set | not enabled for | not been enabled"
        " | not been activated | is not activated | is not enabled"
        " | feature is disabled | not available on your | upgrade your plan | your current plan | paid plan"
        " | not subscribed | not entitled | invalid configuration | invalid config | configuration error"
        " | config error | configuration is invalid | configuration file | improperlyconfigured"
        " | improperly configured | misconfigured | misconfiguration | is not configured | not configured"
        " | not been configured | not properly configured | missing configuration | configuration missing"
        " | missing config | bad configuration | wrong configuration | incorrect configuration | no configuration"
        " | configuration not found | configuration key | configuration value | invalid setting"
        " | settings.* must be | unknown setting | config file | configured with | unsupported configuration"
        " | could not find config | apps aren't loaded | webhook secret | no provider configured"
        " | must be configured | feature flag",
        _FATAL,
        "our configuration is wrong",
        SOURCE,
    ),
    Rule(
        "own-thing-missing",
        Sign.CLUES,
        r"\b(?:secrets?|credentials?|config(?:uration)?(?: file| profile| key| value)|configuration|settings?|profile|"
        r"environment|variable|librar(?:y|ies)|binary|executable|program|plugin|driver|fonts?|certificate file|"
        r"key file|private key|public key|license|interpreter|queue|topic|exchange|bucket|codec|webhook secret|"
        r"feature|provider|backend|adapter|connector|integration|extension)\b(?:[^\n.]|\.(?!\s)){0,40}\b(?:not found|"
        r"could not be found|cannot be found|is missing|"
        r"are missing|missing|not installed|is not available|does not exist|is not set|not set|unset|undefined|"
        r"is empty|not loaded|not enabled)",
        _FATAL,
        "something of our configuration or image is missing",
        BROAD,
    ),
    Rule(
        "image",
        Sign.PHRASE,
        "imagepullbackoff | errimagepull | manifest unknown | pull access denied | createcontainerconfigerror"
        " | oci runtime | not allowed by the security policy | err_ossl_evp_unsupported"
        " | digital envelope routines | connect to display | unsupported version | incompatible version"
        " | version mismatch | requires python | requires node | unsupported node",
        _FATAL,
        "our image or its versions are wrong",
    ),
    Rule(
        "registry-refuses",
        Sign.CLUES,
        r"\bpull(?:ing)? (?:repository|image|from|access|the image)\b[^\n]{0,300}\b(?:status:40[13]|40[13]|denied|"
        r"permission|"
        r"unauthori[sz]ed|not found)\b|\b40[134]\b[^\n]{0,20}\b(?:trying to )?pull",
        _FATAL,
        "our image may not be pulled",
    ),
    Rule(
        "connection-option",
        Sign.CLUES,
        r"\b(?:transport|broker|backend|connection|driver|engine|dsn|pool|storage|cache|queue) (?:option|setting|url|"
        r"uri|"
        r"parameter|string|argument)s?\b[^\n]{0,40}\b(?:must|required|missing|invalid|unknown|not (?:set|specified|"
        r"given|"
        r"valid|supported|recogni[sz]ed))\b",
        _FATAL,
        "a setting of a connection of ours is missing or wrong",
    ),
    Rule(
        "image-missing",
        Sign.CLUES,
        r"\bpull(?:ing)?(?: and unpack)? image\b[^\n]{0,300}(?:not found|unauthori[sz]ed|denied|"
        r"authentication required|"
        r"no basic auth|manifest|invalid reference|does not exist)|no kernel image is available|"
        r"cuda driver version is insufficient|not compiled with cuda|driver\W{1,3}library version mismatch",
        _FATAL,
        "our image is missing, may not be pulled or does not fit the machine",
    ),
    Rule(
        "cluster-refuses",
        Sign.CLUES,
        r"\bis forbidden: (?!exceeded quota)|\bfailed quota:|\bno matches for kind\b|"
        r"admission webhook[^\n]{0,80}denied",
        _FATAL,
        "our cluster refuses what our deployment asks for",
    ),
    Rule(
        "library-missing-shape",
        Sign.CLUES,
        r"(?:can ?not|can't|could ?n[o']t|unable to|fail(?:ed|ure)? to) (?:find|locate|load|import|require|resolve)\b"
        r"[^\n]{0,80}(?:\bbrowser\b|\bchrom(?:e|ium)\b|\bfirefox\b|\bexecutable\b|\bbinary\b|\bmodule\b|\bpackage\b|"
        r"librar(?:y|ies)\b|shared object|\bclass\b|\bgem\b|\bplugin\b|\bdll\b|"
        r"@inc\b|\.(?:pm|so|dll|jar|dylib)\b|\bdependency\b|\bbindings?\b)",
        _FATAL,
        "a library is not in the image",
    ),
    Rule(
        "remote-login",
        Sign.PHRASE,
        "could not read username | could not read password | permission denied (publickey | host key verification"
        " | terminal prompts disabled | all configured authentication methods failed | no matching host key"
        " | too many authentication failures | invalid username or password | invalid username or token"
        " | password authentication was removed | bad credentials | resource not accessible by"
        " | login incorrect | you must be logged in to the server | system:serviceaccount",
        _FATAL,
        "our login for another machine is wrong",
    ),
    Rule(
        "host-unset",
        Sign.PATTERN,
        r"\b(?:enotfound|eai_again|getaddrinfo\w*|host(?:name)?\W?|resolve(?: host)?|lookup|connect to|https?)\W{1,4}"
        r"(?:undefined|null|none|nan|\[object object\]|\$\{?\w{1,40}\}?)(?=[\s:/'\"`,;)]|$)",
        _FATAL,
        "a setting that holds an address is not set",
    ),
    Rule(
        "program-missing",
        Sign.PHRASE,
        "unknown decoder | unknown encoder | not compiled with | compiled without | built without"
        " | not built with | executable doesn't exist | make sure you have * installed | is installed correctly"
        " | executable file not found | executable not found | executable path | command not found"
        " | could not find chrome | could not find chromium | could not find browser | browser was not found"
        " | chrome binary | cannot find chrome | no chrome binary | is not installed | not installed or"
        " | isn't installed | not in your path | not in path | not on path | not found in path"
        " | not found in $path | not found on path | in your path | is * installed and in path | please install"
        " | please run the following command to install | run the following command to download"
        " | playwright install | npx playwright | unable to obtain driver | cannot find driver"
        " | needs to be in path | binary not found | binary is not found | cannot find binary"
        " | cannot run program | unable to find * executable | no such program | failed to execute * no such file"
        " | exec format error | is not recognized as an internal | you must install | requires * to be installed"
        " | install it with | pip install | npm install | apt-get install | missing dependencies to run browsers"
        " | missing libraries | host system is missing dependencies | missing optional dependency"
        " | unmet dependencies | failed to load native | language data | traineddata | tesseract couldn't load"
        " | failed loading language | punkt | nltk.download | can't find model | no module named | no spacy model"
        " | data file not found | no such executable | could not find ffmpeg | cannot find ffmpeg"
        " | cannot find ffprobe | requires the * library | unknown encoder | no decoder available",
        _FATAL,
        "a program, library or model is not in the image",
    ),
    Rule(
        "library-missing",
        Sign.PHRASE,
        "cannot open shared object | could not load the * module | could not load * module"
        " | module * has no attribute | error loading shared librar | error while loading shared"
        " | symbol not found | undefined symbol | symbol lookup error | cannot find module | cannot find package"
        " | err_module_not_found | module_not_found | module not found | modulenotfounderror | no module named"
        " | cannot import name | cannot load library | could not load dynamic library | failed to load library"
        " | unable to load shared library | unable to load library | dll load failed | unsatisfiedlinkerror"
        " | noclassdeffounderror | classnotfoundexception | could not load file or assembly"
        " | was compiled against a different node.js version | invalid elf header"
        " | version * not found (required by | glibc | glibcxx | image not found | could not load the sharp"
        " | could not find a version | no matching distribution | err_require_esm"
        " | does not provide an export named | query engine | could not locate the query engine | libquery_engine"
        " | binarytargets | illegal instruction | bad cpu type | unsupported engine",
        _FATAL,
        "a library is not in the image, or has the wrong version",
    ),
    Rule(
        "image-file-missing",
        Sign.PATTERN,
        r"\b(?:open\w*|load\w*|find|read\w*|access|directory:?|missing)(?: (?:the|data|shared|config)){0,2}"
        r"(?: (?:file|library|directory))?:? [\"'`]?/usr/(?:share|lib\w*|local|s?bin|include)/",
        _FATAL,
        "a file of our image is missing",
    ),
    Rule(
        "library-missing-anywhere",
        Sign.PATTERN,
        r"\bno module named\b|\bcannot find module\b|cannot open shared object file|\bworking installation of\b",
        _FATAL,
        "a library is not in the image",
    ),
    Rule(
        "program-missing-name",
        Sign.PATTERN,
        r"\bspawn [^\n]{0,300}(?:enoent|eacces)|no such file or directory: [\"'][\w+-]{1,60}[\"']$|\b(?:exec|"
        r"posix_spawn|execvp|subprocess|popen)\b[^\n]{0,120}(?:enoent|no such file or directory|"
        r"permission denied)|\bsh: (?:\d{1,3}: |line \d{1,5}: )?[\w./-]{1,80}: (?:not found|command not found|"
        r"permission denied)",
        _FATAL,
        "a program is not in the image",
    ),
    Rule(
        "file-rights",
        Sign.PHRASE,
        "eacces | eperm | permission denied | operation not permitted | read-only file system | erofs"
        " | access to the path | is not writable | not writable | is not writeable | cannot create directory"
        " | cannot write to directory | unable to create directory | could not create directory"
        " | insufficient permission | access is denied",
        _FATAL,
        "rights of our container or file system are wrong",
    ),
    Rule(
        "browser-setup",
        Sign.PHRASE,
        "running as root without --no-sandbox | no usable sandbox | no-sandbox | setuid sandbox"
        " | missing x server | missing x server or $display | cannot open display"
        " | headed browser without having a xserver | devtoolsactiveport | user data directory is already in use"
        " | only supports chrome version | only supports characters * driver | supports chrome version"
        " | current browser version is | unexpected browser version | driver version * does not match"
        " | browser version mismatch | unsupported chrome version | failed to find firefox binary"
        " | expected browser binary location | no suitable browser",
        _FATAL,
        "the browser of our image cannot start as it is set up",
    ),
    Rule(
        "proxy-credentials-status",
        Sign.CLUES,
        r"\b(?:connect|tunnel\w*|proxy)\b[^\n]{0,80}\b(?:status:)?407\b|\b(?:status:)?407\b[^\n]{0,60}\b(?:proxy|"
        r"tunnel|connect)\b",
        _FATAL,
        "our proxy does not accept our credentials",
    ),
    Rule(
        "proxy-credentials",
        Sign.PHRASE,
        "proxy authentication | 407 proxy | err_invalid_auth_credentials * proxy | err_proxy_auth | proxy_auth"
        " | no_supported_proxies | err_no_supported_proxies | invalid proxy | unsupported proxy | proxy url"
        " | proxy scheme | unable to parse proxy | missing dependencies for socks",
        _FATAL,
        "our proxy setting or its credentials are wrong",
    ),
    Rule(
        "mail-recipient",
        Sign.PHRASE,
        "mailbox unavailable | user unknown | unknown user | no such user here | no such recipient"
        " | recipient address rejected | invalid recipient | recipients were rejected | recipients refused"
        " | unsubscribed recipient | opted out | 5.1.1 | 550 5.4 | mailbox full | mailbox not found",
        _LOGICAL,
        "the recipient does not take this mail",
    ),
    Rule(
        "mail-setting",
        Sign.PHRASE,
        "smtpauthenticationerror | username and password not accepted | sender address rejected | smtp auth"
        " | bad credentials | 5.7.8 | 535 5 | must issue a starttls | email address is not verified"
        " | domain is not verified | api key does not have permission | from address | not a verified sender"
        " | sender identity",
        _FATAL,
        "our mail account or sender is not accepted",
    ),
    Rule(
        "no-handler",
        Sign.PHRASE,
        "no handler registered | no handler for | unknown job type | unknown job name"
        " | received unregistered task | unregistered task | no such task | unknown task"
        " | missing process handler | not implemented yet",
        _FATAL,
        "no code of ours does this kind of job",
    ),
)
