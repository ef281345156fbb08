"""Logs: one JSON object per line on standard error, with the id of the request it is about."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

FIELDS: Final = ("request", "method", "route", "status", "milliseconds", "address", "key")

_log = logging.getLogger("toprung.http")


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON. Headers, bodies and keys are never in it."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line, enc_hook=str).decode()


def set_up_logging(level: str) -> None:
    """Send the logs of the service and of its server to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    for name in ("toprung", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level.upper())
        logger.propagate = False
    logging.getLogger("uvicorn").setLevel(logging.ERROR)  # what strangers send is no news


def log_request(
    request: bytes,
    method: str,
    route: str,
    status: int,
    seconds: float,
    client: tuple[str, int] | None,
    key_id: str | None,
) -> None:
    """Tell of a request that was answered, or of a WebSocket that was opened."""
    if _log.isEnabledFor(logging.INFO):
        _log.info(
            "request",
            extra={
                "request": request.decode(),
                "method": method,
                "route": route,
                "status": status,
                "milliseconds": round(1000 * seconds, 3),
                "address": None if client is None else client[0],
                "key": key_id,
            },
        )
