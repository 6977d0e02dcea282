"""The built-in rules of failure classification, in the order in which they are asked."""

from dataclasses import replace

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
from jobs.domain.rules.base import KNOWN, Rule, Sign

#: Reasons go from the most particular to the most general. Within a kind of sign the first rule that matches wins.
_IN_ORDER: tuple[Rule, ...] = (
    inputs.JOB_CONFIG,
    *codes.ORACLE,
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

#: A code is exact and decides. A phrase, a class or a status may stand in a message about something else, so that all
#: the other words together can outweigh it, hundredfold.
BUILT_IN: tuple[Rule, ...] = tuple(
    replace(rule, weighs=KNOWN) if rule.weighs is None and rule.sign not in (Sign.CODE, Sign.EVIDENCE) else rule
    for rule in _IN_ORDER
)

__all__ = ["BUILT_IN", "Rule", "Sign"]
