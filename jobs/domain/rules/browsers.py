"""Browsers: their own death is ours, what the page answers is the target's."""

from jobs.domain.failures import FailureType
from jobs.domain.rules.base import BROAD, Rule, Sign

_FATAL, _LOGICAL = FailureType.FATAL, FailureType.LOGICAL
_INFRASTRUCTURE, _TRANSIENT = FailureType.INFRASTRUCTURE, FailureType.TRANSIENT

RULES: tuple[Rule, ...] = (
    Rule(
        "browser-not-started",
        Sign.CLUES,
        r"\b(?:connect(?:ing|ion)?(?: \w+){0,2} to|launch\w*|start\w*|getting|open\w*|acquir\w*|creat\w*|"
        r"spawn\w*|waiting for)(?: (?:the|an?|new|own|local|headless)){0,3} (?:chrome|chromium|firefox|webkit|browser|"
        r"marionette|devtools)\b[^\n]{0,120}(?:time|timed|fail|refused|no response)|\b(?:timed out|timeout|time-out)\b"
        r"[^\n]{0,80}\b(?:connect(?:ing)? to|launch\w*|start\w*|waiting for) (?:the )?(?:chrome|chromium|firefox|"
        r"browser|marionette|devtools)\b|response from marionette|unable to capture screenshot",
        _INFRASTRUCTURE,
        "our own browser does not start or answer",
    ),
    Rule(
        "page-resource",
        Sign.CLUES,
        r"network error: (?:content\w+|authentication\w+|protocolunknown\w*|protocolinvalid\w*|\w*accessdenied\w*)",
        _LOGICAL,
        "a resource of the page is missing or refused",
    ),
    Rule(
        "cdn-blocks",
        Sign.PATTERN,
        r"\berror(?: code)?\W{0,3}10(?:05|06|07|08|09|10|12|20)\b",
        _LOGICAL,
        "the target's gateway blocks us",
    ),
    Rule("cdn-waits", Sign.PATTERN, r"\berror(?: code)?\W{0,3}1015\b", _TRANSIENT, "the target's gateway limits us"),
    Rule(
        "browser-page-refused",
        Sign.PHRASE,
        "video unavailable | is private | private video | members only | members-only | sign in to | log in to"
        " | login wall | paywall | age-restricted | geo-blocked | geoblocked | err_cert_ | err_ssl_"
        " | err_invalid_url | err_unknown_url_scheme | err_disallowed_url_scheme | err_unsafe_port"
        " | err_too_many_redirects | err_file_not_found | err_invalid_response | err_bad_ssl"
        " | err_http_response_code_failure | err_blocked_by | err_access_denied | err_invalid_redirect"
        " | err_unsafe_redirect | err_content_decoding_failed | err_invalid_http_response | err_response_headers"
        " | err_address_invalid | err_unexpected | err_invalid_argument | err_certificate_transparency"
        " | err_invalid_auth_credentials | err_file_too_big | sec_error_ | ssl_error_ | mozilla_pkix"
        " | ns_error_malformed_uri | ns_error_unknown_protocol | ns_error_redirect_loop"
        " | ns_error_corrupted_content | ns_error_dom_bad_uri | cannot navigate to invalid url"
        " | protocol error (page.navigate): cannot navigate | download is starting"
        " | redirected you too many times | strict mode violation | not a valid selector | is not a valid xpath"
        " | invalid selector | unexpected token * while parsing * selector | unknown engine"
        " | no node found for selector | no such element | unable to locate element | element not found"
        " | element not interactable | element is not attached | element click intercepted | not clickable"
        " | no element found | is not an element | evaluation failed | referenceerror | javascript error"
        " | failed to find element | did not match any elements | element * is not visible"
        " | element is not visible | element is outside of the viewport | node is either not | cookie should have"
        " | invalid cookie | unknown device | page is password protected | requires login | login required"
        " | confirm you | captcha | unexpected alert | challenge page | bot detection"
        " | access to this page has been denied | just a moment..."
        " | attention required | by robots | robots.txt disallow | robots.txt forbid | robots.txt den"
        " | blocked by the site | geo-restricted | target blocks | anti-bot | are you a robot"
        " | enable javascript and cookies | unsupported protocol scheme | failed to load page: invalid",
        _LOGICAL,
        "the target, its certificate or the script for it says no",
    ),
    Rule(
        "browser-own-network",
        Sign.PHRASE,
        "err_proxy_connection_failed | err_tunnel_connection_failed | err_socks_connection"
        " | err_insufficient_resources | err_out_of_memory | err_no_buffer_space | ns_error_proxy"
        " | ns_error_out_of_memory | err_cache_ | err_mandatory_proxy | unable to connect to proxy"
        " | cannot connect to proxy | proxy connection failed | proxy connection refused | proxyconnect",
        _INFRASTRUCTURE,
        "our proxy or our browser's machine is in trouble",
    ),
    Rule(
        "browser-died",
        Sign.PHRASE,
        "target closed | target page, context or browser has been closed | browser has been closed"
        " | context or browser has been closed | page has been closed | session closed | page crashed"
        " | page crash | target crashed | tab crashed | browser crashed | browser disconnected"
        " | browser has disconnected | browser closed | browser was closed | browser process | browser is closed"
        " | navigation failed because browser | failed to launch | failed to start browser | launch the browser"
        " | websocket was closed before | websocket is not open | connection closed. most likely"
        " | protocol error ( | not connected to devtools | invalid session id | no such session | no such window"
        " | session deleted because | web view not found | target window already closed | disconnected:"
        " | unable to discover open pages | unable to receive message from renderer | chrome has crashed"
        " | chrome crashed | chromium crashed | renderer crashed | inspected target navigated or closed"
        " | targetcloseerror | browser context | ws endpoint | websocket error | browsertype.launch"
        " | browsertype.connect | devtools target | most likely the page has been closed | detached from target"
        " | browser not open | crash detected",
        _INFRASTRUCTURE,
        "our browser process died",
    ),
    Rule(
        "browser-target-network",
        Sign.PHRASE,
        "net::err_ | err_connection_ | err_name_not_resolved | err_timed_out | err_network | err_empty_response"
        " | err_internet_disconnected | err_address_unreachable | err_aborted | err_http2 | err_quic"
        " | ns_error_net | ns_error_unknown_host | ns_error_connection_refused | ns_error_abort"
        " | ns_binding_aborted | ns_error_failure | dnsnotfound | neterror | about:neterror | navigation timeout"
        " | navigation failed because | timeout * exceeded | page.goto: timeout | waiting for selector"
        " | waiting for locator | waiting for function | waiting failed | execution context was destroyed"
        " | execution context is not available | cannot find context with specified id | frame was detached"
        " | navigating frame was detached | frame got detached | most likely because of a navigation"
        " | stale element | stale_element | page load timed out | timed out receiving message from renderer"
        " | script timeout | timed out after * navigation | interrupted by another navigation"
        " | not attached to the dom | load timeout | failed to load page | page took too long",
        _TRANSIENT,
        "the page was slow, or the network between failed",
        BROAD,
    ),
)
