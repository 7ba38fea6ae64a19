"""The whole application with networks that answer with the negative: for tests of what gunicorn adds around it."""

from __future__ import annotations

from app import create_app
from app.config import Settings
from app.engine import Engine
from app.telemetry.service import Telemetry
from tests.unit.stubs import parts

_settings = Settings.from_environment()
_telemetry = Telemetry.assemble(log_format=_settings.log_format, traces=_settings.traces)
application = create_app(_settings, Engine(parts(observer=_telemetry.metrics)), _telemetry)
