"""Wiring. The one reader of the environment; what each variable means stands in `jobs/conf.py` and README."""

import os
from pathlib import Path
from typing import Any

from django.utils.csp import CSP
from huey.serializer import SignedSerializer

from detiq_admin import pool
from detiq_admin.database import from_url
from detiq_admin.embedded import embedded_url, var_dir
from detiq_admin.file_store import storage
from detiq_admin.secrets import secret_key
from jobs.conf import load
from jobs.logs import logging_config
from jobs.queue.connections import connector

BASE_DIR = Path(__file__).resolve().parent.parent

DETIQ = load(os.environ)
VAR_DIR = var_dir(os.environ)

# --- Database -------------------------------------------------------------------------------------------------------
# A console process serves from a pool; a worker holds one lasting connection a thread (DETIQ_PROCESS=worker).
DATABASE_URL = os.environ.get("DATABASE_URL", "").strip()
DATABASE_OWNER_URL = os.environ.get("DATABASE_OWNER_URL", "").strip()
EMBEDDED = not DATABASE_URL
IS_WEB = os.environ.get("DETIQ_PROCESS") == "web"


def _database(variable: str, url: str) -> dict[str, Any]:
    settings = from_url(variable, url)
    options = settings["OPTIONS"]
    options.setdefault("application_name", "detiq-" + os.environ.get("DETIQ_PROCESS", "command"))
    if os.environ.get("DETIQ_PROCESS") == "worker" and "idle_in_transaction" not in options.get("options", ""):
        # A handler that waits inside a transaction holds locks and dead rows for all others: it alone fails.
        options["options"] = f"{options.get('options', '')} -c idle_in_transaction_session_timeout=60s".strip()
    settings["CONN_HEALTH_CHECKS"] = True
    # A handler's session that began while the database could only be read stays so: it is not kept for ever.
    settings["CONN_MAX_AGE"] = 0 if IS_WEB else 60
    return settings


DATABASES = {"default": _database("DATABASE_URL", DATABASE_URL or embedded_url(VAR_DIR, "serving"))}
if IS_WEB:
    DATABASES["default"]["OPTIONS"]["pool"] = pool.options()
# Who owns the tables and migrates; not a second Django database, see the `migrate` command.
DATABASE_OWNER = _database(
    "DATABASE_OWNER_URL",
    DATABASE_OWNER_URL or DATABASE_URL or embedded_url(VAR_DIR, "owner"),
)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Security -------------------------------------------------------------------------------------------------------
DEBUG = False
SECRET_KEY = secret_key(os.environ, VAR_DIR)
ALLOWED_HOSTS = DETIQ.allowed_hosts
SECURE_CSP = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF, CSP.NONCE],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF, "data:"],
    "font-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    "worker-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    "base-uri": [CSP.NONE],
    "frame-ancestors": [CSP.NONE],
}
# Behind TLS every cookie is `Secure`; the demo on loopback speaks plain HTTP.
SECURE_COOKIES = DETIQ.insecure_cookies != "1"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_COOKIES
SESSION_COOKIE_NAME = "__Host-detiq-session" if SECURE_COOKIES else "detiq-session"
CSRF_COOKIE_NAME = "__Host-detiq-csrf" if SECURE_COOKIES else "detiq-csrf"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 3600
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = 31_536_000 if SECURE_COOKIES else 0
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "jobs.console.views.errors.csrf_failure"

# --- Applications ---------------------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "servestatic",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "django_htmx",
    "django_structlog",
    "django_tables2",
    "jobs.apps.JobsConfig",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "jobs.console.middleware.GuardMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "jobs.console.middleware.SignedInMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
]
ROOT_URLCONF = "detiq_admin.urls"
ASGI_APPLICATION = "detiq_admin.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.csp",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "jobs.console.context.frame",
            ],
        },
    },
]
DJANGO_TABLES2_TEMPLATE = "django_tables2/console.html"

# --- Login ----------------------------------------------------------------------------------------------------------
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_ADAPTER = "jobs.console.accounts.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_SESSION_REMEMBER = False
# What is grave asks again who it is, unless that was proved so many seconds ago at most.
ACCOUNT_REAUTHENTICATION_TIMEOUT = 300
PASSWORD_RESET_TIMEOUT = 24 * 3600
MFA_ADAPTER = "jobs.console.accounts.FactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_TOTP_TOLERANCE = 1
# No mail is sent, so no address can be verified.
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not SECURE_COOKIES
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
# One cache for all processes: allauth's rate limits would otherwise count per process.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "django_cache",
        "OPTIONS": {"MAX_ENTRIES": 10_000},
    },
    "previews": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "django_cache_previews",
        "OPTIONS": {"MAX_ENTRIES": 10_000},
    },
}

# --- Mail: alerts alone. Without EMAIL_URL no channel can be e-mail, and nothing is sent. -----------------------------
_MAIL = DETIQ.email_url
MAILERS: dict[str, Any] = (
    {
        "default": {
            "BACKEND": "jobs.workers.mail.DeadlineBackend",
            "OPTIONS": {
                "host": _MAIL.host,
                "port": _MAIL.port,
                "username": _MAIL.username,
                "password": _MAIL.password,
                "use_tls": _MAIL.tls == "starttls",
                "use_ssl": _MAIL.tls == "smtps",
                "timeout": 8,
            },
        }
    }
    if _MAIL
    else {"default": {"BACKEND": "django.core.mail.backends.dummy.EmailBackend"}}
)
DEFAULT_FROM_EMAIL = DETIQ.email_from

# --- Language, time, static files -----------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = VAR_DIR / "static"
SERVESTATIC_USE_FINDERS = True

# --- Uploaded files -------------------------------------------------------------------------------------------------
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": VAR_DIR / "files"}},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    "artifacts": storage(DETIQ.artifact_storage, VAR_DIR),
}
FILE_UPLOAD_HANDLERS = [
    "jobs.console.uploads.SizeLimit",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "jobs.console.uploads.UnnamedFile",
]

# --- Huey: threads, health checks and signals; the queue's truth is never in it --------------------------------------
HUEY = {
    "huey_class": "jobs.workers.consumer.JobsHuey",
    "name": "detiq",
    "immediate": False,
    "results": False,
    "serializer": SignedSerializer(secret=SECRET_KEY),
    "connection": {"connection": connector(DATABASES["default"]), "create_tables": False, "read_timeout": 1},
}

# --- Logs -----------------------------------------------------------------------------------------------------------
# Who asked is bound where the login is checked: binding it for every request would read the session for what needs no
# login, and wait for an absent database once more with every log line.
DJANGO_STRUCTLOG_USER_ID_FIELD = None
LOGGING = logging_config(DETIQ.log_level, DETIQ.log_format == "json")
