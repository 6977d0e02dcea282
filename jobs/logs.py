"""Log lines: one event name a happening, key=value for people, JSON when `LOG_FORMAT=json`."""

import logging
from contextlib import suppress
from typing import Any

import structlog

SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.stdlib.ExtraAdder(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


class LineHandler(logging.StreamHandler[Any]):
    """Writes to stderr, also after somebody closed Python's stream for it; and whoever logs goes on when it cannot."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Opens the stream again and writes the line; what cannot be written is left."""
        if getattr(self.stream, "closed", False):
            with suppress(OSError):
                self.stream = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115 - stays open
                return self.emit(record)
        with suppress(ValueError):  # Python would tell a stream that is closed, too
            super().handleError(record)


def logging_config(level: str, as_json: bool) -> dict[str, Any]:
    """Python's logging and structlog, writing to stderr in one shape. Also configures structlog."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *SHARED,
            structlog.processors.StackInfoRenderer(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    # Both renderers write one line an entry: line breaks in data cannot forge another entry.
    render: Any = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"], bool_as_flag=False)
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": structlog.stdlib.ProcessorFormatter,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    structlog.processors.format_exc_info,
                    render,
                ],
                "foreign_pre_chain": SHARED,
            }
        },
        "handlers": {"stderr": {"class": "jobs.logs.LineHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "huey": {"handlers": ["stderr"], "propagate": False, "level": "WARNING"},
            "httpx2": {"level": "WARNING"},
            # a closed tab is no warning; Django itself logs refusals
            "django_structlog": {"level": "ERROR"},
        },
    }
