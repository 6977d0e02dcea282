"""Payments of the tenant's customers: a declined card is no bill of ours."""

from jobs.domain.failures import FailureType
from jobs.domain.rules.base import Rule, Sign

RULES: tuple[Rule, ...] = (
    Rule(
        "payment-later",
        Sign.PHRASE,
        "processing_error | error occurred while processing your card | lock_timeout | currently accessing this object",
        FailureType.TRANSIENT,
        "the payment provider could not do it for now",
    ),
    Rule(
        "payment-request",
        Sign.PATTERN,
        r"\Aexceptions:[^\n]*\b(?:stripe|paypal|braintree|adyen|mollie|razorpay|"
        r"square)\W[^\n]{0,60}(?:invalidrequest|badrequest|"
        r"validation|notfound|idempotency)",
        FailureType.LOGICAL,
        "the payment provider refuses this request",
    ),
    Rule(
        "payment-refused",
        Sign.CLUES,
        r"\b(?:card_\w+|\w*carderror|expired_card|(?:incorrect|invalid)_(?:cvc|number|zip|expiry\w*)|do_not_honor|"
        r"generic_decline|insufficient_funds|card issuer|card id|(?:payment|transaction)s? (?:\w+ ){0,3}(?:declined|"
        r"refused|"
        r"rejected|not authori[sz]ed)|(?:declined|refused) by (?:the |your )?(?:bank|issuer)|refusal reason|"
        r"payment_intent_\w+|idempotent requests?|idempotency(?:_?error| key)?|missing_payment_method|"
        r"no such (?:customer|charge|"
        r"payment|subscription|price|plan|coupon|token|invoice|source|product|refund)\w*|card (?:was|has been|is|has|"
        r"number|does not|doesn't|not)|your card|security code|do not honou?r|(?:no|any|an?) (?:active |attached |"
        r"default |valid |saved ){1,2}(?:credit )?(?:card|payment (?:method|source))|given for card|"
        r"provide (?:a )?(?:source|card|payment method) or (?:customer|card))\b",
        FailureType.LOGICAL,
        "this customer, card or payment is refused",
    ),
)
