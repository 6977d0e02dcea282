"""The built-in rules of failure classification, in the order in which they are asked."""

from jobs.domain.rules import (
    access,
    browsers,
    codes,
    databases,
    exceptions,
    inputs,
    mail,
    network,
    payments,
    platform,
    providers,
    words,
)
from jobs.domain.rules.base import Rule, Sign

#: Reasons go from the most particular to the most general. Within a kind of sign the first rule that matches wins.
BUILT_IN: tuple[Rule, ...] = (
    inputs.JOB_CONFIG,
    *platform.RULES,
    platform.CLUSTER_FULL,
    *payments.RULES,
    *mail.RULES,
    *network.EARLY,
    *providers.RULES,
    *access.BROKER,
    *databases.RULES,
    network.OWN_UNREACHED,
    *access.RULES,
    *platform.SERVICES,
    *browsers.RULES,
    *inputs.RULES,
    inputs.OWN_TOKEN,
    *network.RULES,
    *platform.DEFAULTS,
    *codes.RULES,
    *exceptions.RULES,
    *words.RULES,
    *words.EVIDENCE,
)

__all__ = ["BUILT_IN", "Rule", "Sign"]
