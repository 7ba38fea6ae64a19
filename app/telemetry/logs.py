"""Log lines as JSON, one object each, for programs that collect them."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, TextIO

FACTS: Final = "facts"
"""Key of ``extra`` whose members become members of the line."""

_OWN: Final = "app"


class JsonFormatter(logging.Formatter):
    """``time`` (ISO 8601, UTC), ``level``, ``logger``, ``process``, ``message``, facts, and ``trace`` of a fault."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, without its end."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            "message": record.getMessage(),
        }
        facts: Mapping[str, object] = getattr(record, FACTS, {})
        line |= {name: _plain(value) for name, value in facts.items()}
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def start_json_lines(stream: TextIO | None = None) -> None:
    """Write what the application logs, and others' warnings, to ``stream`` (default: standard error) as JSON."""
    _write(logging.getLogger(_OWN), stream, logging.INFO).propagate = False
    _write(logging.getLogger(), stream, logging.WARNING)


def _write(logger: logging.Logger, stream: TextIO | None, least: int) -> logging.Logger:
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    # On the handler as well: a library that sets a level for itself passes the logger's.
    handler.setLevel(least)
    logger.handlers = [other for other in logger.handlers if not isinstance(other.formatter, JsonFormatter)]
    logger.addHandler(handler)
    logger.setLevel(least)
    return logger


def _plain(value: object) -> object:
    # JSON has no infinity; Python would write one all the same.
    return None if isinstance(value, float) and not math.isfinite(value) else value
