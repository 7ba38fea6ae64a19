"""gunicorn's own log lines as JSON, like the application's."""

from __future__ import annotations

from gunicorn.config import Config
from gunicorn.glogging import Logger

from app.telemetry.logs import JsonFormatter, start_json_lines


class JsonLogger(Logger):
    """Chosen by gunicorn.conf.py where the log is to be JSON."""

    def setup(self, cfg: Config) -> None:
        """As gunicorn sets it up, in the master and again on a reload; the workers inherit it."""
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(JsonFormatter())
        start_json_lines()
