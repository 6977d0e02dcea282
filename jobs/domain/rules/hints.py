"""How an unknown message leans, by the shape of what it says. Asked after the status, before single words."""

from jobs.domain.failures import FailureType
from jobs.domain.rules.base import Rule, Sign

_FATAL, _LOGICAL = FailureType.FATAL, FailureType.LOGICAL
_INFRASTRUCTURE, _TRANSIENT = FailureType.INFRASTRUCTURE, FailureType.TRANSIENT

_FAILS = r"(?:fail\w*|unable|could ?n[o']t|cannot|can't|can not|did ?n[o']t|does ?n[o']t|not|no|invalid|error|never)"

RULES: tuple[Rule, ...] = (
    Rule(
        "hint-own-setting",
        Sign.HINT,
        r"\b(?:for|of|in|key|value|option|unknown|invalid|bad|missing|unrecogni[sz]ed) (?:the |our |your )?"
        r"(?:settings?|config(?:uration)?(?: (?:key|option|entry|value|file|name))?)\b|"
        r"/(?:etc|run/secrets|opt)/[\w./-]{1,80}\b|\b[\w-]{1,40}\.(?:conf|cfg|ini|env)\b",
        _FATAL,
        "names a setting of ours",
    ),
    Rule(
        "hint-own-token",
        Sign.HINT,
        r"\b(?:fail\w*|unable|could ?n[o']t|cannot|can't|error)\b[^\n]{0,30}\b(?:look ?up|validat\w+|verify\w*|"
        r"renew\w*|"
        r"refresh\w*|read\w*|fetch\w*|obtain\w*|get\w*|revok\w+|exchang\w+|acquir\w+|retriev\w+) (?:the |an? |our |"
        r"your )?"
        r"(?:\w+ )?(?:tokens?|credentials?|secrets?|acls?|keys?)\b|\bacls?\b|\brun [`'\"]?(?:npm|npx|pip3?|"
        r"apt(?:-get)?|yarn|pnpm|"
        r"brew|composer|bundle|playwright|poetry|conda|dotnet|gem|cargo) ",
        _FATAL,
        "our token, right or image is not in order",
    ),
    Rule(
        "hint-migration",
        Sign.HINT,
        r"\bmigrations?\b[^\n]{0,60}\b(?:not|pending|unapplied|missing|fail\w*|behind)\b|\b(?:pending|unapplied|"
        r"missing|"
        r"run|apply)\b[^\n]{0,20}\bmigrations?\b",
        _FATAL,
        "our database lacks a migration",
    ),
    Rule(
        "hint-own-account",
        Sign.HINT,
        r"\b(?:account|subscription|organi[sz]ation|workspace|project|plan|licen[cs]e|trial|tenant|merchant)\b"
        r"[^\n]{0,40}\b(?:deactivated|suspended|disabled|closed|inactive|on hold|unpaid|overdue|expired|cancel\w*|"
        r"restricted|terminated|blocked)\b|\b(?:accept|agree to|sign)\b[^\n]{0,30}\b(?:licen[cs]e|terms|agreement)\b|"
        r"\b(?:your|our|webhook|signing|client|shared) secret\b|\bsecret\b[^\n]{0,30}\b(?:must|required|provided|"
        r"missing|"
        r"wrong|incorrect)\b",
        _FATAL,
        "names our account, its terms or a secret of ours",
    ),
    Rule(
        "hint-thing-gone",
        Sign.HINT,
        r"\b(?:video|page|content|product|item|article|post|file|document|listing|resource|image|photo|song|track|"
        r"media|"
        r"story|profile|user|channel|playlist|stream|link|recording|episode|book|event|offer|job posting|website)\b"
        r"(?: \w+){0,4} (?:is|are|was|were|has been|have been) (?:currently |no longer |not |"
        r"permanently )?(?:un)?(?:available|"
        r"removed|private|deleted|taken down|hidden|restricted|archived|expired|withdrawn)\b|"
        r"\b(?:unable|fail\w*|cannot|can't|could ?n[o']t|not able) (?:to )?(?:extract|scrape|locate|select|match|"
        r"recogni[sz]e|"
        r"identify|determine|detect|convert|render|transcribe|translate|decode|process)\b",
        _LOGICAL,
        "the target does not hold what this job wants",
    ),
    Rule(
        "hint-own-channel",
        Sign.HINT,
        r"\bchannel\b[^\n]{0,30}\b(?:ended|closed|lost|closing)\b|\b(?:stats collector|autovacuum|checkpointer|"
        r"postmaster|"
        r"bgwriter|background writer|wal ?(?:sender|receiver|writer)|archiver|replication (?:slot|lag)|standby|"
        r"failover|"
        r"quorum|raft|leader election)\b",
        _INFRASTRUCTURE,
        "names a part of a broker or database of ours",
    ),
    Rule(
        "hint-nothing-there",
        Sign.HINT,
        r"\bno \w+(?: \w+){0,2} (?:detected|extracted|recogni[sz]ed|present|selected|supplied|given|returned|matched|"
        r"matches|provided)\b|\b(?:log ?in|sign ?in|subscription)\b[^\n]{0,20}\b(?:required|needed|first|to continue|"
        r"to view)\b|\brequires? (?:a |an |you to )?(?:log ?in|sign ?in|subscription|registration|account)\b|"
        r"\b(?:enable|turn on|disable|allow)\b[^\n]{0,30}\b(?:js|javascript|cookies|ad ?-?block\w*)\b",
        _LOGICAL,
        "the target does not hold or give what this job wants",
    ),
    Rule(
        "hint-code-waits",
        Sign.HINT,
        r"\b(?:[a-z]+_){1,4}(?:timeout|timed_out|unavailable|overloaded)\b|\b(?:[a-z]+_){0,4}(?:rate_?limit\w*|"
        r"internal_error|try_again|"
        r"temporar\w+|unable_to_lock\w*)\b",
        _TRANSIENT,
        "an error's code says that the other side failed for now",
    ),
    Rule(
        "hint-code-account",
        Sign.HINT,
        r"\b(?:[a-z]+_){0,4}(?:invalid_(?:auth|key|token|client|credentials|scope)|not_authorized|unauthorized_\w+|"
        r"missing_(?:scope|permissions?)|insufficient_(?:scope|permissions?|privileges?)\w*|token_(?:expired|revoked)|"
        r"(?:plan|license|subscription|account)_\w+)\b",
        _FATAL,
        "an error's code names our account",
    ),
    Rule(
        "hint-code-refuses",
        Sign.HINT,
        r"\b(?:[a-z]+_){1,6}(?:not_found|not_in|not_allowed|invalid|missing|malformed|unsupported|too_long|too_large|"
        r"too_big|archived|exists|duplicate|expired|rejected|declined|required|in_channel|failed)\b|"
        r"\b(?:not|invalid|missing|malformed|unsupported|already|no|duplicate)_[a-z]+(?:_[a-z]+){0,4}\b",
        _LOGICAL,
        "an error's code says that this input is refused",
    ),
    Rule(
        "hint-no-json",
        Sign.HINT,
        rf"\b{_FAILS}\b[^\n]{{0,60}}\bjson\b|\bjson\b[^\n]{{0,40}}\b{_FAILS}\b|"
        rf"\b(?:pars(?:e|ing)|decod(?:e|ing)|deseriali[sz](?:e|ing))\b[^\n]{{0,80}}\b{_FAILS}\b|"
        rf"\b{_FAILS}\b[^\n]{{0,40}}\b(?:pars(?:e|ed|ing)|decod(?:e|ed|ing)|deseriali[sz](?:e|ing)|"
        rf"structured output)\b",
        _LOGICAL,
        "an answer or a document cannot be parsed",
    ),
    Rule(
        "hint-model-answer",
        Sign.HINT,
        r"\b(?:llm|model|assistant|agent|chatbot)\b[^\n]{0,40}\b(?:returned|responded|answered|produced|gave|generated|"
        r"replied|output)\b[^\n]{0,60}\b(?:instead|invalid|unexpected|wrong|malformed|without|not|non-json|unusable)\b",
        _LOGICAL,
        "the model's answer is not of the right form",
    ),
    Rule(
        "hint-must-be",
        Sign.HINT,
        r"\b(?:elements?|arguments?|params?|parameters?|fields?|values?|keys?|items?|propert(?:y|ies)|options?|arrays?|"
        r"lists?|objects?|strings?|numbers?|columns?|names?|inputs?|data|rows?)\b[^\n.]{0,60}\b(?:needs?|must|should|"
        r"has|have|ought|expected)\b(?: not)?(?: to)? (?:be|have|contain|match)\b",
        _LOGICAL,
        "says what this input must be",
    ),
    Rule(
        "hint-media",
        Sign.HINT,
        r"\b(?:vips\w*|libvips|magick\w*|imagemagick|tiff\w*|libpng|png\w*|jpe?g\w*|webp\w*|gif\w*|heif\w*|svg\w*|"
        r"mupdf|poppler|ghostscript|pdf\w*|qpdf|docx?|xlsx?|pptx?|epub|rtf|odt|libxml\w*|ffprobe|ffmpeg|exif|mp[34]|"
        r"video|audio|image|picture|font)\b[^\n]{0,100}\b(?:error|corrupt\w*|invalid|unsupported|bad|failed|unable|"
        r"exited with|cannot|can't|could not|warning|missing|unknown|not)\b",
        _LOGICAL,
        "a document or picture cannot be read",
    ),
    Rule(
        "hint-own-part",
        Sign.HINT,
        r"\b(?:worker|thread|daemon|container|pod|replica|cluster|shard|volume|mount|scheduler|"
        r"(?:machine[- ]learning|inference|rendering|conversion|transcoding|embedding|ocr) (?:request|service|server|"
        r"backend)|"
        r"subprocess|kernel|gpu|device|partition)s?\b[^\n]{0,80}\b(?:fail\w*|lost|gone|dead|died|stopp?ed|stuck|"
        r"stalled|"
        r"unhealthy|unresponsive|not (?:ready|running|responding|available)|unavailable|unable|cannot|can't|could not|"
        r"exited|crash\w*|error)\b|\b(?:fail\w*|unable|cannot|can't|could not|lost|error)\b[^\n]{0,60}\b(?:worker|"
        r"thread|daemon|container|pod|replica|cluster|shard|volume|mount|subprocess|kernel|gpu)s?\b",
        _INFRASTRUCTURE,
        "names a part of what we run",
    ),
    Rule(
        "hint-own-login",
        Sign.HINT,
        r"\b(?:log ?in|sign ?in) (?:has |was )?(?:failed|unsuccessful|rejected)\b|"
        r"\b(?:fail\w*|unable|could ?n[o']t|cannot) (?:to )?(?:(?:log|sign) ?in|authenticate)\b|"
        r"\bverify your (?:account|e-?mail|identity|phone)\b",
        _FATAL,
        "our login with another party is refused",
    ),
    Rule(
        "hint-not-initialised",
        Sign.HINT,
        r"\b(?:fail\w*|unable|could ?n[o']t|cannot|error) (?:to )?initiali[sz](?:e|ing)\b",
        _FATAL,
        "a part of our image does not start as it is set up",
    ),
    Rule(
        "hint-faulty-document",
        Sign.HINT,
        r"\b(?:file|document|page|image|pdf|row|line|record|table|feed)\b[^\n]{0,20}\b(?:had|has|have|contains?|with) "
        r"(?:\w+ )?errors?\b",
        _LOGICAL,
        "a document has errors",
    ),
    Rule(
        "hint-own-library",
        Sign.HINT,
        r"\Aexceptions:[^\n]*(?:mysql|postgres|psycopg|oracledb|sqlite|sqlclient|mongo|redis|jdbc|mariadb|cassandra|"
        r"kafka|"
        r"amqp|pika|elasticsearch|opensearch|hangfire|sidekiq|celery|kombu|quartz|bullmq|hikari|minio)",
        _INFRASTRUCTURE,
        "a library that speaks to a database, cache or queue of ours failed",
    ),
)
