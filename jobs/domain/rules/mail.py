"""Mail and file servers: their replies are numbered like HTTP's, but mean something else (RFC 959, 3463, 5321)."""

from jobs.domain.failures import FailureType
from jobs.domain.rules.base import Rule, Sign

_FATAL, _LOGICAL, _TRANSIENT = FailureType.FATAL, FailureType.LOGICAL, FailureType.TRANSIENT

# What shows that a mail server speaks: a reply with its second, dotted number, or the words of mail programs.
_REPLY = r"\b[245]\d\d[ -]\W{0,2}[245]\.\d{1,3}\.\d{1,3}\b"
_MAIL = (
    rf"(?:{_REPLY}|\b(?:smtp\w*|e?smtp|nodemailer|sendmail|postfix|mail (?:command|server|from)|rcpt(?: to)?|"
    r"recipients?|mailbox|message failed|data command|messagerejected|starttls|helo|ehlo)\b)"
)
_NOT_OUR_SENDER = (
    r"relay(?:ing)?\b[^\n]{0,40}(?:denied|not permitted|not allowed|prohibited|rejected)|unable to relay|"
    r"spamhaus|(?:blocked|listed|rejected|denied) (?:using|by|at|in|on) <public>|spamcop|barracuda|dnsbl|\brbl\b|"
    r"block ?list|black ?list|reputation|reverse dns|ptr record|"
    r"\bspf\b|\bdkim\b|\bdmarc\b|sender (?:address )?(?:rejected|denied|not allowed|unauthori)|"
    r"not (?:allowed|authori[sz]ed|permitted) to send|invalid login|must issue a starttls|starttls is required|not verified|"
    r"authentication (?:is )?(?:required|failed|unsuccessful|credentials|disabled)|not authenticated|"
    r"\b53[0458][ -]\W{0,2}5\.7\.|\b5\.7\.(?:3|8|9|14|57|60|139)\b"
)

RULES: tuple[Rule, ...] = (
    Rule(
        "push-recipient-gone",
        Sign.CLUES,
        r"\b(?:registration|device|push)[ -]token\b[^\n]{0,40}\b(?:not[ -]registered|unregistered|invalid|expired)\b|"
        r"\bnotregistered\b|\binvalidregistration\b",
        _LOGICAL,
        "the recipient's device is gone",
    ),
    Rule(
        "mail-greylisted",
        Sign.CLUES,
        r"\bgr[ae]y-? ?list(?:ed|ing)\b",
        _TRANSIENT,
        "the mail server asks us to try later",
    ),
    Rule(
        "mail-later",
        Sign.CLUES,
        rf"\A(?=[\s\S]*?{_MAIL})(?![\s\S]*?(?:\brelay|starttls is required))"
        r"[\s\S]*?\b4[2-5]\d[ -]\W{0,2}(?:4\.\d{1,3}\.\d|[a-z])",
        _TRANSIENT,
        "the mail server asks us to try later",
    ),
    Rule(
        "mail-sender",
        Sign.CLUES,
        rf"\A(?=[\s\S]*?{_MAIL})[\s\S]*?(?:{_NOT_OUR_SENDER})",
        _FATAL,
        "our mail account, sender or address is not accepted",
    ),
    Rule(
        "mail-refused",
        Sign.CLUES,
        rf"\A(?=[\s\S]*?{_MAIL})[\s\S]*?\b55\d[ -]",
        _LOGICAL,
        "the mail server refuses this recipient or message for good",
    ),
    Rule(
        "file-server-later",
        Sign.CLUES,
        r"\b4[2-5]\d[ -][^\n]{0,60}\b(?:data connection|transfer|connection closed|connecting|passive|file (?:is )?"
        r"(?:unavailable|busy)|link to|too many (?:users|connections))\b|\b421[ -][^\n]{0,60}\b(?:service|timeout|"
        r"connections?|idle)\b",
        _TRANSIENT,
        "the file server does not do it for now",
    ),
    Rule(
        "file-server-login",
        Sign.CLUES,
        r"\b530[ -][^\n]{0,60}\b(?:log ?in|logged in|user|password|authenticat\w*|account)\b",
        _FATAL,
        "our login for a file server is wrong",
    ),
    Rule(
        "file-server-refuses",
        Sign.CLUES,
        r"\b55[0-3][ -][^\n]{0,80}\b(?:files?|director(?:y|ies)|folders?|path|no such|not found|not allowed)\b",
        _LOGICAL,
        "the file server has no such file, or does not give it",
    ),
)
