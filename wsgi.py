"""What a WSGI server loads: ``gunicorn wsgi:app``."""

import sys
from typing import Final

from app import create_app
from app.config import SettingError, Settings
from app.errors import ModelError
from app.telemetry.logs import start_json_lines

CANNOT_SERVE: Final = 4
"""Exit status: gunicorn ends as well at this one (its APP_LOAD_ERROR); at others it starts worker after worker."""

try:
    settings = Settings.from_environment()
    if settings.log_format == "json":
        start_json_lines()
    app = create_app(settings)
except (ModelError, SettingError) as error:
    sys.stderr.write(f"AnimeBooth cannot start: {error}\n")
    sys.exit(CANNOT_SERVE)
