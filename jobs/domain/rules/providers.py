"""Reasons that providers of models, stores and other services name: our account, our setting, or this request."""

from jobs.domain.failures import FailureType
from jobs.domain.rules.base import BROAD, Rule, Sign

_FATAL, _LOGICAL, _TRANSIENT = FailureType.FATAL, FailureType.LOGICAL, FailureType.TRANSIENT

RULES: tuple[Rule, ...] = (
    # A named window means that waiting helps, whatever else the message says about plans and billing.
    Rule(
        "provider-quota-window",
        Sign.PATTERN,
        r"(?:quota|rate.?limit|resource.?exhausted|too many requests)[^\0]{0,1500}(?:retry in \d|try again in \d|"
        r"retrydelay|perminute|per minute|perday|per day|resets? (?:at|in) )",
        _TRANSIENT,
        "a quota that opens again by itself",
        BROAD,
    ),
    Rule(
        "provider-too-many-lately",
        Sign.CLUES,
        r"\btoo many [^\n]{0,200}\b(?:retry after|in the last \d|recently|pending|per (?:second|minute|hour|day))\b",
        _TRANSIENT,
        "the provider asks us to wait",
    ),
    Rule(
        "provider-region-quota",
        Sign.CLUES,
        r"\b(?:quota|limit)\b[^\n]{0,80}\bexceeded\b[^\n]{0,10}\blimit: [\d.]{1,12} (?:in |globally|per )|"
        r"\b(?:exceed\w*|quota|limit)\b[^\n]{0,60}(?:\bper |per)(?:account|project|region|organi[sz]ation|"
        r"subscription)",
        _FATAL,
        "a limit of our account, which waiting does not raise",
    ),
    Rule(
        "provider-request-too-large",
        Sign.PHRASE,
        "request too large for | maximum context length | context length exceeded | context_length_exceeded"
        " | context window | prompt is too long | input is too long | prompt too long | too many tokens"
        " | input token count * exceeds | token limit exceeded | reduce the length of the messages"
        " | reduce your prompt | string too long | string_above_max_length | exceeds the maximum number of tokens"
        " | input or output tokens must be reduced | exceeds maximum input length | request_too_large"
        " | input length * exceed | prompt length | tokens * exceed * context | exceeds the model's maximum"
        " | larger than the maximum number of tokens | requested tokens * exceed | input exceeds * token"
        " | too long for model | exceeds the available context",
        _LOGICAL,
        "this input is too big for the model",
    ),
    Rule(
        "provider-content-refused",
        Sign.PHRASE,
        "contentpolicy | flagged as unsafe | content_filter | content filter | content management policy"
        " | content policy | content_policy_violation | responsibleaipolicyviolation | safety system"
        " | blocked due to safety | blocked by safety | finish reason safety | finishreason: safety"
        " | finish_reason: safety | prohibited_content | prohibited content | blockreason | block_reason"
        " | was blocked due to | violates our usage policies | flagged as potentially violating"
        " | moderation_blocked | candidate was blocked | response was blocked | prompt was blocked"
        " | blocked by our content | due to recitation | guardrail * intervened | refused to answer",
        _LOGICAL,
        "the provider refuses this content",
    ),
    Rule(
        "provider-out-of-money",
        Sign.PHRASE,
        "insufficient_quota | exceeded your current quota | credit balance | insufficient credit"
        " | insufficient balance | insufficient funds | out of credits | no credits | not enough credits"
        " | requires more credits | credits exhausted | billing hard limit | billing_hard_limit_reached"
        " | billing_not_active | billing to be enabled | billing is disabled | billing not enabled"
        " | billing account | billing details | enable billing | payment required | payment method"
        " | subscription has expired | subscription expired | subscription is inactive | plan has expired"
        " | free trial has | trial expired | account is overdue | arrearage | overdue payment"
        " | monthly spend limit | spending limit | spend limit | usage limit * upgrade"
        " | specified api usage limits | quota has been exhausted | exceeded your monthly | monthly usage limit"
        " | monthly quota | monthly limit | top up your | recharge | prepaid credit",
        _FATAL,
        "our account with a provider is out of money or quota",
    ),
    Rule(
        "provider-subscription",
        Sign.CLUES,
        r"\bsubscription\b[^\n]{0,40}\b(?:suspended|cancell?ed|expired|inactive|disabled|required|past due)\b|"
        r"\bneeds a subscription\b|\btrial (?:mode|accounts?|plan|period|version|licen[cs]e)\b",
        _FATAL,
        "our subscription with a provider has ended",
    ),
    Rule(
        "provider-account-quota",
        Sign.CLUES,
        r"\A(?![\s\S]*?(?:\brate\b|rate.?limit|throttl|per (?:second|minute|hour|day)|\btokens?\b|retry|try again|"
        r"exceeded quota: ))[\s\S]*?(?:\b(?:limit|quota|maximum)\b[^\n]{0,60}\b(?:(?:this|your|the) (?:account|"
        r"subscription|organi[sz]ation|plan|workspace|project))\b|\b(?:limit|maximum) of \d{1,6} \w+\b|"
        r"\bconsumed your \w+ quota\b|"
        r"\byour (?:account|subscription|plan|workspace|organi[sz]ation)\b[^\n]{0,40}\b(?:limit|quota|maximum)\b)",
        _FATAL,
        "a limit of our account, which waiting does not raise",
    ),
    Rule(
        "provider-access-to-ask-for",
        Sign.CLUES,
        r"\b(?:project|account|key|app|application|ip|client|organi[sz]ation)\b[^\n]{0,40}\bnot (?:authori[sz]ed|"
        r"allowed|"
        r"permitted|entitled|enabled) to use\b|"
        r"\b(?:get|request|obtain|apply for|ask for|grant(?:ed)?(?: you)?) access\b[^\n]{0,80}\b(?:accounts?|"
        r"allow-? ?list|"
        r"wait-? ?list|sales|plan|billing)\b|\b(?:workspace|project|account|organi[sz]ation|tenant|team) (?:owner|"
        r"admin\w*|"
        r"manager)\b[^\n]{0,40}\b(?:grant|give|enable|allow|invite|access)",
        _FATAL,
        "our account has to be given access",
    ),
    Rule(
        "provider-account-closed",
        Sign.PHRASE,
        "account_deactivated | account is not active | account has been disabled | account has been suspended"
        " | account suspended | account is suspended | account deactivated | organization has been disabled"
        " | access terminated | account is disabled | account has been deactivated | account has been deleted"
        " | organization must be verified | must be a member of an organization | project has been deleted"
        " | project * has been suspended | consumer_suspended | consumer * has been suspended"
        " | account is blocked | account has been locked | license has expired | license expired | license key"
        " | invalid license",
        _FATAL,
        "our account with a provider is closed or not verified",
    ),
    Rule(
        "provider-bad-key",
        Sign.PHRASE,
        "not_authed | invalid_auth | token_revoked | account_inactive | missing_scope | provide an api key"
        " | provide your api key | incorrect api key | invalid api key | invalid api-key | invalid_api_key"
        " | api key not valid | api_key_invalid | api key not found | api key expired | api key has expired"
        " | invalid x-api-key | api key is invalid | api key is missing | missing api key | no api key"
        " | api key required | api_key client option must be set | apikey is required | api key must be"
        " | api key is not set | api key is required | api key was not | invalid authentication"
        " | authentication_error | invalid subscription key | access denied due to invalid subscription"
        " | bad api key | wrong api key | api key provided | revoked api key | api key has been | api key was"
        " | api key not | api key disabled | reported as leaked | invalid bearer token | invalid access token"
        " | invalid token provided | could not resolve authentication method | api token is invalid"
        " | invalid api token | unauthorized: invalid key | your authentication token | provide an api key"
        " | set the api key | no auth credentials found | missing authentication header | invalid user token"
        " | api key missing | invalid or missing api key | invalid credentials | user not found * api key"
        " | unregistered callers | no cookie auth credentials",
        _FATAL,
        "our key for a provider is missing, wrong or revoked",
    ),
    Rule(
        "provider-model-setting",
        Sign.PHRASE,
        "model_not_found | deploymentnotfound | api deployment for this resource does not exist | no such model"
        " | unknown model | model not found | model is not found | model * does not exist | model * not found"
        " | model does not exist | model * not available | model * is not supported | model * not supported"
        " | model * deprecated | model * decommissioned | model_decommissioned | model * has been retired"
        " | model * been shut down | model is not available | invalid model | not a valid model"
        " | not a chat model | models/ * not found | access to model | access to the model"
        " | have access to the model | gated repo | not allowed to use | is restricted"
        " | not in the authorized list | access to this model | on-demand throughput | model access is denied"
        " | model version of this model has reached | don't have access to the model | no endpoints found"
        " | provided model identifier is invalid | model identifier | inference profile | try pulling it first"
        " | publisher model | model not exist | only supported in v1/ | model is only supported"
        " | is not a supported model"
        " | model_not_supported | does not exist or you do not have access | llm provider not provided"
        " | not supported in this region | not available in your region",
        _FATAL,
        "our setting names a model or deployment that we cannot use",
    ),
    Rule(
        "provider-model-not-found-object",
        Sign.PATTERN,
        r"not_found_error[^\0]{0,60}model\b|"
        r"\bmodel[\"'`: ]{1,4}[\w.:/@-]{1,80}[\"'`]?[^\n]{0,20}(?:does not exist|not found|is not supported|"
        r"deprecated|not available)",
        _FATAL,
        "our setting names a model that we cannot use",
    ),
    Rule(
        "provider-model-cannot",
        Sign.CLUES,
        r"\bmodels?\b[^\n]{0,80}\btoo (?:large|big) to be (?:loaded|served|used)\b|"
        r"\bmodels?\b[^\n]{0,80}\b(?:does not|doesn't|do not|don't|cannot|can't) (?:support|accept|be used)\b",
        _FATAL,
        "our setting does not fit the model",
    ),
    Rule(
        "provider-parameter-setting",
        Sign.PHRASE,
        "unsupported parameter | unsupported_parameter | unknown parameter | unrecognized request argument"
        " | unrecognized request arguments | unsupported value | unsupported_value | api version * not supported"
        " | unsupported api version | api-version | max_tokens is too large | max_tokens: * which is the maximum"
        " | maximum allowed number of output tokens | extra inputs are not permitted"
        " | is not supported with this model | not supported for this model | does not support * parameter"
        " | does not support image | does not support tools | support for * tool | does not support this *"
        " | anthropic-version | unexpected keyword argument | got an unexpected keyword",
        _FATAL,
        "our request setting does not fit the provider's model or version",
    ),
    Rule(
        "provider-region-or-service",
        Sign.PHRASE,
        "iam_permission_denied | permission * denied on resource | denied on resource"
        " | unsupported_country_region_territory | user location is not supported"
        " | country, region, or territory not supported | service_disabled | has not been used in project"
        " | api has not been enabled | enable * api by | used for api calls | api is disabled"
        " | virtual network/firewall | it is disabled. enable it | api is not enabled"
        " | request had insufficient authentication scopes | insufficient_scope | access_token_scope_insufficient"
        " | insufficient permissions | missing scopes | you have insufficient permissions | requires * scope",
        _FATAL,
        "our account may not use this service",
    ),
    Rule(
        "store-credentials",
        Sign.PHRASE,
        "invalidaccesskeyid | signaturedoesnotmatch | request signature we calculated | expiredtoken"
        " | expired token | invalidclienttokenid | unrecognizedclientexception"
        " | security token included in the request | provided token has expired | provided token is malformed"
        " | access key id you provided | authorizationheadermalformed | allaccessdisabled | notsignedup"
        " | invalidtoken | invalidsecurity | accessdeniedexception | is not authorized to perform"
        " | not authorized to perform | not authorized to invoke | authenticationfailed"
        " | server failed to authenticate the request | no valid credential | failed to refresh token"
        " | unable to locate credentials | unable to load credentials | unable to load aws credentials"
        " | could not load credentials | could not load the default credentials"
        " | could not automatically determine credentials | default credentials were not found"
        " | credentials were not found | no credentials | missing credentials | credentials not found"
        " | partial credentials | invalid_grant | impersonation | invalid_scope | invalid jwt | deleted_client"
        " | disabled_client | org_internal"
        " | unsupported_grant_type | cannot fetch token | invalid_client | unauthorized_client | invalid jwt signature"
        " | aadsts | token has been expired or revoked | token has expired | sso session"
        " | session token * expired | keybaseddauthenticationnotpermitted | service account"
        " | does not have storage | client secret | could not load credentials from any providers"
        " | credential is missing | resolved credential object is not valid | credentialsprovidererror"
        " | could not refresh access token",
        _FATAL,
        "the platform's own credentials for a store or cloud are missing, wrong or expired",
    ),
    Rule(
        "store-setting",
        Sign.PHRASE,
        "specified queue does not exist | nonexistentqueue | key is pending deletion | invalid region"
        " | invalidregion | region_name | nosuchbucket | is in this region | use this region | wrong region"
        " | incorrect region | queuedoesnotexist | operation: moved permanently | (notimplemented) when calling"
        " | specified bucket does not exist | bucket does not exist | bucket not found | the specified bucket"
        " | permanentredirect | must be addressed using the specified endpoint"
        " | bucket you are attempting to access | invalidbucketname | illegallocationconstraint"
        " | containernotfound | specified container does not exist | missing region in config | region is missing"
        " | must specify a region | specify a region | could not connect to the endpoint url * region"
        " | invalid endpoint | resourcenotfoundexception | accountisdisabled | kms.notfoundexception"
        " | kms.disabledexception | storage is not configured | no storage configured | invalid bucket name",
        _FATAL,
        "our setting names a bucket, region or endpoint that does not exist",
    ),
    Rule(
        "store-access-denied",
        Sign.CLUES,
        r"\A(?=[\s\S]*?\b(?:s3|aws|minio|bucket|putobject|getobject|headobject|listobjects\w*|deleteobject|"
        r"createmultipartupload|uploadpart|gcs|storage|clienterror|s3exception|invokemodel\w*|converse|bedrock|"
        r"blob|sqs|kms)\b)(?=[\s\S]*?(?:accessdenied|access denied|\b403\b|forbidden|"
        r"does not have \S{1,60} access|permission_denied|authorizationpermissionmismatch|operation not allowed))",
        _FATAL,
        "the platform's own account may not use its store",
    ),
    Rule(
        "provider-status",
        Sign.PATTERN,
        r"\A(?=[\s\S]*?(?:\b(?:openai|anthropic|litellm|cohere|mistralai|groq|genai|vertexai|"
        r"openrouter)\.[\w.]{0,60}error|api\.openai\.com|openai\.azure\.com|api\.anthropic\.com|"
        r"generativelanguage\.googleapis|aiplatform\.googleapis|bedrock-runtime|/v1/(?:chat/)?completions|"
        r"/v1/messages|/v1/embeddings|/v1/responses|/v1/models|:generatecontent|api\.(?:mistral|groq|cohere|"
        r"deepseek|together|perplexity|x)\.ai|(?:openai|anthropic|gemini|azure openai|mistral|cohere|"
        r"groq)(?: api)? (?:error|request|returned|call|responded|rejected)))(?=[\s\S]*?(?:status:40[13]\b|"
        r"\b40[13][ :-]{1,3}(?:unauthori|forbidden|client error)|(?:status|code|error|http)[^\n]{0,12}\b40[13]\b|"
        r"permission_error|api key))",
        _FATAL,
        "a provider refuses our account",
    ),
    Rule(
        "store-object-gone",
        Sign.PHRASE,
        "nosuchkey | specified key does not exist | key does not exist | no such object | blobnotfound"
        " | specified blob does not exist | object not found | the specified key | object does not exist"
        " | nosuchupload | no such key",
        _LOGICAL,
        "the stored object is gone",
    ),
    Rule(
        "store-object-refused",
        Sign.PHRASE,
        "entitytoolarge | proposed upload exceeds | entitytoosmall | invalidrange | invaliddigest | baddigest"
        " | invalidpart | keytoolong | invalidobjectstate | metadatatoolarge | your key is too long"
        " | malformedxml",
        _LOGICAL,
        "the store refuses this object",
    ),
    Rule(
        "provider-throttles",
        Sign.PHRASE,
        "slowdown | slow down | reduce your request rate | throttlingexception | throttled | throttling"
        " | rate exceeded | toomanyrequests | too many requests | requestlimitexceeded"
        " | provisionedthroughputexceeded | rate_limit_exceeded | rate limit | rate-limit | ratelimit"
        " | resource_exhausted | resource has been exhausted | rate_limit_error | request was throttled"
        " | too many concurrent | concurrency limit | concurrent requests | quota exceeded for | quota exceeded"
        " | secondary rate limit | limit exceeded for requests | exceeded the rate | try again later"
        " | try again in | please try again | usage limit reached * reset | serverbusy | server is busy"
        " | over capacity | capacity exceeded | calls per second | requests per second | error responses"
        " | at capacity | high demand | high load | heavy load | modelnotreadyexception",
        _TRANSIENT,
        "the other side asks us to wait",
        BROAD,
    ),
    Rule(
        "provider-overloaded",
        Sign.PHRASE,
        "overloaded | overloaded_error | currently loading | model is loading | server had an error"
        " | server experienced an error | we encountered an internal error | internalerror * please try again"
        " | internal error encountered | internalserverexception | internalservererror | internal server error"
        " | internalfailure | service unavailable | serviceunavailable | service is currently unavailable"
        " | temporarily unavailable | currently unavailable | bad gateway | gateway timeout | gateway time-out"
        " | upstream connect error | upstream request timeout | backend error | backenderror | system is busy"
        " | requesttimeout | socket connection to the server was not read"
        " | an error occurred while processing your request | under maintenance | scheduled maintenance"
        " | origin is unreachable | web server is down | api_error * internal | engine is currently"
        " | server_error | no healthy upstream | stream error * internal_error",
        _TRANSIENT,
        "the other side is overloaded or failed for now",
        BROAD,
    ),
)
