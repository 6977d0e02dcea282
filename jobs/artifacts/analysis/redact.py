"""Secrets in text, masked before anything of it is shown, stored or sent."""

import re

from jobs.domain.masking import is_secret

MASK = "••••••"
_PAIR = re.compile(
    r"(?<![\w.-])(?P<key>[A-Za-z_][\w.-]{0,60}+)(?P<between>[\"']?\s{0,3}(?::|=>?|\bis\b)\s{0,3}[\"']?)(?P<value>[^\s\"',;<>{}\[\]]{3,400})"
)
_WELL_KNOWN = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]{0,6000}?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.?[\w-]*"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
    r"|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}"
    r"|\bsk-[\w-]{16,}|\b[sr]k_(?:live|test)_\w{10,}|\bxox[abprs]-[\w-]{10,}|\bAIza[\w-]{30,}"
    r"|\bBearer\s+[\w.~+/-]{8,}=*|\bBasic\s+[A-Za-z0-9+/]{12,}=*"
)
_IN_URL = re.compile(r"(?P<head>\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,100}:)[^\s/@]{1,200}(?=@)", re.I)


def redacted(text: str, more: list[str] | None = None) -> str:
    """The text with values of secrets masked: by the name of their key, by their well-known form, in addresses."""

    def pair(match: re.Match[str]) -> str:
        if not is_secret(match["key"], more or []):
            return match[0]
        return f"{match['key']}{match['between']}{MASK}"

    text = _WELL_KNOWN.sub(MASK, text)
    text = _IN_URL.sub(lambda match: match["head"] + MASK, text)
    return _PAIR.sub(pair, text)
